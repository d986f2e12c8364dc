#!/usr/bin/env bash
# Build the sandbox image sekft-dash on $BASE, or on a base made of Debian packages where no image registry answers.
#
#     runs/image.sh        # BASE=alpine:3.20 by default
#
# Reads   Dockerfile, runs/base_image.sh
# Writes  the image sekft-dash, with a hash of these two files as its label
# Needs   a Docker engine
#
# Does nothing if the image exists and the two files are unchanged.
set -euo pipefail
cd "$(dirname "$0")/.."
base=${BASE:-alpine:3.20}
recipe=$(cat Dockerfile runs/base_image.sh | sha256sum | cut -d' ' -f1)

if docker image inspect sekft-dash >/dev/null 2>&1; then
  have=$(docker image inspect --format '{{index .Config.Labels "sekft.recipe"}}' sekft-dash)
  case $have in "$recipe" | "" | "<no value>")
    echo "== image: sekft-dash exists already"
    exit 0
    ;;
  esac
fi
if ! docker image inspect "$base" >/dev/null 2>&1 && ! timeout 90 docker pull --quiet "$base" 2>/dev/null; then
  echo "== image: no registry answers with $base; making sekft-base from Debian packages"
  runs/base_image.sh
  base=sekft-base
fi
echo "== image: building sekft-dash on $base"
docker build --quiet --network host --build-arg "BASE=$base" --label "sekft.recipe=$recipe" --tag sekft-dash .
