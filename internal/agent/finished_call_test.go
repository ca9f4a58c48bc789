package agent

import (
	"os"
	"path/filepath"
	"testing"
)

// Only a call that a hook let through may have run. If calls have no ids, there may not be more calls than hooks let
// through.
func TestWhichCallsMayHaveRun(t *testing.T) {
	t.Parallel()
	const passed, refused = true, false
	type note struct {
		passed bool
		key    string
	}
	for name, tt := range map[string]struct {
		notes []note
		ran   []FinishedCall
		ok    bool
	}{
		"let through":                {[]note{{passed, "c1"}}, []FinishedCall{{ID: "c1"}}, true},
		"let through, and failed":    {[]note{{passed, "c1"}}, []FinishedCall{{ID: "c1", Failed: true}}, true},
		"told twice":                 {[]note{{passed, "c1"}}, []FinishedCall{{ID: "c1"}, {ID: "c1"}}, true},
		"refused":                    {[]note{{refused, "c1"}}, []FinishedCall{{ID: "c1", Failed: true}}, true},
		"counted":                    {[]note{{passed, "c1"}}, []FinishedCall{{}}, true},
		"counted by the tool":        {[]note{{passed, "Bash"}}, []FinishedCall{{Tool: "Bash"}}, true},
		"counted, refused":           {[]note{{refused, "c1"}}, []FinishedCall{{Failed: true}}, true},
		"never seen":                 {nil, []FinishedCall{{ID: "c1"}}, false},
		"never seen, and failed":     {nil, []FinishedCall{{ID: "c1", Failed: true}}, false},
		"another was seen":           {[]note{{passed, "c2"}}, []FinishedCall{{ID: "c1"}}, false},
		"refused, and ran":           {[]note{{refused, "c1"}}, []FinishedCall{{ID: "c1"}}, false},
		"counted, and never seen":    {nil, []FinishedCall{{}}, false},
		"counted, refused, and ran":  {[]note{{refused, "c1"}}, []FinishedCall{{}}, false},
		"counted, one too many":      {[]note{{passed, "c1"}}, []FinishedCall{{}, {}}, false},
		"counted, by another's name": {[]note{{passed, "Read"}}, []FinishedCall{{Tool: "Bash"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			if err := os.Mkdir(filepath.Join(folder, CallsFolder), 0o700); err != nil {
				t.Fatal(err)
			}
			for _, n := range tt.notes {
				if err := os.WriteFile(filepath.Join(folder, CallsFolder, CallFilePrefix(n.passed, n.key)+"1"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			stopped := false
			tr := &turn{Turn: &Turn{Folder: folder, Options: Options{Fermata: "/bin/fermata"}}, finishedCalls: map[string]tally{}, stop: func() { stopped = true }}
			for i := range tt.ran {
				tr.checkFinishedCall(&tt.ran[i])
			}
			if tr.ungated == tt.ok || stopped == tt.ok {
				t.Errorf("stopped: %t, ungated: %t", stopped, tr.ungated)
			}
		})
	}
}
