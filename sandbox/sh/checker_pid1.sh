# shellcheck shell=dash
# PID 1 of the checker's container, as root with CAP_DAC_OVERRIDE alone: runs one checker after another.
#
#   $1 lifetime in seconds while it waits   $2 PATH of a checker   $3 HOME   $4 checker.sh
#
# What the host writes: per check a line `nonce limit size tar`, then the checker's text (`size` bytes), then a tar with
# a world to unpack first (`tar` bytes, 0 for none). `limit` is in whole seconds.
# What it writes: \0nonce\0, what the checker prints, \0nonce code\0. The code is `not_unpacked` if the tar could not be
# unpacked. A checker is not told its nonce, can neither end PID 1 nor leave anything to the next checker.

exec 2>/dev/null
# From one check to the next: wait for a line. The lifetime runs only while it waits, and its end is a TERM.
while
    trap exit TERM
    { /bin/busybox sleep "$1"; kill 1; } >/dev/null &
    read -r nonce limit size tar
do
    # From here a TERM is ignored: PID 1 has no handler. Then everything else in the container is killed: the sleep
    # above and whatever an earlier checker has left running.
    trap - TERM
    kill -9 -1
    # The `.` keeps newlines at the end of the text.
    checker=$(/bin/busybox dd bs="$size" count=1 iflag=fullblock; echo .)
    # From the second check on: remove what an earlier one unpacked or wrote. Nothing else can be written.
    [ -z "$used" ] || /bin/busybox find /run/operator /tmp -mindepth 1 -maxdepth 1 -exec /bin/busybox rm -rf {} +
    used=1 code=
    # Where worlds are unpacked (verify_each), the volume is mounted twice: writable here, read-only at HOME.
    [ "$tar" = 0 ] || /bin/busybox dd bs="$tar" count=1 iflag=fullblock | /bin/busybox tar -x -o -C /run/operator ||
        code=not_unpacked
    printf '\000%s\000' "$nonce"
    # checker.sh in HOME, with an environment of PATH and HOME, killed at the limit, and without this shell's input.
    [ -n "$code" ] || {
        (cd "$3" && exec /bin/busybox timeout -s KILL "$limit" /usr/bin/env -i PATH="$2" HOME="$3" \
            /usr/bin/dash -c "$4" check "${checker%.}" </dev/null)
        code=$?
    }
    printf '\000%s %s\000' "$nonce" "$code"
done
