package install

import (
	"encoding/json"
	"slices"
	"strings"
)

// serverFlags are the flags of hooks that install writes and renews. All other flags belong to the person.
var serverFlags = []string{"--server", "--token-file", "--proxy"}

// renewHook updates a group of hooks: how Fermata is started, and which server it asks. A person's other flags, such
// as --strict, and the timeout stay. It reports whether it changed anything.
func renewHook(have, want []byte) (hookGroup, bool) {
	var old, group hookGroup
	if json.Unmarshal(want, &group) != nil || len(group.Hooks) != 1 {
		return group, false
	}
	if json.Unmarshal(have, &old) != nil || len(old.Hooks) != 1 {
		return group, true
	}
	oldLine, newLine := readHookLine(old.Hooks[0].Command), readHookLine(group.Hooks[0].Command)
	if len(oldLine.otherFlags) > 0 || len(oldLine.server) > 0 {
		newLine.otherFlags = oldLine.otherFlags
	}
	group.Hooks[0].Command = newLine.String()
	if old.Hooks[0].Timeout != 0 {
		group.Hooks[0].Timeout = old.Hooks[0].Timeout
	}
	same := old.Matcher == group.Matcher && old.Hooks[0].Type == group.Hooks[0].Type && old.Hooks[0].Command == group.Hooks[0].Command
	return group, !same
}

// hookLine holds the parts of an installed hook's command line, with their quotes.
type hookLine struct {
	call               string
	server, otherFlags []string
	guard              string
}

func readHookLine(text string) hookLine {
	var l hookLine
	line, guard, guarded := strings.Cut(text, " || ")
	if guarded {
		l.guard = " || " + guard
	}
	program, rest, _ := strings.Cut(line, " hook ")
	words := splitShellWords(rest)
	l.call = program + " hook"
	if len(words) > 0 {
		l.call += " " + words[0]
		words = words[1:]
	}
	for len(words) > 0 {
		n := 1
		if slices.Contains(serverFlags, words[0]) {
			n = min(2, len(words))
			l.server = append(l.server, words[:n]...)
		} else {
			l.otherFlags = append(l.otherFlags, words[0])
		}
		words = words[n:]
	}
	return l
}

func (l hookLine) String() string {
	return strings.Join(slices.Concat([]string{l.call}, l.server, l.otherFlags), " ") + l.guard
}

// splitShellWords splits a line at the spaces outside quotes. The quotes stay.
func splitShellWords(line string) []string {
	var words []string
	var word strings.Builder
	quoted := false
	for _, r := range line {
		if r == '\'' {
			quoted = !quoted
		}
		if r != ' ' || quoted {
			word.WriteRune(r)
			continue
		}
		if word.Len() > 0 {
			words = append(words, word.String())
		}
		word.Reset()
	}
	if word.Len() > 0 {
		words = append(words, word.String())
	}
	return words
}
