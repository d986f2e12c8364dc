#!/bin/sh
# Build sandbox images that carry an agent program: the image of the world with Python and the program in /opt/agents.
#
#     sh runs/agent_image.sh NAME…        # plain, mini-swe-agent, claude-code; WORLD=sekft-dash: the image of the world
#
# Reads   the image $WORLD; Python of this machine (3.11 or later) with its libraries; the program, through pip or npm
# Writes  one image per NAME: $WORLD-NAME
# Needs   a Docker engine, ldd; pip for mini-swe-agent; npm and bash for claude-code
#
# Nothing is downloaded in an episode. /opt/agents is on nobody's PATH, so the operator's commands find no other programs
# than in the image of the world. Does nothing where the image was built from the same recipe and the same $WORLD.
set -eu

known="plain, mini-swe-agent, claude-code"
claude_code=2.1.332
world=${WORLD:-sekft-dash}
here=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON:-/usr/bin/python3}
[ -x "$python" ] || python=$(command -v python3)
[ $# -gt 0 ] || { echo "agent_image.sh: name an agent program: $known" >&2; exit 2; }
if ! base=$(docker image inspect --format '{{.Id}}' "$world" 2>/dev/null); then
    echo "agent_image.sh: no image $world; run \`make image\`" >&2
    exit 2
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
opt=$work/root/opt/agents

# libraries FILE…: what the loader needs for these, where a Debian loader looks first; Alpine has nothing there.
libraries() {
    ldd "$@" 2>/dev/null | sed -n 's/^\t\(.*\) (0x.*/\1/p' | sort -u | while read -r soname _ path; do
        case $soname in
        /*) target=$soname path=${path:-$soname} ;;
        linux-*) continue ;;
        *) target=/lib/$(uname -m)-linux-gnu/$soname ;;
        esac
        [ -e "$path" ] || continue
        mkdir -p "$work/root$(dirname "$target")"
        cp -L "$path" "$work/root$target"
    done
}

# python_runtime: the interpreter and its standard library, without what no program here uses.
python_runtime() {
    mkdir -p "$opt/python/bin" "$opt/python/lib"
    lib=$("$python" -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')
    cp -L "$(command -v "$python")" "$opt/python/bin/python3"
    cp -RL "$lib" "$opt/python/lib/"
    (
        cd "$opt/python/lib/$(basename "$lib")"
        rm -rf test idlelib tkinter turtledemo ensurepip lib2to3 distutils pydoc_data config-* site-packages dist-packages
        find . -name __pycache__ -type d -prune -exec rm -rf {} +
        find . -name 'libpython*' -delete
    )
    # shellcheck disable=SC2046 # names without blanks
    libraries "$opt/python/bin/python3" $(find "$opt/python/lib" -name '*.so')
}

for name; do
    case $name in plain | mini-swe-agent | claude-code) ;; *) echo "agent_image.sh: no agent program $name; known: $known" >&2; exit 2 ;; esac
    recipe=$({ echo "$base" "$name"; cat "$here/runs/agent_image.sh" "$here/agents/programs/"*; } | sha256sum | cut -d' ' -f1)
    label='{{index .Config.Labels "sekft.recipe"}}'
    if [ "$(docker image inspect --format "$label" "$world-$name" 2>/dev/null)" = "$recipe" ]; then
        echo "agent_image.sh: $world-$name is there" >&2
        continue
    fi
    rm -rf "$work/root"
    mkdir -p "$opt/$name"
    python_runtime
    case $name in
    plain) cp "$here/agents/programs/plain.py" "$opt/plain/" ;;
    mini-swe-agent)
        "${PIP_PYTHON:-python3}" -m pip install --quiet --no-deps --target "$opt/$name" \
            --python-version "$("$opt/python/bin/python3" -c 'import sys; print("%d.%d" % sys.version_info[:2])')" \
            --only-binary=:all: --requirement "$here/agents/programs/mini-swe-agent.txt"
        # shellcheck disable=SC2046 # names without blanks
        libraries $(find "$opt/$name" -name '*.so')
        ;;
    claude-code) # one program for this machine's libc; its shell tool wants bash
        case $(uname -m) in aarch64) machine=arm64 ;; *) machine=x64 ;; esac
        (cd "$work" && npm pack --silent "@anthropic-ai/claude-code-linux-$machine@$claude_code" >/dev/null)
        tar -xzf "$work"/anthropic-ai-claude-code-*.tgz -C "$work"
        mv "$work/package/claude" "$opt/claude-code/"
        cp -L "$(command -v bash)" "$opt/claude-code/"
        libraries "$opt/claude-code/claude" "$opt/claude-code/bash"
        ;;
    esac
    printf 'FROM %s\nCOPY root/ /\nLABEL sekft.recipe=%s sekft.agent=%s sekft.world=%s\n' \
        "$world" "$recipe" "$name" "$base" >"$work/Dockerfile"
    docker build --quiet --tag "$world-$name" "$work" >/dev/null
    echo "agent_image.sh: built $world-$name, $(du -sm "$work/root" | cut -f1) MB on top of $world" >&2
done
