#!/bin/sh
# Build a sandbox image with more commands, from Debian packages, where sekft-dash was assembled from Debian packages.
#
#     sh runs/tools_image.sh my-tools jq sqlite3 python3       # --image my-tools; PACKAGE:COMMAND where the names differ
#
# Reads   the image sekft-dash; the packages and what they depend on, through `apt-get download` (nothing is installed)
# Writes  the image NAME, with the label sekft.tools
# Needs   a Docker engine, dpkg-deb, a Debian-like system with package lists (apt-get update)
#
# On an image of Alpine's write the Dockerfile of docs/bring_your_own.md instead: there `apk add` finds the packages.
set -eu

name=${1:-}
case $name in "" | -*) sed -n '2,4s/^# \{0,1\}//p' "$0" >&2; exit 2 ;; esac
case $name in sekft-dash | sekft-dash:* | sekft-base*) echo "tools_image.sh: $name is another image's name" >&2; exit 2 ;; esac
shift
[ $# -gt 0 ] || { echo "tools_image.sh: name a package, for example jq" >&2; exit 2; }
if ! docker image inspect sekft-dash >/dev/null 2>&1; then
    echo "tools_image.sh: no image sekft-dash; run \`make image\`" >&2
    exit 2
fi
if docker run --rm --network none --entrypoint /bin/sh sekft-dash -c 'command -v apk' >/dev/null; then
    echo "tools_image.sh: sekft-dash is Alpine's; use \`RUN apk add\` in a Dockerfile, docs/bring_your_own.md" >&2
    exit 2
fi
packages='' commands=''
for one in "$@"; do
    packages="$packages ${one%%:*}" commands="$commands ${one##*:}"
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
mkdir "$work/debs" "$work/root"

# What they depend on, but for what only an installation needs (dpkg, perl and a table of file types).
# shellcheck disable=SC2086 # a list of package names
apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances \
    $packages 2>"$work/log" | grep '^[a-z0-9]' | sort -u |
    grep -Evx 'dpkg|tar|install-info|mailcap|mime-support|debconf.*|perl.*|libperl.*' >"$work/wanted" || true
if ! (cd "$work/debs" && xargs apt-get download -qq <"$work/wanted" >"$work/log" 2>&1) || [ ! -s "$work/wanted" ]; then
    echo "tools_image.sh: no packages:$packages ($(tail -n 1 "$work/log")); run apt-get update, correct the names" >&2
    exit 2
fi
for deb in "$work"/debs/*.deb; do dpkg-deb -x "$deb" "$work/root"; done
rm -rf "$work/debs" "$work/root/usr/share/doc" "$work/root/usr/share/man" "$work/root/usr/share/locale" "$work/root/var"

printf 'FROM sekft-dash\nUSER root\nCOPY root/ /\nLABEL sekft.tools="%s"\nUSER operator\n' "${commands# }" >"$work/Dockerfile"
if ! docker build --quiet --network host --tag "$name" "$work" >"$work/log" 2>&1; then
    cat "$work/log" >&2
    exit 1
fi
for command in $commands; do
    if ! docker run --rm --network none --entrypoint /bin/sh "$name" -c "command -v $command" >/dev/null; then
        echo "tools_image.sh: $name has no command $command; name it as PACKAGE:COMMAND" >&2
        docker image rm "$name" >/dev/null
        exit 2
    fi
done
echo "tools_image.sh: built $name with$commands, $(du -sm "$work/root" | cut -f1) MB on top of sekft-dash" >&2
