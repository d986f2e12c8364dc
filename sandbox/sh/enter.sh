# shellcheck shell=dash
# Runs at the start of every step in the inner shell, before the operator's text: loads the state of the step before.
#
# The host puts `\. /run/op/enter; ` before the text, on the text's first line, so that the shell counts lines as the
# operator does; with a newline in place of the blank where aliases are carried over, because dash expands aliases when
# it reads a line. A backslash before a command name keeps an alias of the operator's off it.

# This step's state counts as lost until save.sh has written it.
echo 0 >|/run/operator/saved
# The operator's programs do not inherit the text's pipe.
exec 3<&-
# Only positional parameters are free to use here: $1 is the value that PPID has to get, $2 the good state file.
set -- "$PPID" even
[ ! -s /run/operator/turn ] || set -- "$PPID" odd
if [ -f "/run/operator/$2" ]; then
    # The state file sets every variable that was set; these exist in a fresh shell and may have been unset.
    unset IFS PATH PS1 PS2 PS4
    # `command`: a state file that is broken does not end the shell.
    # shellcheck disable=SC1090 # the file is written by save.sh, in the container
    command . "/run/operator/$2"
else
    # No state yet, or the operator removed it: as at login. pid1.sh has unpacked the file.
    # shellcheck disable=SC1091 # written by sandbox/wrapper.py, login_script()
    . /run/op/login
fi
# shellcheck disable=SC1001 # the backslash keeps aliases off, see above
\set --
# shellcheck disable=SC1001,SC1091 # as above; save.sh lies there in the container
\trap '{ \. /run/op/save; } 2>/dev/null' EXIT
