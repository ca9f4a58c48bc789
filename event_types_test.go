package fermata_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
)

// TestEveryTypeOfEventsIsListed checks that EventTypes has every constant of an event type.
func TestEveryTypeOfEventsIsListed(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "event.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var declared []string
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || len(v.Values) != 1 || !strings.HasPrefix(v.Names[0].Name, "Event") {
			return true
		}
		if text, ok := v.Values[0].(*ast.BasicLit); ok && text.Kind == token.STRING {
			value, err := strconv.Unquote(text.Value)
			if err != nil {
				t.Fatal(err)
			}
			declared = append(declared, value)
		}
		return true
	})
	listed := make([]string, 0, len(fermata.EventTypes))
	for _, each := range fermata.EventTypes {
		listed = append(listed, string(each))
	}
	slices.Sort(declared)
	slices.Sort(listed)
	if !slices.Equal(declared, listed) {
		t.Errorf("declared %v\nlisted   %v", declared, listed)
	}
}

func TestSubscriptionsAreToTypesThatThereAre(t *testing.T) {
	t.Parallel()
	for _, good := range [][]string{nil, {"*"}, {"question.asked", "delivery.alert"}} {
		if err := fermata.CheckEventTypes("settings.events", good); err != nil {
			t.Errorf("%v: %v", good, err)
		}
	}
	var e *fermata.Error
	if err := fermata.CheckEventTypes("settings.events", []string{"question.asked", "question.anwsered"}); !asError(err, &e) ||
		e.Problems[0].Field != "settings.events[1]" || !strings.Contains(e.Hint, "question.answered") {
		t.Errorf("got %+v", e)
	}
	if err := fermata.CheckEventTypes("settings.events", []string{""}); !asError(err, &e) || !strings.Contains(e.Hint, "question.asked") {
		t.Errorf("got %+v", e)
	}
}

func TestFiltersNameTypesOrNounsThatThereAre(t *testing.T) {
	t.Parallel()
	if err := fermata.CheckEventFilter("type", []string{"question.asked", "task"}); err != nil {
		t.Error(err)
	}
	for _, unknown := range []string{"question.anwsered", "questions", "*", ""} {
		var e *fermata.Error
		if err := fermata.CheckEventFilter("type", []string{"task", unknown}); !asError(err, &e) || e.Problems[0].Field != "type[1]" || e.Hint == "" {
			t.Errorf("%q: got %+v", unknown, e)
		}
	}
}
