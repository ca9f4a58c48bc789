package docs_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// command is one command of a page.
type command struct {
	place, text string
	statement   *syntax.Stmt
}

// splitAtSleeps returns the commands of a block, split where it sleeps. A sleep behind the start of a server splits
// nothing, because the test waits until the server is ready.
func splitAtSleeps(t *testing.T, b block) [][]command {
	t.Helper()
	stages, startsServer := [][]command{nil}, false
	for _, statement := range b.statements {
		c := newCommand(t, b, statement)
		switch {
		case c.name() != "sleep":
			startsServer = startsServer || c.isServer()
			last := len(stages) - 1
			stages[last] = append(stages[last], c)
		case startsServer:
			startsServer = false
		default:
			stages = append(stages, nil)
		}
	}
	return stages
}

func newCommand(t *testing.T, b block, statement *syntax.Stmt) command {
	t.Helper()
	var text bytes.Buffer
	if err := syntax.NewPrinter().Print(&text, statement); err != nil {
		t.Fatal(err)
	}
	return command{place: fmt.Sprintf("%s:%d", b.page, b.line+int(statement.Pos().Line())-1), text: text.String(), statement: statement}
}

// words returns the words of a simple command, and nil for another command.
func (c command) words() []string {
	call, isCall := c.statement.Cmd.(*syntax.CallExpr)
	if !isCall {
		return nil
	}
	return wordsOf(call)
}

// wordsOf returns the words of a simple command without quotes. A word with a variable or another expansion is "".
func wordsOf(call *syntax.CallExpr) []string {
	words := make([]string, len(call.Args))
	for i, word := range call.Args {
		if text, err := expand.Literal(&expand.Config{}, word); err == nil {
			words[i] = text
		}
	}
	return words
}

// name returns the first word of a simple command.
func (c command) name() string { return strings.Join(c.words()[:min(1, len(c.words()))], "") }

// isServer reports whether the command starts a server in the background.
func (c command) isServer() bool { return c.serves() && c.statement.Background }

// isForegroundServer reports whether the command starts a server and waits until it ends.
func (c command) isForegroundServer() bool { return c.serves() && !c.statement.Background }

func (c command) serves() bool {
	words := c.words()
	return len(words) > 1 && words[0] == "fermata" && words[1] == "serve"
}

// checkedText returns the command, followed by checks that a reader makes by looking: each part of a pipe succeeded, and
// a variable that gets an output is not empty.
func (c command) checkedText() string {
	if c.statement.Background {
		return c.text
	}
	switch node := c.statement.Cmd.(type) {
	case *syntax.BinaryCmd:
		if node.Op == syntax.Pipe {
			return c.text + "\nhas_succeeded \"${PIPESTATUS[@]}\""
		}
	case *syntax.CallExpr:
		text := c.text
		if len(node.Args) == 0 {
			for _, assignment := range node.Assigns {
				text += fmt.Sprintf("\n[ -n \"$%s\" ]", assignment.Name.Value)
			}
		}
		return text
	}
	return c.text
}
