#!/bin/sh
# Build the image sekft-git: the sandbox image with git.
#
#     sh examples/git_repositories/image.sh [NAME]       # NAME: tag of the image, default sekft-git
#
# Reads   the image sekft-dash, the Dockerfile beside this file; the packages git, libpcre2-8-0 and zlib1g
# Writes  the image NAME
# Needs   a Docker engine; where sekft-dash is not Alpine's: dpkg-deb and a Debian-like system
#
# An image on Alpine is built from the Dockerfile as it is. The image that runs/base_image.sh assembles has no apk: there
# git comes from the Debian package, through `apt-get download` (nothing is installed), or from the copy installed here.
# Does nothing where NAME was built from the same recipe and the same sekft-dash.
set -eu

name=${1:-sekft-git}
case $name in sekft-dash | sekft-dash:* | sekft-base*) echo "image.sh: $name is another image's name" >&2; exit 2 ;; esac
here=$(cd "$(dirname "$0")" && pwd)
if ! base=$(docker image inspect --format '{{.Id}}' sekft-dash 2>/dev/null); then
    echo "image.sh: no image sekft-dash; run \`make image\`" >&2
    exit 2
fi
recipe=$({ echo "$base"; cat "$here/Dockerfile" "$here/image.sh"; } | sha256sum | cut -d' ' -f1)
label='{{index .Config.Labels "sekft.recipe"}}'
if [ "$(docker image inspect --format "$label" "$name" 2>/dev/null)" = "$recipe" ]; then
    echo "image.sh: $name is there" >&2
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
mkdir "$work/debs" "$work/packages" "$work/context" "$work/context/root"
cp "$here/Dockerfile" "$work/context/Dockerfile"

if ! docker run --rm --network none --entrypoint /bin/sh sekft-dash -c 'command -v apk' >/dev/null; then
    sed -i 's|^RUN apk add .*|COPY root/ /|' "$work/context/Dockerfile"
    if (cd "$work/debs" && apt-get download -qq git libpcre2-8-0 zlib1g >"$work/log" 2>&1); then
        for deb in "$work"/debs/*.deb; do dpkg-deb -x "$deb" "$work/packages"; done
        echo "image.sh: git from the Debian package" >&2
    else
        echo "image.sh: apt-get download failed ($(tail -n 1 "$work/log")); using the installed git" >&2
    fi
    git=$work/packages/usr/bin/git
    [ -f "$git" ] || git=$(command -v git) || { echo "image.sh: no git here; apt-get install git" >&2; exit 2; }
    mkdir -p "$work/context/root/usr/bin"
    cp -L "$git" "$work/context/root/usr/bin/git"
    # A clone of a local path calls these two.
    ln -s git "$work/context/root/usr/bin/git-upload-pack"
    ln -s git "$work/context/root/usr/bin/git-receive-pack"
    # The libraries, at the paths where the loader of sekft-dash looks for them.
    downloaded=$(find "$work/packages" -name '*.so.*' -exec dirname {} + 2>/dev/null | sort -u | tr '\n' ':')
    LD_LIBRARY_PATH=$downloaded ldd "$git" | sed -n 's/^\t\(.*\) (0x.*/\1/p' | while read -r soname _ path; do
        case $soname in
        /*) target=$soname path=${path:-$soname} ;;
        linux-*) continue ;;
        *) target=/lib/$soname ;;
        esac
        mkdir -p "$work/context/root$(dirname "$target")"
        cp -L "$path" "$work/context/root$target"
    done
fi
docker build --quiet --network host --label "sekft.recipe=$recipe" --tag "$name" "$work/context" >/dev/null
echo "image.sh: built $name: $(docker run --rm --network none "$name" git --version)" >&2
