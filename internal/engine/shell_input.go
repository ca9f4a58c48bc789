package engine

import (
	"path"
	"slices"
	"strings"
)

// shells are the programs that read command lines from their arguments.
var shells = []string{"sh", "bash", "zsh", "dash", "ksh", "ash", "fish"}

// interpreters are the programs that run a text which they are given, beside shells.
var interpreters = []string{"python", "perl", "ruby", "node", "nodejs", "deno", "bun", "php", "lua", "tclsh", "osascript", "pwsh", "powershell", "ed", "ex"}

// readsCommands reports whether a command runs what it reads from its standard input, or from a pipe.
func readsCommands(args []string) bool {
	name := path.Base(args[0])
	bare := strings.TrimRight(name, "0123456789.")
	isShell, isSource := slices.Contains(shells, name), name == "source" || args[0] == "."
	if !isShell && !isSource && !slices.Contains(interpreters, bare) {
		return false
	}
	for i := 1; i < len(args); i++ {
		word := args[i]
		isFlag := strings.HasPrefix(word, "-") || strings.HasPrefix(word, "+")
		switch {
		case word == "-" || word == "-s" || strings.HasPrefix(word, "/dev/") || strings.HasPrefix(word, "/proc/"):
			return true
		case isShell && isFlag && !strings.HasPrefix(word, "--") && strings.Contains(word, "c"):
			return false // its line is read as a word
		case isShell && slices.Contains([]string{"-o", "+o", "-O", "+O", "--rcfile", "--init-file"}, word):
			i++
		case !isFlag:
			return strings.Contains(word, "*") // a file, whose text nobody sees here
		}
	}
	return !isSource
}

// print remembers what echo or printf prints: together, each word, and with its escapes replaced.
func (r *shellReader) print(args []string) {
	for _, text := range append([]string{strings.Join(args, " ")}, args...) {
		r.inputs = append(r.inputs, text)
		if plain := decoded(text); plain != text {
			r.inputs, r.texts = append(r.inputs, plain), append(r.texts, plain)
		}
	}
}

// mostInputs bounds how many texts are read as commands.
const mostInputs = 64

// feed notes the commands that shells and xargs may make of the texts that the line hands them.
func (r *shellReader) feed() {
	for i := 0; i < len(r.inputs) && i < mostInputs; i++ {
		if r.runsInput {
			r.walkLine(r.inputs[i], 1)
		}
		for _, command := range slices.Clone(r.fed[:min(len(r.fed), mostInputs)]) {
			r.note(append(slices.Clone(command), strings.Fields(r.inputs[i])...))
		}
	}
}

// isFed reports whether a command starts another one with words from its input.
func isFed(name string) bool { return name == "xargs" || name == "parallel" }

// fedCommand returns the command behind the options of xargs.
func fedCommand(args []string) []string {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		if slices.Contains([]string{
			"-a", "-d", "-E", "-I", "-L", "-n", "-P", "-s", "-j",
			"--arg-file", "--delimiter", "--max-args", "--max-chars", "--max-lines", "--max-procs", "--process-slot-var",
		}, args[0]) && len(args) > 1 {
			args = args[1:]
		}
		args = args[1:]
	}
	return args
}

// untilEnd returns the words of find -exec, without its end.
func untilEnd(words []string) []string {
	if end := slices.IndexFunc(words, func(word string) bool { return word == ";" || word == "+" }); end >= 0 {
		return words[:end]
	}
	return words
}

// gitPrograms are the options of git whose value is a command line, or a program.
var gitPrograms = []string{"--exec", "--upload-pack", "--receive-pack", "--extcmd", "--open-files-in-pager"}

// gitRuns returns the command lines in the options and the settings of a git command.
func gitRuns(args []string) []string {
	var lines []string
	for i, word := range args {
		name, value, attached := strings.Cut(word, "=")
		isProgram := word == "-x" || len(name) > 2 && slices.ContainsFunc(gitPrograms, func(option string) bool { return strings.HasPrefix(option, name) })
		switch {
		case isProgram && attached:
			lines = append(lines, value)
		case isProgram && i+1 < len(args):
			lines = append(lines, args[i+1])
		case strings.HasPrefix(word, "-x"):
			lines = append(lines, word[2:])
		case strings.HasPrefix(value, "!"):
			lines = append(lines, value[1:]) // an alias
		case word == "foreach":
			return append(lines, strings.Join(withoutFlags(args[i+1:]), " "))
		}
	}
	return lines
}

// gitRunsWords returns the command that git bisect run or git submodule foreach starts.
func gitRunsWords(args []string) []string {
	for i := 1; i+1 < len(args); i++ {
		if args[i-1] == "bisect" && args[i] == "run" || slices.Contains(args[:i], "submodule") && args[i] == "foreach" {
			return withoutFlags(args[i+1:])
		}
	}
	return nil
}

func withoutFlags(words []string) []string {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		words = words[1:]
	}
	return words
}
