#!/bin/sh
# Releases the version by pushing its tag. A repetition changes nothing.
set -eu
git tag --force "v$1" >/dev/null
git push --quiet origin "refs/tags/v$1"
echo "released v$1"
