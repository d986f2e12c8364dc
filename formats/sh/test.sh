#!/bin/sh
# Harbor's verifier of a scenario of sekft, run as root when the agent is done: the reward is 1 where the checker passes.
#
#   /tests/checker.sh       the scenario's checker
#   /tests/run_checker.sh   what runs it: it also fails a checker whose world has links that lead out of it
#
# No reward is written where the checker crashed: Harbor then reports a failed verifier, not a failed agent.

# What the agent left running could change the files while the checker looks at them, or write a reward. One call of
# kill(2) with -1 reaches every process of its user, also one that forks all the time. It spares the first process of
# the container, which is the operator's too.
su operator -s /bin/sh -c 'kill -9 -1' >/dev/null 2>&1

# True where a process of the operator still runs. One that ended and that nobody waits for does not. There may be
# thousands, so one program reads them all.
is_left() {
    cat /proc/[0-9]*/status 2>/dev/null | awk -v operator="$(id -u operator)" '
        $1 == "State:" { state = $2 }
        $1 == "Pid:" { id = $2 }
        $1 == "Uid:" && $2 == operator && id != 1 && state !~ /[ZX]/ { left = 1 }
        END { exit !left }'
}
# What was killed may be in its last system call.
tries=100
while is_left; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || exit 1
    sleep 0.1
done

# Everybody may write to this directory. Harbor prefers reward.json; a pipe under one of these names would never open.
mkdir -p /logs/verifier
cd /logs/verifier && rm -rf checker.txt reward.txt reward.json || exit 1

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
