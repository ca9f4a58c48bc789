package engine

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"

	"github.com/fermata-hq/fermata"
)

// shells are the programs that read command lines from their arguments.
var shells = []string{"sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "yash", "rbash"}

// interpreters are programs, other than shells, that run a text which they are given.
var interpreters = []string{"python", "perl", "ruby", "node", "nodejs", "deno", "bun", "php", "lua", "tclsh", "osascript", "pwsh", "powershell", "ed", "ex"}

// readsCommands reports whether a command runs the text of its standard input or of a pipe.
func readsCommands(args []string) bool {
	name := path.Base(args[0])
	bare := strings.TrimRight(name, "0123456789.")
	if slices.Contains([]string{"at", "batch", "crontab"}, name) || name == "make" && slices.Contains(args, "-") {
		return true
	}
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
			return false // addStartedBy reads the command line from the words
		case isShell && slices.Contains([]string{"-o", "+o", "-O", "+O", "--rcfile", "--init-file"}, word):
			i++
		case !isFlag:
			return strings.Contains(word, "*") // a file whose text is not known here
		}
	}
	return !isSource
}

// recordPrinted records the texts that echo or printf prints: all words together, each word, and both with their escapes
// replaced.
func (r *shellReader) recordPrinted(name string, args []string) {
	if name == "printf" {
		if len(args) > 1 && args[0] == "-v" {
			variable := args[1]
			args = args[2:]
			r.setValues(variable, formatPrintf(args)...)
		}
		for _, text := range formatPrintf(args) {
			r.inputs, r.texts = append(r.inputs, text), append(r.texts, text)
		}
	} else {
		for len(args) > 0 && slices.Contains([]string{"-n", "-e", "-E", "-ne", "-en"}, args[0]) {
			args = args[1:]
		}
	}
	for _, text := range append([]string{strings.Join(args, " ")}, args...) {
		r.inputs = append(r.inputs, text)
		if plain := decodeEscapes(text); plain != text {
			r.inputs, r.texts = append(r.inputs, plain), append(r.texts, plain)
		}
	}
}

// formatPrintf returns the texts that printf makes of a format and its words: one for each use of the format, and all
// together.
func formatPrintf(args []string) []string {
	if len(args) == 0 {
		return nil
	}
	var all []string
	format, rest := args[0], args[1:]
	for range maxReadings {
		text, used, err := expand.Format(&expand.Config{}, format, rest)
		if err != nil {
			return append(all, fermata.UnknownText)
		}
		all = append(all, text)
		if rest = rest[used:]; used == 0 || len(rest) == 0 {
			break
		}
	}
	return append(all, strings.Join(all, ""))
}

// maxInputs is the largest number of texts that are read as commands.
const maxInputs = 64

// expandInputs adds the commands that shells and xargs may run from the inputs, and the values that variables get from
// the inputs.
func (r *shellReader) expandInputs() {
	for i := 0; i < len(r.inputs) && i < maxInputs; i++ {
		if r.runsInput {
			r.walkLine(r.inputs[i], 1)
			r.walkLine(strings.Join(strings.Fields(r.inputs[i]), " "), 1)
			r.addHidden([]string{"", r.inputs[i]})
		}
		for _, name := range r.inputVariables[:min(len(r.inputVariables), maxReadings)] {
			r.addValues(name, r.inputs[i])
			r.addValues(name, strings.Fields(r.inputs[i])...)
		}
		for _, command := range slices.Clone(r.inputCommands[:min(len(r.inputCommands), maxInputs)]) {
			r.expandInput(command, r.inputs[i])
		}
	}
}

// expandInput adds the commands that xargs or parallel runs for an input text.
func (r *shellReader) expandInput(command inputCommand, input string) {
	fields := strings.Fields(input)
	r.addCommand(append(slices.Clone(command.words), fields...))
	if command.placeholder == "" {
		return
	}
	for _, value := range append(fields[:min(len(fields), maxReadings)], strings.TrimSpace(input)) {
		words := replacePlaceholder(command.words, command.placeholder, value)
		r.addCommand(words)
		r.readLineOf(words[min(len(words)-1, 1):], 1)
		r.addStartedBy(bareCommand(words), 1)
	}
}

