package definition

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// interpreter describes a program that takes a script as an argument.
type interpreter struct {
	// script holds the letters of short options whose value is a script. long holds the names of such long options.
	script string
	long   []string
	// value holds the letters of short options with a value that is no script. longValue holds the names of such long
	// options. Everything after a letter of module is for another program.
	value, module string
	longValue     []string
	// file holds those letters of value whose option names a file with the script.
	file string
	// setting holds the letters of short options whose value is a setting. The value is a script if the setting is a
	// command.
	setting  string
	operands operands
	// repeats says that an option with a script may follow another one. permutes says that options may follow operands.
	repeats, permutes bool
	// find replaces all of the above. It returns the indexes of the scripts among the arguments, starting at from.
	find func(command []string, from int) []int
}

// operands says what the arguments that are no options mean.
type operands int

const (
	// areFiles means that the first operand is a file with the script, and the rest are arguments of the script.
	areFiles operands = iota
	// beginWithScript means that the first operand is the script.
	beginWithScript
	// areScript means that all operands together are the script.
	areScript
	// nameHostFirst means that all operands after the first one are the script.
	nameHostFirst
	// areIgnored means that operands have no meaning here, and a script may follow as an option.
	areIgnored
	// areCommand means that the first operand that sets no variable is another program, and the rest are its arguments.
	areCommand
)

var (
	shell  = interpreter{script: "c", value: "oO", longValue: []string{"--rcfile", "--init-file"}}
	python = interpreter{script: "c", value: "WX", module: "m", longValue: []string{"--check-hash-based-pycs"}}
	node   = interpreter{script: "ep", long: []string{"--eval", "--print"}, value: "rC", longValue: []string{
		"--require", "--import", "--loader", "--experimental-loader", "--conditions", "--env-file", "--input-type", "--title", "--preload",
	}}
	awk = interpreter{
		script: "e", long: []string{"--source"}, value: "Fvfi", file: "f", longValue: []string{"--field-separator", "--assign", "--file", "--include"},
		operands: beginWithScript, repeats: true,
	}
	pwsh = interpreter{find: findPowerShell}
	user = interpreter{script: "c", long: []string{"--command"}, value: "ugGsw", operands: areIgnored}
)

// interpreters holds the interpreters by their name, without a version.
var interpreters = map[string]interpreter{
	"sh": shell, "bash": shell, "dash": shell, "zsh": shell, "ksh": shell, "ash": shell, "fish": shell,
	"csh": shell, "tcsh": shell, "nu": shell, "pwsh": pwsh, "powershell": pwsh,
	"python": python, "pypy": python, "node": node, "nodejs": node, "bun": node, "deno": {find: findDeno},
	"perl": {script: "eE", value: "IMm", repeats: true}, "ruby": {script: "e", value: "rIC", repeats: true},
	"php": {script: "rBRE", long: []string{"--run"}, value: "dc", longValue: []string{"--define", "--php-ini"}},
	"lua": {script: "e", value: "l", repeats: true}, "osascript": {script: "e", value: "l", repeats: true}, "awk": awk, "gawk": awk, "mawk": awk,
	"julia": {script: "eE", long: []string{"--eval", "--print"}}, "elixir": {script: "e", long: []string{"--eval"}}, "Rscript": {script: "e", repeats: true},
	"sed": {script: "e", long: []string{"--expression"}, value: "lf", file: "f", longValue: []string{"--file"}, operands: beginWithScript, repeats: true, permutes: true},
	"su":  user, "runuser": user, "script": {script: "c", long: []string{"--command"}, value: "BEIOTmo", operands: areIgnored},
	"nix-shell": {long: []string{"--run", "--command"}, value: "pI", operands: areIgnored},
	"env":       {script: "S", long: []string{"--split-string"}, value: "uCa", longValue: []string{"--unset", "--chdir", "--argv0"}, operands: areCommand},
	"ssh":       {value: "BbcDEeFIiJLlmOPpQRSWw", setting: "o", operands: nameHostFirst}, "watch": {value: "n", operands: areScript},
}

// wrappers are programs that start another program, which is one of their arguments.
var wrappers = []string{
	"env", "nice", "ionice", "timeout", "sudo", "doas", "nohup", "setsid", "stdbuf", "time", "chroot", "busybox", "toybox", "xargs", "flock",
	"unshare", "nsenter", "docker", "podman", "kubectl", "find", "parallel", "strace", "chrt", "taskset", "systemd-run", "bwrap", "su", "runuser",
	"tini", "dumb-init", "gosu", "su-exec", "setpriv", "firejail", "fakeroot", "proot", "faketime", "xvfb-run", "dbus-run-session", "unbuffer", "ltrace",
	"valgrind", "uv", "uvx", "pipx", "poetry", "conda", "mamba", "bundle", "direnv", "nix", "mise", "asdf", "npx", "script", "nix-shell",
}

// ScriptsIn returns the indexes of a command's arguments that are scripts for an interpreter, as in sh -c and python
// -c. It also finds interpreters that another program starts. It knows only common programs.
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

