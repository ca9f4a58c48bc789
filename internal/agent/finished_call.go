package agent

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/fermata-hq/fermata"
)

// FinishedCall is a finished tool call that the program reported.
type FinishedCall struct {
	// ID is the call's id, or empty if the program does not give it to hooks. In that case Tool identifies the call.
	// Tool is empty, too, if hooks and events use different names of tools.
	ID, Tool string
	// Failed is true if the call returned an error. A refusal is an error, too.
	Failed bool
}

// key returns the name by which both hooks and runner know the call.
func (r *FinishedCall) key() string {
	if r.ID != "" {
		return r.ID
	}
	return r.Tool
}

// tally counts the calls that the program reported.
type tally struct{ succeeded, total int }

// CallFilePrefix returns the prefix of the file names of a hook's notes about a call.
func CallFilePrefix(passed bool, key string) string {
	if passed {
		return PassedCall + fermata.Digest(key) + "-"
	}
	return RefusedCall + fermata.Digest(key) + "-"
}

// checkFinishedCall stops an agent that has run a call that no hook let through. Such a program does not call the hooks
// for every tool.
func (t *turn) checkFinishedCall(r *FinishedCall) {
	if t.Fermata == "" || t.ungated {
		return
	}
	n := t.finishedCalls[r.key()]
	n.total++
	if !r.Failed {
		n.succeeded++
	}
	t.finishedCalls[r.key()] = n
	passed, refused := t.countHookNotes(r.key())
	if n.succeeded <= passed && n.total <= passed+refused || r.ID != "" && (passed > 0 || r.Failed && refused > 0) {
		return
	}
	t.ungated, t.fatal = true, true
	t.trouble = "A call of the agent ran that no hook of the worker let through, so no gate keeps its tools from running. It was stopped."
	t.stop()
}

// countHookNotes counts the hooks' notes about a call. An empty key counts all calls.
func (t *turn) countHookNotes(key string) (passed, refused int) {
	entries, err := os.ReadDir(filepath.Join(t.Folder, CallsFolder))
	if err != nil {
		return 0, 0
	}
	for _, e := range entries {
		switch {
		case isCallNote(e.Name(), PassedCall, CallFilePrefix(true, key), key):
			passed++
		case isCallNote(e.Name(), RefusedCall, CallFilePrefix(false, key), key):
			refused++
		}
	}
	return passed, refused
}

func isCallNote(name, kind, one, key string) bool {
	return strings.HasPrefix(name, one) || key == "" && strings.HasPrefix(name, kind)
}
