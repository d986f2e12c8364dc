#!/bin/sh
# Make sure that Docker answers. If it does not, and this runs as root on a Debian-like system, start `dockerd`.
#
#     sh runs/engine.sh [FLAG...]        # FLAG: passed to dockerd, instead of the flags that are tried in turn
#
# Reads   nothing
# Writes  $LOG (dockerd's output) if it starts dockerd; installs the package docker.io if dockerd is missing
# Needs   nothing; without root and without Docker it prints what to do and exits 2
#
# DOCKER_HOST    where to look for Docker; if it is set and nothing answers there, no dockerd is started
# SOCKET DATA_ROOT EXEC_ROOT PID_FILE LOG    where a dockerd that is started here has its files (defaults: dockerd's)
#
# A dockerd that is started here goes on running when this script ends. It is tried with its usual network first, then
# without bridge and iptables, which some machines do not allow: sandboxes have no network anyway.
set -eu

SOCKET=${SOCKET:-/var/run/docker.sock}
PID_FILE=${PID_FILE:-/var/run/docker.pid}
DATA_ROOT=${DATA_ROOT:-/var/lib/docker}
EXEC_ROOT=${EXEC_ROOT:-/var/run/docker}
LOG=${LOG:-/var/log/sekft-dockerd.log}

say() { echo "== docker: $*" >&2; }

fail() {
    echo "engine.sh: $1" >&2
    exit 2
}

# answers: succeeds if Docker answers within ten seconds. Works without the docker command, through curl.
answers() {
    if [ -n "${DOCKER_HOST:-}" ]; then
        command -v docker >/dev/null 2>&1 && timeout 10 docker version >/dev/null 2>&1
    elif command -v docker >/dev/null 2>&1; then
        timeout 10 docker --host "unix://$SOCKET" version >/dev/null 2>&1
    else
        command -v curl >/dev/null 2>&1 &&
            timeout 10 curl -fs --unix-socket "$SOCKET" http://localhost/_ping >/dev/null 2>&1
    fi
}

if answers; then
    say "Docker answers at ${DOCKER_HOST:-unix://$SOCKET}"
    exit 0
fi
if [ -n "${DOCKER_HOST:-}" ]; then
    fail "no Docker engine answers at DOCKER_HOST=$DOCKER_HOST; start that one, or unset DOCKER_HOST"
fi
if [ "$(id -u)" != 0 ]; then
    if [ -S "$SOCKET" ] && ! [ -w "$SOCKET" ]; then
        fail "no permission on $SOCKET; join the group docker (sudo usermod -aG docker $(id -un), log in again) or run as root"
    fi
    fail "no Docker engine answers; start Docker (sudo systemctl start docker), or run this as root"
fi

if ! command -v dockerd >/dev/null 2>&1; then
    if ! command -v apt-get >/dev/null 2>&1; then
        fail "no dockerd here and no apt-get to install it; install Docker, then rerun"
    fi
    say "no dockerd here, installing docker.io with apt-get"
    export DEBIAN_FRONTEND=noninteractive
    if ! apt-get install -y -qq --no-install-recommends docker.io >/dev/null 2>&1; then
        if ! { apt-get update -qq && apt-get install -y -qq --no-install-recommends docker.io; } >/dev/null; then
            fail "apt-get could not install docker.io; install Docker by hand, then rerun"
        fi
    fi
    if answers; then # the package starts the service where an init system runs
        say "docker.io is installed and answers"
        exit 0
    fi
fi

# clear_stale: remove a pid file whose process is dead or not dockerd, and a socket that nothing listens on; dockerd
# would not start beside them.
clear_stale() {
    if [ -e "$PID_FILE" ]; then
        pid=$(cat "$PID_FILE" 2>/dev/null || true)
        case $({ tr '\0' ' ' <"/proc/${pid:-none}/cmdline"; } 2>/dev/null || true) in
        *dockerd*)
            say "dockerd (pid $pid) runs but does not answer yet; waiting"
            if wait_for_answer 30 "$pid"; then
                say "it answers"
                exit 0
            fi
            fail "dockerd (pid $pid, pid file $PID_FILE) runs and does not answer; end it, then rerun"
            ;;
        esac
        say "removing the stale pid file $PID_FILE"
        rm -f "$PID_FILE"
    fi
    if [ -e "$SOCKET" ]; then
        say "removing the socket $SOCKET, nothing listens there"
        rm -f "$SOCKET"
    fi
}

# wait_for_answer SECONDS PID: wait until Docker answers; fails after SECONDS, or when the process has ended.
wait_for_answer() {
    tries=$(($1 * 4))
    while [ "$tries" -gt 0 ]; do
        if answers; then return 0; fi
        if ! kill -0 "$2" 2>/dev/null; then return 1; fi
        sleep 0.25
        tries=$((tries - 1))
    done
    return 1
}

# start FLAG...: start a detached dockerd; succeeds once it answers.
start() {
    clear_stale
    say "starting dockerd $* (log: $LOG)"
    setsid dockerd --host "unix://$SOCKET" --pidfile "$PID_FILE" --data-root "$DATA_ROOT" --exec-root "$EXEC_ROOT" \
        "$@" </dev/null >>"$LOG" 2>&1 &
    started=$!
    if wait_for_answer 60 "$started"; then return 0; fi
    kill "$started" 2>/dev/null || true
    wait "$started" 2>/dev/null || true
    return 1
}

mkdir -p "$(dirname "$SOCKET")" "$(dirname "$PID_FILE")" "$(dirname "$LOG")"
start_any() {
    if [ $# -gt 0 ]; then
        start "$@"
    else
        start || start --bridge=none --iptables=false || start --bridge=none --iptables=false --storage-driver=vfs
    fi
}
if start_any "$@"; then
    say "dockerd answers at unix://$SOCKET"
    exit 0
fi
tail -n 5 "$LOG" >&2
fail "dockerd does not start (log: $LOG); install and start Docker by hand, then rerun"
