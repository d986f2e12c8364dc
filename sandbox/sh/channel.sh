# shellcheck shell=dash
# The channel: runs one step after another as the operator, for as long as the session lasts. Runs as /run/op/channel.
#
# What the host writes to its standard input:
#   a line with the end mark of the first step;
#   then per step a line `nonce mark lines bytes heredoc`, followed by the step's text.
#     nonce     tags this step's two status messages
#     mark      the end mark of the NEXT step, whose processes start before its own line comes (this step's mark came
#               with the line before)
#     lines     how many lines the text has, if the shell's own `read` can take it; 0: too long or not plain ASCII
#     bytes     how many bytes the text has
#     heredoc   1: the text contains `<<`, so a heredoc may be left open; 0: it cannot
#   Before the first step, a line with the word `lay` as its mark brings a tar for HOME and commands to run after it:
#   their sizes in bytes are the last two words of the line.
#
# What it writes to its standard output; \0 is a NUL byte:
#   \0nonce pid channel clock\0                         before a step: the process id that the step's own sessions are
#                                                       numbered from; the channel's own process id; the kernel's uptime
#   \0nonce code saved open oom clock cwd\0nonce\0      after a step: exit code; state (0 the step's is lost, 1 as it
#                                                       was, 2 saved, 3 saved with aliases); open heredoc; the cgroup's
#                                                       count of OOM kills; the kernel's uptime; working directory
#   what the step printed, then \0mark\0                through the relay, after all that the step printed
#   \0nonce code\0                                      the answer to `lay`
# The two kinds of writers share the stream, so the closing message can come before the end of the output.
#
# Why so many processes: a step's text runs in an inner shell with a session of its own. Its output goes through a pipe
# of its own and a relay (a `cat`), so the operator's processes never hold the channel's descriptors. They cannot open
# them through /proc either: every program that holds them comes from /usr/libexec, where files may be executed and not
# read. Once the relay is killed and a `cat` into nothing has its place, an earlier step's processes cannot add to the
# output of a later step. Everything that a step needs is started before its line comes.
#
# Of what it reports, only the state and the cwd come from files that the operator can write.
#
# Descriptors: 0 from the host, 6 to the host, 4 assignments for the `eval` of the main loop, 5 the relay's input.

