package definition

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// shells are the programs that take a script as an argument.
var shells = []string{"sh", "bash", "dash", "zsh", "ksh", "ash"}

// ScriptIn returns which argument of a command is a script for a shell, as in
// sh -c; -1 for none.
func ScriptIn(command []string) int {
	if len(command) == 0 || !slices.Contains(shells, path.Base(command[0])) {
		return -1
	}
	script := false
	for i := 1; i < len(command); i++ {
		arg := command[i]
		if !strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "+") {
			if script {
				return i
			}
			return -1 // a file with the script
		}
		if strings.HasPrefix(arg, "--") {
			continue
		}
		if strings.Contains(arg, "o") {
			i++ // the name of an option
		}
		script = script || strings.Contains(arg, "c")
	}
	return -1
}

const (
	scriptFault = "a value would become a part of the script, whatever it says"
	scriptHint  = `give it as an argument: command: [sh, -eu, -c, 'echo "$1"', sh, "{{ … }}"]`
)

// ScriptFault says what is wrong with a template in a script for a shell; "" for
// nothing. Who writes an issue's title must not write a command.
func ScriptFault(command []string) string {
	if at := ScriptIn(command); at >= 0 && strings.Contains(command[at], "{{") {
		return scriptFault + " – " + scriptHint
	}
	return ""
}

// script refuses templates in scripts for a shell.
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
	if i := ScriptIn(command); i >= 0 && strings.Contains(command[i], "{{") {
		l.at(list[i], fmt.Sprintf("%s.command[%d]", at, i), scriptHint, "%s", scriptFault)
	}
}
