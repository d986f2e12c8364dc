# shellcheck shell=dash
# Runs the script of a one-shot run (sandbox/oneshot.py) in its working directory, as the run's user.
#
#   $1 working directory   $2 a random word, printed when the directory cannot be entered

# PID 1 may still be unpacking the script, /run/op/script.
until [ -e /run/op/ready ]; do :; done
cd -- "$1" 2>/dev/null || { echo "$2"; exit 1; }
# The script sees no positional parameters.
shift 2
# shellcheck disable=SC1091 # unpacked by pid1.sh
. /run/op/script