// scripts returns the indexes of the arguments that are scripts, starting at from.
func (it interpreter) scripts(command []string, from int) (found []int) {
	if it.find != nil {
		return it.find(command, from)
	}
	named, inFile, seen := false, false, 0
	for i := from; i < len(command); i++ {
		isCommand := seen > 0 && (it.operands == areScript || it.operands == nameHostFirst)
		if isOption(command[i]) && !isCommand {
			o := it.parseOption(command[i])
			if o.endsOptions {
				return found
			}
			if o.hasScript || o.setting && !o.skipsNext && setsCommand(command[i][2:]) {
				found = append(found, i)
			}
			if o.setting && o.skipsNext && i+1 < len(command) && setsCommand(command[i+1]) {
				found = append(found, i+1)
			}
			named, inFile = named || o.scriptFollows, inFile || o.file
			if o.skipsNext {
				i++
			}
			continue
		}
		if named && it.repeats {
			found, named = append(found, i), false
			continue
		}
		if it.operands == areCommand && !named && strings.Contains(command[i], "=") {
			continue
		}
		seen++
		switch {
		case named || it.operands == beginWithScript && len(found) == 0 && !inFile:
			return append(found, i)
		case it.operands == areScript, it.operands == nameHostFirst && seen > 1:
			found = append(found, i)
		case it.permutes:
		case it.operands == areFiles, it.operands == beginWithScript, it.operands == areCommand:
			return found
		}
	}
	return found
}

func isOption(arg string) bool { return len(arg) > 1 && (arg[0] == '-' || arg[0] == '+') }

// option is the meaning of an option. hasScript says that the script is in the option itself, scriptFollows that it is
// the next argument. skipsNext says that the next argument is another value of the option. setting says that this value,
// or the rest of the option, is a setting. file says that the value names a file with the script. endsOptions says that
// the arguments after it are for another program.
type option struct{ hasScript, scriptFollows, skipsNext, setting, file, endsOptions bool }

// maxFlags is how many letters may follow a script's letter in a cluster such as -lne. If there are more, they are the
// script.
const maxFlags = 3

func (it interpreter) parseOption(arg string) (o option) {
	if name, _, joined := strings.Cut(arg, "="); strings.HasPrefix(arg, "--") {
		known := slices.Contains(it.long, name)
		return option{hasScript: known && joined, scriptFollows: known && !joined, skipsNext: !joined && slices.Contains(it.longValue, name)}
	}
	for i, letter := range arg[1:] {
		rest := arg[1+i+len(string(letter)):]
		switch {
		case strings.ContainsRune(it.script, letter) && (len(rest) > maxFlags || strings.ContainsAny(rest, " ;({'\"$")):
			return option{hasScript: true}
		case strings.ContainsRune(it.script, letter):
			o.scriptFollows = true
		case i == 0 && strings.ContainsRune(it.setting, letter):
			return option{setting: true, skipsNext: rest == ""}
		case strings.ContainsRune(it.module, letter):
			return option{endsOptions: true}
		case strings.ContainsRune(it.value, letter):
			o.file = strings.ContainsRune(it.file, letter)
			o.skipsNext = rest == "" || it.value == shell.value
			if it.value != shell.value {
				return o
			}
		}
	}
	return o
}

// setsCommand reports whether ssh runs the value of a setting as a command, as with ProxyCommand. It is also true if
// the name of the setting contains a template.
func setsCommand(setting string) bool {
	name, _, _ := strings.Cut(strings.TrimLeft(setting, " "), "=")
	name, _, _ = strings.Cut(strings.ToLower(name), " ")
	return strings.HasSuffix(name, "command") || strings.Contains(name, "{{")
}

// findPowerShell returns the indexes of the scripts in a call of PowerShell. Everything after -Command is a script.
// PowerShell accepts the first letters of an option for its name.
func findPowerShell(command []string, from int) (found []int) {
	for i := from; i < len(command); i++ {
		name := strings.ToLower(strings.TrimLeft(command[i], "-"))
		if name == "" || name == strings.ToLower(command[i]) {
			continue // it is the value of an option
		}
		switch {
		case isPrefixOf(name, "command"), isPrefixOf(name, "encodedcommand"), name == "ec":
			for at := i + 1; at < len(command); at++ {
				found = append(found, at)
			}
			return found
		case isPrefixOf(name, "file"):
			return nil
		}
	}
	return nil
}

// isPrefixOf reports whether a name is the beginning of an option's whole name.
func isPrefixOf(name, whole string) bool { return strings.HasPrefix(whole, name) }

// findDeno returns the index of the script of "deno eval".
func findDeno(command []string, from int) []int {
	evaluates := false
	for i := from; i < len(command); i++ {
		switch {
		case isOption(command[i]):
		case evaluates:
			return []int{i}
		case command[i] != "eval":
			return nil
		default:
			evaluates = true
		}
	}
	return nil
}

const (
	scriptFault = "a value would become a part of the script, whatever it says"
	scriptHint  = `give it as an argument: command: [sh, -eu, -c, 'echo "$1"', sh, "{{ … }}"]`
)

// ScriptFault returns what is wrong with a template in a script, or "" if there is none. Such a template is refused
// because the author of an issue's title must not be able to write a command.
func ScriptFault(command []string) string {
	for _, at := range ScriptsIn(command) {
		if strings.Contains(command[at], "{{") {
			return scriptFault + " – " + scriptHint
		}
	}
	return ""
}

// checkScript refuses templates in scripts for an interpreter.
func (l *loader) checkScript(input *tree, tool, at string) {
	if tool != "shell" {
		return
	}
	if run := input.get("run"); strings.Contains(run.text(), "{{") {
		l.addAt(run, at+".run", scriptHint, "%s", scriptFault)
	}
	list := input.get("command").list()
	command := make([]string, len(list))
	for i, arg := range list {
		command[i] = arg.text()
	}
	for _, i := range ScriptsIn(command) {
		if strings.Contains(command[i], "{{") {
			l.addAt(list[i], fmt.Sprintf("%s.command[%d]", at, i), scriptHint, "%s", scriptFault)
		}
	}
}
