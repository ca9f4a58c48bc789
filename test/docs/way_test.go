package docs_test

import (
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// A reader goes from page to page with one shell, one address and one folder. So a page that starts a server says first
// what to do with one that already runs, and stops its own at the end.
var openings = []string{"If no server runs, start one:", "# first stop a server that already runs here: kill $SERVER"}

// firstPage is where a reader has no server yet.
const firstPage = "docs/start.md"

// TestPagesLeaveNoServerBehind checks that each page in docs that starts a server in the background
//
//   - says before it what to do with a server that already runs,
//   - keeps its process in SERVER, waits for a fixed time and shows the log, because a server may end at once,
//   - has its own data in a new folder, if it does not use the data of the user,
//   - stops the server after the last start.
func TestPagesLeaveNoServerBehind(t *testing.T) {
	t.Parallel()
	found := 0
	for name, blocks := range readBlocks(t) {
		commands := commandsOf(t, blocks)
		first := slices.IndexFunc(commands, command.isServer)
		if first < 0 || !strings.HasPrefix(name, "docs/") {
			continue
		}
		found++
		pageStart, _, _ := strings.Cut(readFile(t, name), commands[first].text)
		if name != firstPage && !slices.ContainsFunc(openings, func(opening string) bool { return strings.Contains(pageStart, opening) }) {
			t.Errorf("%s: write one of these before the start of the server: %q", commands[first].place, openings)
		}
		if strings.Contains(commands[first].text, "--data") && !slices.Contains(textsOf(commands[:first]), `cd "$(mktemp -d)"`) {
			t.Errorf("%s: the server has its own data, and an earlier page may have left some: first go to a new folder with cd \"$(mktemp -d)\"", commands[first].place)
		}
		rest := textsOf(commands)
		for i, c := range commands {
			if c.isServer() && !slices.Equal(rest[i+1:min(i+4, len(rest))], []string{"SERVER=$!", "sleep 3", "cat serve.log"}) {
				t.Errorf("%s: write SERVER=$!, sleep 3 and cat serve.log behind the start of a server", c.place)
			}
			if c.isServer() && !slices.ContainsFunc(rest[i:], stopsServer) {
				t.Errorf("%s: the page does not stop this server: write kill $SERVER at its end", c.place)
			}
		}
	}
	if found < 12 {
		t.Errorf("only %d pages start a server", found)
	}
}

// TestPagesDoNotWaitForEver checks that no block waits in a loop: what it waits for may never come.
func TestPagesDoNotWaitForEver(t *testing.T) {
	t.Parallel()
	for _, blocks := range readBlocks(t) {
		for _, c := range commandsOf(t, blocks) {
			syntax.Walk(c.statement, func(node syntax.Node) bool {
				if _, isLoop := node.(*syntax.WhileClause); isLoop {
					t.Errorf("%s waits in a loop that may never end: sleep for a fixed time, and show what happened", c.place)
				}
				return true
			})
		}
	}
}

// commandsOf returns the commands of the blocks that a reader runs.
func commandsOf(t *testing.T, blocks []block) []command {
	t.Helper()
	var commands []command
	for _, b := range blocks {
		if !b.isRun() {
			continue
		}
		for _, statement := range b.statements {
			commands = append(commands, newCommand(t, b, statement))
		}
	}
	return commands
}

func textsOf(commands []command) []string {
	texts := make([]string, len(commands))
	for i, c := range commands {
		texts[i] = c.text
	}
	return texts
}

// stopsServer reports whether a command stops the server that the page started.
func stopsServer(text string) bool {
	return strings.HasPrefix(text, "kill ") && strings.Contains(text, "$SERVER")
}
