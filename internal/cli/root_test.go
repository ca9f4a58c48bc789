package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/fermata-hq/fermata/internal/cli/session"
)

// The parser of one command prints the same help as the parser of all commands.
func TestParserOfOneCommand(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := session.New(strings.NewReader(""), &out, &out, "1.2.3")
	whole, err := newParser(&root{}, s)
	if err != nil {
		t.Fatal(err)
	}
	say := func(parser *kong.Kong, args []string) {
		defer func() {
			if _, stopped := recover().(parserExit); !stopped {
				t.Errorf("%q was not ended by its help", args)
			}
		}()
		out.Reset()
		_, err := parser.Parse(args)
		t.Errorf("%q: %v", args, err)
	}
	leaves := whole.Model.Leaves(false)
	if len(leaves) < 50 {
		t.Fatalf("there are only %d commands", len(leaves))
	}
	for _, leaf := range leaves {
		var args []string
		for node := leaf; node.Parent != nil; node = node.Parent {
			args = slices.Insert(args, 0, node.Name)
		}
		args = append(args, "--help")
		one, _, err := newParserOf(args, s)
		if err != nil {
			t.Fatal(err)
		}
		if known := len(one.Model.Children); known != 1 && args[0] != "completion" {
			t.Errorf("the parser of %q knows %d commands", args, known)
		}
		say(whole, args)
		want := out.String()
		say(one, args)
		if got := out.String(); got != want || !strings.Contains(got, "Usage: fermata "+args[0]) {
			t.Errorf("%q:\n%s\nnot\n%s", args, got, want)
		}
	}
}
