package main

import (
	"path/filepath"
	"strings"
	"time"
)

// raced are the rooms where goroutines share memory; elsewhere the race detector costs more than it finds, and
// `make crash` runs it.
var raced = []string{"internal/engine", "internal/store", "internal/delivery", "internal/worker"}

// The folders below test/ that are a group of their own. The tests of truth are never repeated: what they
// find shows now and then.
var (
	truth    = []string{"test/crash", "test/race", "test/replicas"}
	agents   = []string{"test/acp", "test/agent", "test/agents", "test/claude", "test/desk"}
	journeys = []string{"test/web"}
)

// The detector watches our code. SQLite itself, translated from C, is left out: it takes locks of its own, and
// watched it is three times slower.
var raceFlags = []string{"-trimpath", "-race", "-gcflags=modernc.org/...=-race=false"}

// groups returns the groups of the gate in their order.
func groups(g *gate) []*group {
	const limit = 25 * time.Minute
	drivers := []string{"-trimpath"} // packages that start the program and hold no part of it
	rooms := []suite{
		{name: "race", packages: folders(raced...), flags: raceFlags, cgo: true, limit: limit},
		{name: "rooms", packages: except(outside("test"), folders(raced...)), flags: drivers, limit: limit},
	}
	rest := suite{name: "processes", packages: except(folders("test"), folders(truth...), folders(agents...), folders(journeys...)), flags: drivers, limit: limit}
	return []*group{
		{name: "prepare", what: "tools, packages, the interface, the program", always: true, run: g.steps(prepare)},
		{name: "static", what: "format, vet, lint, types and tests of the interface", run: g.steps(static)},
		{name: "rooms", what: "the packages of the program", tests: true, run: g.suites("rooms", rooms...)},
		{name: "processes", what: "the program driven from outside", tests: true, run: g.suites("processes", rest)},
		{name: "truth", what: "crashes, races and replicas", tests: true, run: g.suites("truth",
			suite{name: "truth", packages: folders(truth...), flags: append(drivers, "-p=1"), once: true, limit: limit})},
		{name: "agents", what: "real agent programs, one at a time", tests: true, run: g.suites("agents",
			suite{name: "agents", packages: folders(agents...), flags: append(drivers, "-p=1", "-parallel=1"), limit: limit})},
		{name: "journeys", what: "the browser, with nothing beside it", tests: true, run: g.suites("journeys",
			suite{name: "journeys", packages: folders(journeys...), flags: drivers, limit: time.Hour})},
	}
}

// chooser decides by its folder, relative to the module, whether a package belongs to a suite.
type chooser func(folder string) bool

func folders(names ...string) chooser {
	return func(folder string) bool {
		for _, name := range names {
			if folder == name || strings.HasPrefix(folder, name+"/") {
				return true
			}
		}
		return false
	}
}

func outside(name string) chooser { return except(func(string) bool { return true }, folders(name)) }

func except(some chooser, without ...chooser) chooser {
	return func(folder string) bool {
		for _, other := range without {
			if other(folder) {
				return false
			}
		}
		return some(folder)
	}
}

// binary is the program that the tests drive.
func (g *gate) binary() string { return filepath.Join(g.results, "fermata") }
