#!/bin/sh
# Make sure that Chromium and its driver are here, for the tests of the page. As root on a Debian-like system, install
# them with apt-get if they are missing.
#
#     sh runs/chromium.sh
#
# Reads   nothing
# Writes  nothing; installs the packages chromium and chromium-driver if one is missing
# Needs   nothing; where it cannot install them it prints what to do and exits 2
set -eu

fail() {
    echo "chromium.sh: $1" >&2
    exit 2
}

if [ -x /usr/bin/chromium ] && [ -x /usr/bin/chromedriver ]; then
    exit 0
fi
if ! command -v apt-get >/dev/null 2>&1; then
    fail "no /usr/bin/chromium and /usr/bin/chromedriver, and no apt-get; install both there for the tests of the page"
fi
if [ "$(id -u)" != 0 ]; then
    fail "no Chromium; run 'sudo apt-get install chromium chromium-driver', or this as root"
fi
echo "== chromium: installing chromium and chromium-driver with apt-get" >&2
export DEBIAN_FRONTEND=noninteractive
install() {
    apt-get install -y -qq --no-install-recommends chromium chromium-driver fonts-dejavu-core
}
if ! install >/dev/null 2>&1; then
    if ! { apt-get update -qq && install; } >/dev/null; then
        fail "apt-get could not install chromium and chromium-driver; install them by hand, then rerun"
    fi
fi
