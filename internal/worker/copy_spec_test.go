package worker

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
)

// The server refuses such a spec, but the worker does not rely on that.
func TestSpecOfAWorkingCopyIsChecked(t *testing.T) {
	t.Parallel()
	for spec, words := range map[string]string{
		`{"working_copy": "../up"}`:                    "cannot name a folder",
		`{"working_copy": 7}`:                          "working_copy is a number",
		`{"push": "yes"}`:                              "push is a string",
		`{"from": "../up"}`:                            "cannot name a branch",
		`{"from": 7}`:                                  "from is a number",
		`{"from": "task_2", "working_copy": "task_2"}`: "from begins a working copy of its own",
	} {
		_, err := readCopySpec(&fermata.Task{ID: "task_1", Spec: json.RawMessage(spec)})
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v, want %q", spec, err, words)
		}
	}
}
