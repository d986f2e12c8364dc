# shellcheck shell=dash
# PID 1 of an operator's container, from when the wrapper's files are in place. Runs as /run/op/init.
#
# It unpacks root's files, waits, and ends the container: when the host says so, when the host's connection is gone, or
# when the lifetime is over. The operator can neither signal it nor change it.
#
#   $1 lifetime in seconds
#   descriptor 3: from the host. Any number of tars, each after a line with its size in bytes; a line `0`; then lines
#   `ping WORD`; at last one other word, which ends the session and is printed back.
#   The answer to a ping is a line `WORD oom forks`: the cgroup's counts of OOM kills and of refused forks.

# The lifetime is a process that this shell waits for: when it ends, the container does.
sleep "$1" & lifetime=$!
{
    # Root's files: the provider's program, the login environment, the script of a one-shot run.
    # A dd that reads exactly the tar's bytes leaves the next line in the pipe. tar's -o: root owns what it unpacks.
    while read -r size <&3 && [ "$size" != 0 ]; do
        /bin/busybox dd bs="$size" count=1 iflag=fullblock <&3 2>/dev/null | /bin/busybox tar -x -o -C / || break
    done
    # /run/op/ready: the operator's commands wait for it. Then the shell blocks until the host's last line or the end of
    # its connection. The line is printed back as proof that the container was alive until then.
    [ "$size" = 0 ] && : >ready && while read -r last word <&3; do
        [ "$last" = ping ] || { printf '%s\n' "$last"; break; }
        # The shell's own commands alone: an operator that has used up its processes leaves none for another program.
        oom=0 forks=0
        for counter in /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control; do
            [ ! -r "$counter" ] || while read -r key value; do [ "$key" != oom_kill ] || oom=$value; done <"$counter"
        done
        for counter in /sys/fs/cgroup/pids.events /sys/fs/cgroup/pids/pids.events; do
            [ ! -r "$counter" ] || while read -r key value; do [ "$key" != max ] || forks=$value; done <"$counter"
        done
        printf '%s %s %s\n' "$word" "$oom" "$forks"
    done
    kill $lifetime
} &
# Only the background process above may hold the host's connection.
exec 3<&-
wait $lifetime
