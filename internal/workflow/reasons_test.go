package workflow_test

import (
	"go/ast"
	"go/parser"
	"go/token"
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
	found := 0
	check := func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Reason") || len(spec.Values) != 1 {
			return true
		}
		literal, ok := spec.Values[0].(*ast.BasicLit)
		if !ok {
			return true
		}
		// A pause ends no task, and the time limit of a worker ends no run of a workflow.
		if reason, _ := strconv.Unquote(literal.Value); reason != fermata.ReasonPaused && reason != fermata.ReasonRunTimeout {
			found++
			if !strings.Contains(states, "`"+reason+"`") {
				t.Errorf("docs/reference/workflow-runs.md does not name the reason %s", reason)
			}
		}
		return true
	}
	for _, name := range []string{"task.go", "workflow_run.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), "../../"+name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, check)
	}
	if found < 8 {
		t.Errorf("the test found %d reasons", found)
	}
}
