package definition

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// interpreter is a program that takes a script as an argument.
type interpreter struct {
	// script are the letters of short options whose value is a script, and long the names of such options.
	script string
	long   []string
	// value are the letters of short options that take another value, and module those behind which all is for another
	// program.
	value, module string
	operands      operands
}

// operands are the arguments that are no options.
type operands int

const (
	// areFiles: the first one is a file with the script, and the rest is for the script.
	areFiles operands = iota
	// beginWithScript: the first one is the script.
	beginWithScript
	// areScript: all of them together are the script.
	areScript
	// nameHostFirst: all behind the first one are the script.
	nameHostFirst
	// areIgnored: a script may follow as an option.
	areIgnored
)

var (
	shell  = interpreter{script: "c", value: "oO"}
	python = interpreter{script: "c", value: "WX", module: "m"}
	node   = interpreter{script: "ep", long: []string{"--eval", "--print"}, value: "rC"}
	awk    = interpreter{value: "Fv", operands: beginWithScript}
	user   = interpreter{script: "c", long: []string{"--command"}, value: "ugGsw", operands: areIgnored}
)

// interpreters by their name, without a version.
var interpreters = map[string]interpreter{
	"sh": shell, "bash": shell, "dash": shell, "zsh": shell, "ksh": shell, "ash": shell, "fish": shell,
	"python": python, "pypy": python, "node": node, "nodejs": node, "bun": node,
	"perl": {script: "eE", value: "IMm"}, "ruby": {script: "e", value: "rIC"}, "php": {script: "rBRE", long: []string{"--run"}, value: "dc"},
	"lua": {script: "e", value: "l"}, "osascript": {script: "e", value: "l"}, "awk": awk, "gawk": awk, "mawk": awk,
	"sed": {script: "e", long: []string{"--expression"}, value: "l", operands: beginWithScript}, "su": user, "runuser": user,
	"ssh": {value: "BbcDEeFIiJLlmOoPpQRSWw", operands: nameHostFirst}, "watch": {value: "n", operands: areScript},
}

// wrappers start another program that stands among their arguments.
var wrappers = []string{
	"env", "nice", "ionice", "timeout", "sudo", "doas", "nohup", "setsid", "stdbuf", "time", "chroot", "busybox", "toybox", "xargs", "flock",
	"unshare", "nsenter", "docker", "podman", "kubectl", "find", "parallel", "strace", "chrt", "taskset", "systemd-run", "bwrap", "su", "runuser",
}

// ScriptsIn returns which arguments of a command are scripts for an interpreter, as in sh -c and python -c, also where
// another program starts the interpreter. It knows the usual programs, and no others.
func ScriptsIn(command []string) []int {
	var found []int
	for i := range command {
		name := strings.TrimRight(path.Base(command[i]), "0123456789.")
		if it, ok := interpreters[name]; ok {
			found = append(found, it.scripts(command, i+1)...)
		}
		if i == 0 && !slices.Contains(wrappers, name) {
			break
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// scripts returns which of the arguments from a place on are scripts.
func (it interpreter) scripts(command []string, from int) (found []int) {
	named, seen := false, 0
	for i := from; i < len(command); i++ {
		isCommand := seen > 0 && (it.operands == areScript || it.operands == nameHostFirst)
		if isOption(command[i]) && !isCommand {
			o := it.read(command[i])
			if o.end {
				return found
			}
			if o.here {
				found = append(found, i)
			}
			named = named || o.next
			if o.skip {
				i++
			}
			continue
		}
		seen++
		switch {
		case named || it.operands == beginWithScript && len(found) == 0:
			return append(found, i)
		case it.operands == areScript, it.operands == nameHostFirst && seen > 1:
			found = append(found, i)
		case it.operands == areFiles, it.operands == beginWithScript:
			return found
		}
	}
	return found
}

func isOption(arg string) bool { return len(arg) > 1 && (arg[0] == '-' || arg[0] == '+') }

// option says where an option has its script: in itself or in the next argument. Skip says that the next argument is
// another value of it, and end that nothing behind is for the interpreter.
type option struct{ here, next, skip, end bool }

// mostFlags is how many letters may follow in a cluster such as -lne; more are a script that stands there.
const mostFlags = 3

func (it interpreter) read(arg string) (o option) {
	if name, _, joined := strings.Cut(arg, "="); strings.HasPrefix(arg, "--") {
		known := slices.Contains(it.long, name)
		return option{here: known && joined, next: known && !joined}
	}
	for i, letter := range arg[1:] {
		rest := arg[1+i+len(string(letter)):]
		switch {
		case strings.ContainsRune(it.script, letter) && (len(rest) > mostFlags || strings.ContainsAny(rest, " ;({'\"$")):
			return option{here: true}
		case strings.ContainsRune(it.script, letter):
			o.next = true
		case strings.ContainsRune(it.module, letter):
			return option{end: true}
		case strings.ContainsRune(it.value, letter):
			o.skip = rest == "" || it.value == shell.value
			if it.value != shell.value {
				return o
			}
		}
	}
	return o
}

const (
	scriptFault = "a value would become a part of the script, whatever it says"
	scriptHint  = `give it as an argument: command: [sh, -eu, -c, 'echo "$1"', sh, "{{ … }}"]`
)

// ScriptFault says what is wrong with a template in a script; "" for
// nothing. Who writes an issue's title must not write a command.
func ScriptFault(command []string) string {
	for _, at := range ScriptsIn(command) {
		if strings.Contains(command[at], "{{") {
			return scriptFault + " – " + scriptHint
		}
	}
	return ""
}

// script refuses templates in scripts for an interpreter.
func (l *loader) script(input *tree, tool, at string) {
	if tool != "shell" {
		return
	}
	if run := input.get("run"); strings.Contains(run.text(), "{{") {
		l.at(run, at+".run", scriptHint, "%s", scriptFault)
	}
	list := input.get("command").list()
	command := make([]string, len(list))
	for i, arg := range list {
		command[i] = arg.text()
	}
	for _, i := range ScriptsIn(command) {
		if strings.Contains(command[i], "{{") {
			l.at(list[i], fmt.Sprintf("%s.command[%d]", at, i), scriptHint, "%s", scriptFault)
		}
	}
}
