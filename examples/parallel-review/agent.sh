#!/bin/sh
# Plays two agents. The task on its standard input says what to look for: secrets, or superfluous words.
set -eu
task=$(cat)
case $task in
*"for secrets"*) bad=password ;;
*) bad=utilize ;;
esac
case $task in
*"$bad is"* | *"to $bad"*) echo "{\"good\": false, \"findings\": [\"it says $bad\"]}" ;;
*) echo '{"good": true, "findings": []}' ;;
esac
