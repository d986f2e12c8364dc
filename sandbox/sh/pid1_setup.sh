# shellcheck shell=dash
# shellcheck disable=SC2238 # `kill` is a file here
# The first thing that runs in an operator's container: PID 1, as root without capabilities.
#
# It writes the wrapper's programs into /run/op and then becomes pid1.sh. The programs come as arguments, and the exec
# at the end replaces the command line, so the operator never sees them in `ps`.
#
#   $1 lifetime in seconds   $2 channel.sh   $3 enter.sh   $4 save.sh   $5 kill.sh   $6 pid1.sh
#   $7 quotes.sed            $8 aliases.sed

# The operator may read these files and may not write them: root owns them and the directory.
umask 022; cd /run/op || exit 1
printf %s "$2" >channel; printf %s "$3" >enter; printf %s "$4" >save; printf %s "$5" >kill
printf %s "$7" >quotes; printf %s "$8" >aliases
# A step's shell is started as `dash sh` and reads its text from descriptor 3. The file name `sh` is what its own error
# messages begin with ("sh: 1: nosuch: not found").
# `init` is written last: start_channel.sh waits for it.
ln -s /proc/self/fd/3 sh; printf %s "$6" >init
# Becomes pid1.sh; the container's standard input moves to descriptor 3.
exec /usr/bin/dash init "$1" 3<&0 </dev/null