// replacePlaceholder returns the words with the value in place of the placeholder.
func replacePlaceholder(words []string, placeholder, value string) []string {
	out := make([]string, len(words))
	for i, word := range words {
		if len(value) <= maxValueBytes {
			word = strings.ReplaceAll(word, placeholder, value)
		}
		out[i] = word
	}
	return out
}

// inputCommand is a command to which xargs or parallel adds words from its input, at the end or at a placeholder.
type inputCommand struct {
	words       []string
	placeholder string
}

// isInputLauncher reports whether a command starts another one with words from its input.
func isInputLauncher(name string) bool { return name == "xargs" || name == "parallel" }

// addInputCommand adds the command that xargs or parallel starts with words from its input. If the input is not known,
// the placeholder is replaced by [fermata.UnknownText].
func (r *shellReader) addInputCommand(name string, args []string) {
	if at := slices.IndexFunc(args, func(word string) bool { return strings.HasPrefix(word, ":::") }); at >= 0 && name == "parallel" {
		r.inputs = append(r.inputs, args[at+1:]...)
		args, r.isInputKnown = args[:at], true
	}
	command := parseInputCommand(name, args)
	if len(command.words) == 0 {
		return
	}
	r.inputCommands, r.loose = append(r.inputCommands, command), append(r.loose, command.words)
	r.runsInput = r.runsInput || slices.Contains(shells, path.Base(command.words[0]))
	if command.placeholder != "" && !r.isInputKnown {
		r.addCommand(replacePlaceholder(command.words, command.placeholder, fermata.UnknownText))
	}
}

// parseInputCommand returns the command after the options of xargs or parallel, and the placeholder that the options
// name.
func parseInputCommand(name string, args []string) inputCommand {
	var f inputCommand
	if name == "parallel" {
		f.placeholder = "{}"
	}
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		option := args[0]
		switch {
		case option == "-i" || option == "--replace":
			f.placeholder = "{}"
		case strings.HasPrefix(option, "--replace="):
			f.placeholder = strings.TrimPrefix(option, "--replace=")
		case (option == "-I" || option == "-J") && len(args) > 1:
			f.placeholder = args[1]
		case strings.HasPrefix(option, "-I") || strings.HasPrefix(option, "-i") || strings.HasPrefix(option, "-J"):
			f.placeholder = option[2:]
		}
		if slices.Contains([]string{
			"-a", "-d", "-E", "-I", "-J", "-L", "-n", "-P", "-s", "-j",
			"--arg-file", "--delimiter", "--max-args", "--max-chars", "--max-lines", "--max-procs", "--process-slot-var",
		}, option) && len(args) > 1 {
			args = args[1:]
		}
		args = args[1:]
	}
	f.words = args
	return f
}

// wordsBeforeEnd returns the words of find -exec before its ; or +.
func wordsBeforeEnd(words []string) []string {
	if end := slices.IndexFunc(words, func(word string) bool { return word == ";" || word == "+" }); end >= 0 {
		return words[:end]
	}
	return words
}

// gitProgramOptions are the options of git whose value is a command line or a program.
var gitProgramOptions = []string{"--exec", "--upload-pack", "--receive-pack", "--extcmd", "--open-files-in-pager"}

// gitCommandLines returns the command lines in the options and settings of a git command.
func gitCommandLines(args []string) []string {
	var lines []string
	for i, word := range args {
		name, value, attached := strings.Cut(word, "=")
		isProgram := word == "-x" || len(name) > 2 && slices.ContainsFunc(gitProgramOptions, func(option string) bool { return strings.HasPrefix(option, name) })
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

// gitStartedCommand returns the command that git bisect run or git submodule foreach starts.
func gitStartedCommand(args []string) []string {
	hasSubmodule := false
	for i := 1; i+1 < len(args); i++ {
		hasSubmodule = hasSubmodule || args[i-1] == "submodule"
		if args[i-1] == "bisect" && args[i] == "run" || hasSubmodule && args[i] == "foreach" {
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
