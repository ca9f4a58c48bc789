package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// racedPackages are the packages in which goroutines share memory. Elsewhere the race detector costs more than it finds, and
// `make crash` runs it there.
var racedPackages = []string{"internal/engine", "internal/store", "internal/delivery", "internal/worker"}

// Each of these lists of folders is a group. Tests of the group truth are never repeated: the faults that they find do
// not show in every run.
var (
	truth    = []string{"test/crash", "test/race", "test/replicas"}
	agents   = []string{"test/acp", "test/agent", "test/agents", "test/claude", "test/desk"}
	journeys = []string{"test/web"}
)

// slowPackages are the packages that take longest. They start first: if one of them started last, it would run alone.
var slowPackages = []string{
	"internal/engine", "internal/worker", "internal/channel/email", "internal/channel/channeltest", "internal/workflow",
	"test/seams", "test/stories", "test/webhooks", "test/workers", "test/mails", "test/versions", "test/seams/claude", "test/gate",
	"test/agents", "test/claude",
}

const (
	// packagesAtOnce is how many packages of the groups rooms and processes run at the same time. It is more than the
	// number of processors, because their tests also wait.
	packagesAtOnce = 4
	// agentsAtOnce is how many packages that start real agents run at the same time. One agent keeps one processor
	// busy.
	agentsAtOnce = 2
)

// The race detector leaves SQLite out: the code is translated from C, takes its own locks and would run three times
// slower. A package that is left out must use no generic functions. The linker may take its copies of those, for example of
// sync.Map, for the whole program: the detector then sees no synchronization there and reports races that are none.
var raceFlags = []string{"-race", "-gcflags=modernc.org/sqlite/lib=-race=false"}

// groups returns the groups of the gate in their order.
func groups(g *gate) []*group {
	const limit = 25 * time.Minute
	atOnce := fmt.Sprint("-p=", packagesAtOnce)
	rooms := []suite{
		{name: "race", packages: folders(racedPackages...), flags: append([]string{atOnce}, raceFlags...), cgo: true, limit: limit},
		{name: "rooms", packages: allExcept(allPackages, folders("test"), folders(racedPackages...)), flags: []string{atOnce}, limit: limit},
	}
	rest := suite{name: "processes", flags: []string{atOnce}, packages: allExcept(folders("test"), folders(truth...), folders(agents...), folders(journeys...)), limit: limit}
	return []*group{
		{name: "prepare", description: "tools, packages, the interface, the program", always: true, run: g.steps(prepare)},
		{name: "static", description: "format, vet and lint; lint and tests of the interface", run: g.steps(static)},
		g.testGroup("rooms", "the packages of the program", rooms...),
		g.testGroup("processes", "the program driven from outside", rest),
		g.testGroup("truth", "crashes, races and replicas",
			// Five tests of replicas mostly wait for a time limit of the product, so they run at the same time.
			suite{name: "truth", packages: folders(truth...), flags: []string{"-p=2", "-parallel=5"}, noRepeats: true, limit: limit}),
		g.testGroup("agents", "real agent programs, two at a time",
			suite{name: "agents", packages: folders(agents...), flags: []string{fmt.Sprint("-p=", agentsAtOnce), "-parallel=1"}, limit: limit}),
		g.testGroup("journeys", "the browser, with nothing beside it",
			suite{name: "journeys", packages: folders(journeys...), limit: time.Hour}),
	}
}

// testGroup returns a group of tests.
func (g *gate) testGroup(name, what string, suites ...suite) *group {
	includes := func(folder string) bool {
		return slices.ContainsFunc(suites, func(s suite) bool { return s.packages(folder) })
	}
	return &group{name: name, description: what, includes: includes, run: g.suites(name, suites...)}
}

// chooser reports whether the package in a folder belongs to a suite. The folder is relative to the module.
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

func allPackages(string) bool { return true }

func allExcept(some chooser, without ...chooser) chooser {
	return func(folder string) bool {
		for _, other := range without {
			if other(folder) {
				return false
			}
		}
		return some(folder)
	}
}

// binary returns the path of the program that the tests start.
func (g *gate) binary() string { return filepath.Join(g.results, "fermata") }

// pictures returns the folder for screenshots of pages on which a test failed.
func (g *gate) pictures() string { return filepath.Join(g.results, "pictures") }