exec 2>/dev/null 6>&1
# take SIZE: so many bytes of standard input.
take() { /usr/libexec/busybox dd bs="$1" count=1 iflag=fullblock; }
# lay TAR_BYTES COMMANDS_BYTES: unpack a tar in HOME and run commands after it (modes, times of symlinks).
lay() {
    # The modes are the tar's own.
    umask 0
    cd /home/operator || return
    take "$1" | /usr/libexec/busybox tar -x -o || return
    [ "$2" = 0 ] || take "$2" | /usr/libexec/dash -e
}
# feed: read a step's line, report that it begins, and write its text for the inner shell.
feed() {
    # Fixtures, before the first step. The words `lines bytes heredoc` of the line are here: 0, size, size.
    while read -r nonce mark lines bytes heredoc && [ "$mark" = lay ]; do
        (lay "$bytes" "$heredoc" >/dev/null 4>&- 6>&-)
        printf '\000%s %s\000' "$nonce" "$?" >&6
    done
    # The end of input: the host has closed the channel.
    [ -n "$heredoc" ] || return
    # PID 1 may still be unpacking root's files.
    until [ -e ready ]; do :; done
    echo "nonce=$nonce next=$mark" >&4
    # From here on nothing of the step before can reach the host.
    [ -z "$relay" ] || kill -KILL "$relay"
    # The state is as it was, until the inner shell writes something else here.
    echo 1 >|/run/operator/saved
    # The id of this very process: the inner shell's session comes after it.
    read -r pid _ </proc/self/stat
    read -r clock _ </proc/uptime
    printf '\000%s %s %s %s\000' "$nonce" "$pid" "$$" "$clock" >&6
    # A long text without a heredoc: dd copies it.
    if [ "$lines" = 0 ] && [ "$heredoc" = 0 ]; then
        exec /usr/libexec/busybox dd bs="$bytes" count=1 iflag=fullblock 4>&- 6>&-
    # A long text with a heredoc has to be checked below. The `.` keeps newlines at its end.
    elif [ "$lines" = 0 ]; then
        text=$(/usr/libexec/busybox dd bs="$bytes" count=1 iflag=fullblock; echo .)
        text=${text%.}
    # A short text: `read` takes it line by line, which starts no process.
    else
        IFS= read -r text
        while [ "$lines" -gt 1 ]; do
            IFS= read -r line
            text="$text
$line" lines=$((lines - 1))
        done
    fi
    # A heredoc is open when dash's own parser, given the text and then a line that no shell text can hold (`&&&&`),
    # accepts it or only misses something at the end: then the line was taken for the heredoc's own.
    if [ "$heredoc" != 0 ]; then
        said=$(printf '%s\n&&&&' "$text" | /usr/libexec/dash -n 2>&1)
        case $?$said in 0 | 2*'end of file unexpected'*) echo open=1 >&4 ;; esac
    fi
    printf '%s' "$text"
}
# own FILE: true for a regular file. The operator may have put there a fifo, which blocks, or a link to a huge file.
own() { [ -f "$1" ] && [ ! -L "$1" ]; }
# keep: if the last step saved its state, make that the good one. Steps write to the files `even` and `odd` in turn; the
# file `turn`, empty or not, says which one is good.
keep() {
    case $saved in
    [23])
        echo 1 >|/run/operator/saved
        if [ -s /run/operator/turn ]; then printf '' >|/run/operator/turn; else echo 1 >|/run/operator/turn; fi
        ;;
    esac
}
# A channel that replaces a killed one first takes over what the last step saved.
own /run/operator/saved && read -r saved </run/operator/saved
keep
read -r mark
# shellcheck disable=SC1007 # both are set to nothing
relay= next=
while :; do
    # shellcheck disable=SC1007 # as above
    nonce= code= open=0 saved=0 oom=0 cwd=
    # What the processes below write to descriptor 4 (`code=0`, `relay=17`, ...) is evaluated here, in the main shell.
    # The substitution ends when all of them have closed descriptor 4, that is, when the step's own shell has ended.
    eval "$(
        exec 4>&1
        {
            # The text goes to the inner shell's descriptor 3; `sh` in /run/op is a link to it.
            feed | /bin/busybox setsid /usr/bin/dash sh 3<&0 </dev/null 2>&1 4>&- 6>&-
            echo "code=$?" >&4
            # The end mark, into the pipe that the step's output went through.
            printf '\000%s\000' "$mark"
        } | {
            exec 5<&0
            {
                # The relay: from the step's pipe to the host. It lives on for background jobs that still print.
                /usr/libexec/busybox cat <&5 >&6 4>&- 5<&- 6>&- &
                echo "relay=$!" >&4
                exec >/dev/null 4>&- 6>&-
                wait $!
                # A relay that was killed (code 128 and over) leaves a `cat` into nothing, so that background jobs can
                # go on printing without an error.
                [ $? -lt 128 ] || exec /usr/libexec/busybox cat <&5 5<&-
            } &
        }
    )"
    # No step came: the host has closed the channel.
    [ -n "$nonce" ] || exit
    # No exit code: the process that should have reported it was killed.
    case $code in '') code=137 ;; *) own /run/operator/saved && read -r saved </run/operator/saved ;; esac
    # The operator can write that file: anything but the four known words means that the state is lost.
    case $saved in [0-3]) ;; *) saved=0 ;; esac
    # The cgroup's own count of OOM kills, version 2 or 1.
    for counter in /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control; do
        [ ! -r "$counter" ] || while read -r key value; do [ "$key" != oom_kill ] || oom=$value; done <"$counter"
    done
    read -r clock _ </proc/uptime
    own /run/operator/cwd && IFS= read -r cwd </run/operator/cwd
    # The closing message ends with the nonce, so a cwd may contain any character but NUL.
    printf '\000%s %s %s %s %s %s %s\000%s\000' "$nonce" "$code" "$saved" "$open" "$oom" "$clock" "$cwd" "$nonce"
    mark=$next
    keep
done
