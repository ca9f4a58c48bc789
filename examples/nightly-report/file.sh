#!/bin/sh
# Stores the report of a day.
set -eu
mkdir -p reports
echo "$2" > "reports/$1.txt"
