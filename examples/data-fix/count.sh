#!/bin/sh
# Counts the rows that must be corrected: those without a country.
set -eu
grep -c ',$' "$1.csv" || test $? -eq 1
