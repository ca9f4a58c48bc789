package agent

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/fermata-hq/fermata"
)

// Ran is a call of a tool of which the program tells the end.
type Ran struct {
	// ID is the call's; empty where the program's hooks are told none. Tool then tells calls
	// of several tools apart, if both have the same names for them.
	ID, Tool string
	// Failed says that the call came to an error, which a refusal is, too.
	Failed bool
}

// key is what hooks and runner know the call by.
func (r *Ran) key() string {
	if r.ID != "" {
		return r.ID
	}
	return r.Tool
}

// tally counts the calls of which the program told.
type tally struct{ well, all int }

// NameCall is the name of the note that a hook leaves about a call.
func NameCall(passed bool, key string) string {
	if passed {
		return PassedCall + fermata.Digest(key) + "-"
	}
	return RefusedCall + fermata.Digest(key) + "-"
}

// checkRan stops an agent that has run a call which no hook let through: its program
// does not call the hooks for every tool.
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

// notes counts what hooks noted of calls: all where there is no key.
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
