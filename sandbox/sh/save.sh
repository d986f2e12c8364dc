# shellcheck shell=dash
# shellcheck disable=SC1001,SC2288 # a backslash before a command name keeps the operator's aliases off it
# Runs in the inner shell when a step ends: writes the state that the next step starts with.
#
# It is the shell's EXIT trap, so it runs however the shell ends, except for `exec`, a signal, and an EXIT trap that the
# operator has set. Functions and aliases of the operator may exist by then: therefore every command here is a special
# builtin (which no function can replace), a builtin whose function was unset first, or an absolute path.
#
# Carried over: cwd, umask, variables, exports, readonly, aliases, the options a C f u. Lost: functions, traps,
# descriptors, names of jobs, every other option.
#
# The positional parameters are used instead of variables, so that no variable of the operator's is touched:
#   $1 options   $2 umask   $3 aliases   $4 cwd   $5 the state file to write, `even` or `odd`

# The options as they are, then those off that would bend this program.
\set -- "$-"
\set +aCefuvx
\unset -f alias printf umask
\set -- "$1" "$(\umask)" "$(\alias)"
# Only the operator may read the state.
\umask 077
# $PWD where it names the directory that the shell is in (it keeps symlinks on the way), else what the kernel says.
if \[ "${PWD-}" -ef . ]; then \set -- "$@" "$PWD"; else \set -- "$@" "$(/bin/busybox readlink "/proc/$$/cwd")"; fi
# The file that is not the good one now. channel.sh switches after the step.
if \[ -s /run/operator/turn ]; then \set -- "$@" even; else \set -- "$@" odd; fi
\printf '%s\n' "$4" >|/run/operator/cwd
# The state file is a shell program, written to descriptor 1. enter.sh sources it.
{
    # A cwd with a single quote goes through sed; any other one needs no process.
    case $4 in
    *\'*) /bin/busybox sed -f /run/op/quotes /run/operator/cwd ;;
    *) \printf "cd '%s' || cd /home/operator\n" "$4" ;;
    esac
    # `cd` sets OLDPWD; if the operator had one, the variables below set it again.
    \printf 'umask %s\nunset OLDPWD\n' "$2"
    # All variables, quoted by the shell itself.
    \set
    # The step's own PPID, which enter.sh passed as $1, and no positional parameters.
    # shellcheck disable=SC2016 # the $1 is for the shell that reads the state file
    \printf '%s\n' 'PPID=$1' 'set --'
    \export -p
    \readonly -p
    case $1 in *a*) \printf 'set -a\n' ;; esac
    case $1 in *C*) \printf 'set -C\n' ;; esac
    case $1 in *f*) \printf 'set -f\n' ;; esac
    case $1 in *u*) \printf 'set -u\n' ;; esac
    case $3 in ?*) \printf '%s\n' "$3" | /bin/busybox sed -E -f /run/op/aliases ;; esac
    \printf '# end\n'
# Written to its end: 3 with aliases, 2 without. Where that failed (no space left), the 0 of enter.sh stays.
} >|"/run/operator/$5" && case $3 in ?*) \printf '3\n' ;; *) \printf '2\n' ;; esac >|/run/operator/saved
