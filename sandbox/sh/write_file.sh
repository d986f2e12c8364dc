# shellcheck shell=dash
# Writes standard input to a file as the operator: Session.write_file.
#
#   $1 the path, absolute or relative to HOME
#   exit code 99: the path exists and is a fifo, a socket or a device (opening one could block for ever)

# A relative path gets a `./`, so that one with a leading dash is no option.
case $1 in /*) path=$1 ;; *) path=./$1 ;; esac
# A directory passes here: `cat` then reports the system's own error for it.
[ ! -e "$path" ] || [ -f "$path" ] || [ -d "$path" ] || exit 99
mkdir -p "${path%/*}/" && cat >"$path"
