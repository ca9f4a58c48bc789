#!/bin/sh
# Plays an agent: it reads the failures of the tests on its standard input, and fixes them. It does not know the missing
# animal; a person has to name it.
set -eu
task=$(cat)
case $task in
*"A person says: "*zebra*)
	echo zebra >> words.txt
	echo "Added the zebra." ;;
*"ends with a blank"*)
	sed 's/ *$//' words.txt > words.new
	mv words.new words.txt
	echo "Took the blanks away." ;;
*disorder*)
	LC_ALL=C sort -o words.txt words.txt
	echo "Put the words in order." ;;
*) echo "I do not know what is missing." ;;
esac
