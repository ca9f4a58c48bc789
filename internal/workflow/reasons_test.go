package workflow_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
)

// The page about runs names every reason that the server gives for the end of a task.
func TestThePageNamesEveryReason(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/reference/workflow-runs.md")
	if err != nil {
		t.Fatal(err)
	}
	_, states, _ := strings.Cut(string(page), "\n## States\n")
	states, _, _ = strings.Cut(states, "\n## ")
	packages, err := parser.ParseDir(token.NewFileSet(), "../..", func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	ast.Inspect(packages["fermata"], func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Reason") || len(spec.Values) != 1 {
			return true
		}
		literal, ok := spec.Values[0].(*ast.BasicLit)
		if !ok {
			return true
		}
		// A pause defers a task, and does not end it.
		if reason, _ := strconv.Unquote(literal.Value); reason != fermata.ReasonPaused {
			found++
			if !strings.Contains(states, "`"+reason+"`") {
				t.Errorf("docs/reference/workflow-runs.md does not name the reason %s", reason)
			}
		}
		return true
	})
	if found < 8 {
		t.Errorf("the test found %d reasons", found)
	}
}
