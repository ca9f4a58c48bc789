#!/bin/sh
# Adds the country to every row without one: the second argument, or else the
# content of the file default-country.
set -eu
country=${2:-$(cat default-country 2>/dev/null || true)}
case $country in
[A-Z][A-Z]) ;;
"") echo "which country? name one, or write it into the file default-country" >&2; exit 1 ;;
*) echo "$country is no country: two capital letters" >&2; exit 1 ;;
esac
sed "s/,\$/,$country/" "$1.csv" > "$1.csv.new"
mv "$1.csv.new" "$1.csv"
