package docs_test

import (
	"fmt"
	"io"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"
	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/fermata-hq/fermata/test/process"
)

// TestCommandsOfPagesAreKnown checks the calls of fermata that no test runs, in blocks and in the text of the pages. The
// program must know the command and each of its flags.
func TestCommandsOfPagesAreKnown(t *testing.T) {
	t.Parallel()
	binary := process.Binary(t)
	blocks, pages, found := readBlocks(t), readPages(t), 0
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		if !isDocumentation(name) {
			continue
		}
		var calls [][]string
		for _, b := range blocks[name] {
			if b.isShell() && !b.isRun() {
				calls = append(calls, findCalls(t, name, b.source)...)
			}
		}
		for _, text := range mentionsOf(t, []byte(pages[name].source)) {
			calls = append(calls, findCalls(t, name, text)...)
		}
		found += len(calls)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, call := range calls {
				checkCall(t, binary, call)
			}
		})
	}
	if t.Logf("%d calls were found", found); found < 350 {
		t.Errorf("only %d calls were found", found)
	}
}

// mentionOfCall matches a text that calls a command. It leaves out fermata COMMAND and fermata ….
var mentionOfCall = regexp.MustCompile(`^fermata [a-z]`)

// mentionsOf returns the calls of fermata in the text of a page, and those behind a prompt in blocks of text.
func mentionsOf(t *testing.T, source []byte) []string {
	t.Helper()
	var texts []string
	walkPage(t, source, func(n ast.Node) {
		switch n := n.(type) {
		case *ast.CodeSpan:
			if text := headingText(n, source); mentionOfCall.MatchString(text) {
				texts = append(texts, text)
			}
		case *ast.FencedCodeBlock:
			for line := range strings.Lines(linesOf(n, source)) {
				if text, hasPrompt := strings.CutPrefix(line, "$ fermata "); hasPrompt {
					texts = append(texts, "fermata "+text)
				}
			}
		}
	})
	return texts
}

// findCalls returns the arguments of each call of fermata in a text for the shell. A variable or the output of a command
// stands for any word.
func findCalls(t *testing.T, name, text string) [][]string {
	t.Helper()
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), name)
	if err != nil {
		t.Errorf("%s: %v\n%s", name, err, text)
		return nil
	}
	words := &expand.Config{
		Env:       expand.FuncEnviron(func(string) string { return "word" }),
		CmdSubst:  func(w io.Writer, _ *syntax.CmdSubst) error { return writeWord(w) },
		ProcSubst: func(*syntax.ProcSubst) (string, error) { return "word", nil },
	}
	var calls [][]string
	syntax.Walk(file, func(node syntax.Node) bool {
		if call, isCall := node.(*syntax.CallExpr); isCall && len(call.Args) > 1 && call.Args[0].Lit() == "fermata" {
			fields, err := expand.Fields(words, call.Args[1:]...)
			if err != nil {
				t.Errorf("%s: %v\n%s", name, err, text)
			}
			calls = append(calls, fields)
		}
		return true
	})
	return calls
}

func writeWord(w io.Writer) error {
	_, err := fmt.Fprint(w, "word")
	return err
}

// checkCall asks the program for the help of a call. The program refuses an unknown command or flag before it prints help.
func checkCall(t *testing.T, binary string, call []string) {
	t.Helper()
	end := slices.Index(call, "--")
	if end < 0 {
		end = len(call)
	}
	output, err := run(t, binary, slices.Insert(slices.Clone(call), end, "--help"))
	if err != nil && strings.HasPrefix(call[len(call)-1], "--") {
		// The text names a flag without its value.
		_, err = run(t, binary, append(slices.Clone(call), "1", "--help"))
	}
	if err != nil {
		t.Errorf("fermata %s: %v\n%s", strings.Join(call, " "), err, output)
	}
}

func run(t *testing.T, binary string, args []string) ([]byte, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Env = []string{"HOME=/nonexistent"}
	return cmd.CombinedOutput()
}
