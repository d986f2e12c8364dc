# shellcheck shell=dash
# Kills a step that ran past its time limit: the channel, and every process in the step's session and in sessions begun
# since. Background jobs of earlier steps live on. Runs as the operator from /run/op/kill. Exit code 0: all are
# dead.
#
#   session   (environment) the process id that the step's own sessions are numbered from
#   channel   (environment) the channel's session

# The fields of /proc/self/stat: pid, name, state, parent, process group, session. This process must not kill itself.
read -r _ _ _ _ _ own _ </proc/self/stat
# Everything stops before the first process dies, so that nothing forks on and no shell reports a child's death.
kill -STOP -1
pass=0
# Processes that were forked in the meantime are found in the next pass.
while [ $pass -lt 40 ]; do
    pass=$((pass + 1)) found=
    for directory in /proc/[0-9]*; do
        line=
        { read -r line <"$directory/stat"; } 2>/dev/null
        [ -n "$line" ] || continue
        # A process name may contain anything: the fields after the last `)` are state, parent, group, session.
        # shellcheck disable=SC2086 # the line is split into its fields
        set -- ${line##*) }
        # Skip zombies and this session; take the channel's session, and every session that is not older than the step.
        # shellcheck disable=SC2154 # `channel` and `session` come from the environment
        case $1$4 in Z* | ?$own) continue ;; ?$channel) ;; *) [ "$4" -ge "$session" ] || continue ;; esac
        found="$found ${directory#/proc/}"
    done 2>/dev/null
    # Nothing is left: the background jobs of earlier steps go on.
    [ -n "$found" ] || { kill -CONT -1; exit 0; }
    # shellcheck disable=SC2086 # a list of process ids
    kill -STOP $found
    # shellcheck disable=SC2086 # as above
    kill -KILL $found
done 2>/dev/null
# After 40 passes something forks faster than this loop kills: everything of the operator's is killed.
kill -KILL -1
