#!/bin/sh
# Assemble the substitute base image `sekft-base` from Debian packages, for machines without an image registry.
#
#     sh runs/base_image.sh [NAME]        # NAME: tag of the image, default sekft-base
#
# Reads   packages busybox-static, dash, procps and the libraries these two load: through `apt-get download`
#         (no root needed, nothing is installed), or the copies installed here where that fails
# Writes  the image NAME (a few megabytes): busybox userland, /usr/bin/dash, pgrep and pkill
# Needs   a Docker engine, dpkg-deb, a Debian-like system
#
# The layout is that of Alpine (one /bin/busybox with links to it), so that the same Dockerfile builds on both:
#     docker build --build-arg BASE=sekft-base -t sekft-dash .
# The image is not Alpine and is never tagged so.
set -eu

name=${1:-sekft-base}
case $name in *alpine*) echo "base_image.sh: $name would pass for Alpine; choose another name" >&2; exit 2 ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
mkdir "$work/debs" "$work/packages" "$work/root"

echo "base_image.sh: fetching busybox-static, dash, procps and their libraries" >&2
libraries=$(apt-cache depends dash procps 2>/dev/null | sed -n 's/.*Depends: \(lib[^ ]*\)$/\1/p' | sort -u || true)
# shellcheck disable=SC2086 # a list of package names
if (cd "$work/debs" && apt-get download -qq busybox-static dash procps $libraries >"$work/log" 2>&1); then
    for deb in "$work"/debs/*.deb; do dpkg-deb -x "$deb" "$work/packages"; done
else
    echo "base_image.sh: apt-get download failed ($(tail -n 1 "$work/log")); using installed files" >&2
fi

# found PROGRAM: where it lies, the downloaded copy first.
found() {
    for path in "$work/packages/bin/$1" "$work/packages/usr/bin/$1" "/usr/bin/$1" "/bin/$1"; do
        if [ -f "$path" ] && [ ! -L "$path" ]; then echo "$path"; return; fi
    done
    echo "base_image.sh: no $1 here; apt-get update && apt-get install busybox-static dash procps" >&2
    exit 2
}

cd "$work/root"
mkdir -p bin sbin usr/bin usr/sbin usr/local/bin lib etc dev proc sys run tmp root home var/tmp
chmod 1777 tmp var/tmp
chmod 700 root
busybox=$(found busybox) dash=$(found dash) pgrep=$(found pgrep)
cp "$busybox" bin/busybox
if ldd bin/busybox >/dev/null 2>&1; then
    echo "base_image.sh: $busybox is not static; apt-get install busybox-static" >&2
    exit 2
fi
cp "$dash" usr/bin/dash
cp "$pgrep" usr/bin/pgrep
ln -s pgrep usr/bin/pkill

# What the two load, at the path their loader asks for.
downloaded=$(find "$work/packages" -name '*.so.*' -exec dirname {} + 2>/dev/null | sort -u | tr '\n' ':')
for program in usr/bin/dash usr/bin/pgrep; do
    LD_LIBRARY_PATH=$downloaded ldd "$program" | sed -n 's/^\t\(.*\) (0x.*/\1/p' | while read -r soname arrow path; do
        case $soname in
        /*) target=$soname path=${path:-$soname} ;;
        linux-*) continue ;;
        *) target=/lib/$soname ;;
        esac
        if [ "$arrow" = '=>' ] && [ "$path" = 'not found' ]; then
            echo "base_image.sh: $program needs $soname, which is not here; apt-get install procps" >&2
            exit 2
        fi
        mkdir -p ".$(dirname "$target")"
        cp -L "$path" ".$target"
    done
done

bin/busybox --list-full | while read -r applet; do
    case $applet in
    linuxrc | bin/busybox | usr/bin/dash | usr/bin/pgrep | usr/bin/pkill) continue ;;
    esac
    mkdir -p "$(dirname "$applet")"
    ln -sf /bin/busybox "$applet"
done
echo 'root:x:0:0:root:/root:/bin/sh
nobody:x:65534:65534:nobody:/:/bin/false' >etc/passwd
echo 'root:x:0:
nobody:x:65534:' >etc/group
echo 'hosts: files' >etc/nsswitch.conf
echo 'NAME="sekft-base"
ID=sekft-base
PRETTY_NAME="busybox and dash from Debian packages"' >etc/os-release

tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -c . |
    docker import --change 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' \
        --change 'CMD ["/bin/sh"]' --message 'assembled by sekft runs/base_image.sh' - "$name" >/dev/null
echo "base_image.sh: made $name, $(du -sk . | cut -f1) kB: $(bin/busybox 2>&1 | head -n 1)" >&2
