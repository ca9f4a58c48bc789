#!/bin/sh
# Counts the rows that are to be corrected: those without a country.
set -eu
grep -c ',$' "$1.csv" || test $? -eq 1
