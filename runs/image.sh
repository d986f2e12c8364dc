#!/usr/bin/env bash
# Build the sandbox image sekft-dash, on $BASE where an image registry answers, else on a base of the same layout that
# runs/base_image.sh assembles from Debian packages. Does nothing if the image exists and its recipe (the Dockerfile and
# runs/base_image.sh, comments included) has not changed: a new image would keep unfinished runs from being resumed.
set -euo pipefail
cd "$(dirname "$0")/.."
base=${BASE:-alpine:3.20}
recipe=$(cat Dockerfile runs/base_image.sh | sha256sum | cut -d' ' -f1)

if docker image inspect sekft-dash >/dev/null 2>&1; then
  have=$(docker image inspect --format '{{index .Config.Labels "sekft.recipe"}}' sekft-dash)
  case $have in "$recipe" | "" | "<no value>")
    echo "== image: sekft-dash is there"
    exit 0
    ;;
  esac
fi
if ! docker image inspect "$base" >/dev/null 2>&1 && ! timeout 90 docker pull --quiet "$base" 2>/dev/null; then
  echo "== image: no registry gave $base; assembling sekft-base from Debian packages"
  runs/base_image.sh
  base=sekft-base
fi
echo "== image: building sekft-dash on $base"
docker build --quiet --network host --build-arg "BASE=$base" --label "sekft.recipe=$recipe" --tag sekft-dash .
