package fermata_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
)

// nestedLists returns a document with this many nested lists.
func nestedLists(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }

// TestNesting checks that every document that an asker or a worker can store
// can be read again, together with everything around it.
func TestNesting(t *testing.T) {
	t.Parallel()
	for doc, fine := range map[string]bool{
		nestedLists(fermata.MaxNesting):                                    true,
		nestedLists(fermata.MaxNesting + 1):                                false,
		nestedLists(9999):                                                  false,
		`{"a":` + nestedLists(fermata.MaxNesting) + `}`:                    false,
		`[` + strings.Repeat("[],", 500) + `[]]`:                           true,
		`"` + strings.Repeat("[", 500) + `"`:                               true,
		`["\"` + strings.Repeat("[", 500) + `", "\\", {"` + `[[` + `":1}]`: true,
	} {
		task := fermata.NewTask{Title: "a", Runner: fermata.RunnerExternal, Spec: json.RawMessage(doc)}
		_, err := task.Create("task_1", fermata.SystemActor, noon)
		if (err == nil) != fine {
			t.Errorf("%.40s …: %v", doc, err)
		}
		end := fermata.Finish{Result: fermata.ResultCompleted, Details: json.RawMessage(doc), Checkpoint: json.RawMessage(doc)}
		if fine {
			continue
		}
		wantError(t, err, fermata.CodeInvalidRequest, "spec")
		wantError(t, end.Check(), fermata.CodeInvalidRequest, "details", "checkpoint")
	}
}
