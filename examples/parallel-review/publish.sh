#!/bin/sh
# Publishes a page: here, it copies the page into the folder public.
set -eu
mkdir -p public
cp "$1" public/
echo "published $1"
