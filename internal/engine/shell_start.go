package engine

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/fermata-hq/fermata"
)

// wrappers are commands that start the command after them.
var wrappers = []string{
	"sudo", "doas", "env", "command", "builtin", "exec", "nohup", "nice", "ionice", "time", "timeout", "xargs", "parallel", "stdbuf", "setsid", "busybox",
	"su", "runuser", "pkexec", "sg", "flock", "script", "chroot", "unshare", "nsenter", "setpriv", "capsh", "setarch", "linux32", "linux64", "arch", "chrt", "taskset", "prlimit", "numactl",
	"systemd-run", "systemd-inhibit", "dbus-run-session", "firejail", "bwrap", "proot", "fakeroot", "faketime", "watch", "entr", "strace", "ltrace", "gdb", "valgrind", "perf", "hyperfine",
	"unbuffer", "rlwrap", "caffeinate", "chronic", "ssh", "tmux", "screen", "start-stop-daemon", "torsocks", "proxychains", "toybox", "npx", "bunx", "uvx", "pipx", "sem", "xvfb-run",
}

// launchers are commands that start others after one of these subcommands.
var launchers = map[string][]string{
	"npm": {"exec", "x"}, "pnpm": {"exec", "dlx"}, "yarn": {"exec", "dlx"}, "bun": {"x", "exec"}, "uv": {"run", "tool"}, "poetry": {"run"}, "pipenv": {"run"}, "pdm": {"run"}, "hatch": {"run"},
	"rye": {"run"}, "bundle": {"exec"}, "docker": {"run", "exec"}, "podman": {"run", "exec"}, "mise": {"exec", "x"}, "asdf": {"exec"}, "direnv": {"exec"}, "nix": {"run", "shell", "develop"},
	"nix-shell": {"--run", "--command"}, "conda": {"run"}, "pyenv": {"exec"}, "rbenv": {"exec"}, "nodenv": {"exec"}, "rustup": {"run"}, "dotenv": {"run"}, "op": {"run"}, "doppler": {"run"},
}

// commandStart returns the index of the first word that may begin another command, for a command that starts others. It
// returns -1 if the command starts none.
func commandStart(args []string) int {
	if slices.Contains(wrappers, args[0]) {
		return 1
	}
	if at := slices.IndexFunc(args, func(word string) bool { return slices.Contains(launchers[args[0]], word) }); at > 0 {
		return at + 1
	}
	return -1
}

// maxLines is the largest number of words that are read as command lines. For a line with more, a git command with
// unknown words is added, so that a person is asked.
const maxLines = 64

// readLineOf reads the first of the words as a command line if it contains a space or an operator. The words follow a
// command that starts others: su -c takes a command line, and env -S takes one together with the words after it.
func (r *shellReader) readLineOf(words []string, depth int) {
	line := words[0]
	switch _, value, isAttached := strings.Cut(line, "="); {
	case strings.HasPrefix(line, "--") && isAttached:
		line = value
	case strings.HasPrefix(line, "-") && len(line) > 2:
		line = line[2:]
	}
	line = strings.ReplaceAll(line, `\_`, " ")
	if !strings.ContainsAny(line, " \t\n$;&|<>`") {
		return
	}
	if r.lineCount++; r.lineCount > maxLines {
		r.addCommand([]string{"git", fermata.UnknownText})
		return
	}
	r.walkLine(line, depth+1)
	if len(words) > 1 {
		r.walkLine(line+" "+quotedWords(words[1:]), depth+1)
	}
}

// quotedWords returns the words quoted, so that a shell reads them unchanged.
func quotedWords(words []string) string {
	all := make([]string, len(words))
	for i, word := range words {
		all[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return strings.Join(all, " ")
}

// watchedPrograms are the programs that are searched for in the words of commands that may start other commands.
var watchedPrograms = []string{"git", "scalar", "claude", "claude-code", "codex", "gemini", "gemini-cli", "opencode", "opencode-ai", "fermata"}

// isWatched reports whether a program is one of watchedPrograms, or one that git starts for a subcommand.
func isWatched(name string) bool {
	return slices.Contains(watchedPrograms, name) || strings.HasPrefix(name, "git-")
}

// harmlessCommands are commands that start nothing from their words, although a word may name a program.
var harmlessCommands = []string{
	"git", "echo", "printf", "cat", "ls", "head", "tail", "stat", "wc", "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "diff", "test", "[", "[[", "cd", "man", "which", "type", "hash",
	"whatis", "apropos", "basename", "dirname", "realpath", "readlink", "claude", "codex", "gemini", "opencode", "fermata",
}

// maxHidden is the largest number of commands in the words of other commands. For a line with more, a git command with
// unknown words is added, so that a person is asked.
const maxHidden = 64

// addHidden adds the commands of git and of agent programs that appear in the words of another command, which may start
// them. Only the built-in rules look at these.
func (r *shellReader) addHidden(args []string) {
	if slices.Contains(harmlessCommands, args[0]) {
		return
	}
	for i := 1; i < len(args); i++ {
		if slices.Contains([]string{"gh", "glab"}, args[0]) && slices.Contains(messageOptions, args[i]) {
			i++
			continue
		}
		r.addHiddenCommand(args[i:])
		if !strings.ContainsAny(args[i], " \t\n\"'(") {
			continue
		}
		for _, part := range strings.FieldsFunc(args[i], func(c rune) bool { return strings.ContainsRune(";&|\n", c) }) {
			words := strings.FieldsFunc(part, func(c rune) bool { return unicode.IsSpace(c) || strings.ContainsRune("\"'`()[]{}<>,\\!", c) })
			for j, word := range words {
				r.addHiddenCommand(words[j:])
				if at := strings.LastIndexByte(word, '='); at >= 0 && at+1 < len(word) {
					r.addHiddenCommand(append([]string{word[at+1:]}, words[j+1:]...))
				}
				if name, _, isSetting := strings.Cut(word, "="); isSetting && name != "" && name == strings.ToUpper(name) {
					r.settings = append(r.settings, word)
				}
			}
		}
	}
}

// addHiddenCommand adds the command at the beginning of the words, if it is a watched one.
func (r *shellReader) addHiddenCommand(words []string) {
	name := path.Base(words[0])
	if at := strings.LastIndexByte(name, '@'); at > 0 {
		name = name[:at]
	}
	if !isWatched(strings.TrimSuffix(strings.ToLower(name), ".exe")) || r.hiddenCount > maxHidden {
		return
	}
	if r.hiddenCount++; r.hiddenCount > maxHidden {
		words = []string{"git", fermata.UnknownText}
	}
	r.calls = append(r.calls, bareCommand(words))
}
