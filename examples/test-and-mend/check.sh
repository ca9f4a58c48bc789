#!/bin/sh
# The tests: the words are in order, without blanks at their ends, and end with "zebra".
set -eu
if grep -n ' $' words.txt; then
	echo "a line ends with a blank" >&2
	exit 1
fi
LC_ALL=C sort -c words.txt
if [ "$(tail -n 1 words.txt)" != zebra ]; then
	echo "something is missing" >&2
	exit 1
fi
