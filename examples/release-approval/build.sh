#!/bin/sh
# Builds the release, and fails if that version is released already.
set -eu
case $1 in
*[!0-9.]* | "") echo "$1 is no version: write it as 1.4.0" >&2; exit 1 ;;
esac
code=0
git ls-remote --exit-code --tags origin "refs/tags/v$1" >/dev/null || code=$?
case $code in
0) echo "v$1 is released already" >&2; exit 1 ;;
2) ;; # there is no such tag
*) exit 1 ;;
esac
mkdir -p dist
tar -czf "dist/release-$1.tar.gz" *.md
echo "built dist/release-$1.tar.gz"
