#!/bin/sh
# Harbor's verifier of a scenario of sekft, run as root when the agent is done: the reward is 1 where the checker passes.
#
#   /tests/checker.sh       the scenario's checker
#   /tests/run_checker.sh   what runs it: it also fails a checker whose world has links that lead out of it
#
# No reward is written where the checker crashed: Harbor then reports a failed verifier, not a failed agent.

# What the agent left running could change the files while the checker looks at them. The first process of the container
# belongs to the operator too; it cannot be killed from inside.
for round in 1 2 3 4 5 6 7 8 9 10; do
    left=
    for process in /proc/[0-9]*; do
        id=${process#/proc/}
        if [ "$id" != 1 ] && [ "$(stat -c %U "$process" 2>/dev/null)" = operator ]; then
            kill -9 "$id" 2>/dev/null
            left=$round
        fi
    done
    [ -n "$left" ] || break
done

mkdir -p /logs/verifier
cd /home/operator || exit 1
env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/home/operator \
    /usr/bin/dash /tests/run_checker.sh "$(cat /tests/checker.sh)" >/logs/verifier/checker.txt
code=$?
if [ "$code" = 0 ]; then
    echo 1 >/logs/verifier/reward.txt
elif [ "$code" -le 125 ]; then
    echo 0 >/logs/verifier/reward.txt
else
    exit "$code"
fi
