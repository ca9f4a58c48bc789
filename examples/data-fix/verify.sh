#!/bin/sh
# Fails while there are rows to correct.
set -eu
left=$(./count.sh "$1")
test "$left" = 0 || { echo "$left rows of $1 are left" >&2; exit 1; }
