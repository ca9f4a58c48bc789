package agent

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/fermata-hq/fermata"
)

// Ran is a finished tool call that the program reported.
type Ran struct {
	// ID is the call's id, or empty if the program does not give it to hooks. In that case Tool tells the calls of
	// different tools apart, if hooks and events use the same names of tools.
	ID, Tool string
	// Failed is true if the call returned an error. A refusal is an error, too.
	Failed bool
}

// key returns the name by which both hooks and runner know the call.
func (r *Ran) key() string {
	if r.ID != "" {
		return r.ID
	}
	return r.Tool
}

// tally counts the calls that the program reported.
type tally struct{ well, all int }

// NameCall returns how the name of a hook's note about a call begins.
func NameCall(passed bool, key string) string {
	if passed {
		return PassedCall + fermata.Digest(key) + "-"
	}
	return RefusedCall + fermata.Digest(key) + "-"
}

// checkRan stops an agent that has run a call that no hook let through. Such a program does not call the hooks for
// every tool.
func (t *turn) checkRan(r *Ran) {
	if t.Fermata == "" || t.ungated {
		return
	}
	n := t.ran[r.key()]
	n.all++
	if !r.Failed {
		n.well++
	}
	t.ran[r.key()] = n
	passed, refused := t.notes(r.key())
	if n.well <= passed && n.all <= passed+refused || r.ID != "" && (passed > 0 || r.Failed && refused > 0) {
		return
	}
	t.ungated, t.fatal = true, true
	t.trouble = "A call of the agent ran that no hook of the worker let through, so no gate keeps its tools from running. It was stopped."
	t.stop()
}

// notes counts the hooks' notes about a call. An empty key counts all calls.
func (t *turn) notes(key string) (passed, refused int) {
	entries, err := os.ReadDir(filepath.Join(t.Folder, CallsFolder))
	if err != nil {
		return 0, 0
	}
	for _, e := range entries {
		switch {
		case isNote(e.Name(), PassedCall, NameCall(true, key), key):
			passed++
		case isNote(e.Name(), RefusedCall, NameCall(false, key), key):
			refused++
		}
	}
	return passed, refused
}

func isNote(name, kind, one, key string) bool {
	return strings.HasPrefix(name, one) || key == "" && strings.HasPrefix(name, kind)
}
