# shellcheck shell=dash
# PID 1 of an operator's container, from when the wrapper's files are in place. Runs as /run/op/init.
#
# It unpacks root's files, waits, and ends the container: when the host says so, when the host's connection is gone, or
# when the lifetime is over. The operator can neither signal it nor change it.
#
#   $1 lifetime in seconds
#   descriptor 3: from the host. Any number of tars, each after a line with its size in bytes; a line `0`; later one
#   more line, which ends the session and is printed back.

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
    [ "$size" = 0 ] && : >ready && read -r last <&3 && printf '%s\n' "$last"
    kill $lifetime
} &
# Only the background process above may hold the host's connection.
exec 3<&-
wait $lifetime
