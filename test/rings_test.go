package test

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

const module = "github.com/fermata-hq/fermata"

// room is a folder of packages with one job. A "*" in its folder matches one element of a path:
// internal/channel/slack and internal/channel/push are two rooms.
type room struct {
	folder string
	ring   int
	upTo   int      // it may import every room of the rings 0 to upTo; with none, no room at all
	also   []string // and these rooms; a "*" matches one element here, too
	bare   bool     // outside the module, it may import only the standard library
	note   string   // what the room is for, if its name does not say it
}

const none = -1

// rooms is the ring table of the architecture, from the inside out. After a change, write its copies into the pages:
// go test ./test -run TestPagesShowTheRingTable -update.
var rooms = []room{
	{folder: ".", ring: 0, upTo: none, bare: true, note: "package `fermata`"},
	{folder: "internal/process", ring: 0, upTo: none, bare: true},
	{folder: "internal/scriptedmodel", ring: 0, upTo: none, bare: true},
	{folder: "internal/agent", ring: 0, upTo: 0, bare: true},
	{folder: "internal/notice", ring: 0, upTo: 0, bare: true},
	// The first matching entry counts, so a room inside another one comes before it.
	{folder: "internal/tool/github", ring: 3, upTo: 0, also: []string{"internal/channel/github"}},
	{folder: "internal/tool/*", ring: 3, upTo: 0},
	{folder: "internal/tool", ring: 0, upTo: 0, bare: true},
	{folder: "internal/posting", ring: 0, upTo: 0, bare: true},
	{folder: "internal/outbound", ring: 0, upTo: 0, note: "makes all clients for addresses that people give"},
	{folder: "internal/lazyregexp", ring: 0, upTo: none, bare: true, note: "compiles regular expressions at their first use"},
	{folder: "internal/strictjson", ring: 0, upTo: 0, note: "refuses unknown fields of requests"},
	{folder: "internal/private", ring: 0, upTo: none, bare: true, note: "keeps files to their owner"},
	{folder: "internal/keys", ring: 0, upTo: 0, bare: true, note: "keys that must not be in the database"},
	{folder: "internal/checkpoint", ring: 0, upTo: 0},
	{folder: "internal/passkey", ring: 0, upTo: 0},
	{folder: "internal/witness", ring: 0, upTo: 0, bare: true},
	{folder: "internal/workflow/definition", ring: 0, upTo: 0}, // before internal/workflow, which holds it

	{folder: "internal/store", ring: 1, upTo: 0},
	{folder: "internal/redact", ring: 1, upTo: 0},

	{folder: "internal/engine", ring: 2, upTo: 1},

	{folder: "internal/access", ring: 3, upTo: 2},
	{folder: "internal/delivery", ring: 3, upTo: 2},
	{folder: "internal/workflow", ring: 3, upTo: 2},
	{folder: "internal/insight", ring: 3, upTo: 2},

	{folder: "internal/channel/*", ring: 3, upTo: 0},
	{folder: "internal/runner/*", ring: 3, upTo: 0},
	{folder: "client", ring: 3, upTo: 0},
	{folder: "internal/demoagent", ring: 3, upTo: 0},
	{folder: "internal/agentcheck", ring: 3, upTo: 0, also: []string{"client"}},

	{folder: "internal/api", ring: 4, upTo: 3},
	{folder: "internal/mcpserver", ring: 4, upTo: 3},

	// The rooms of the command line stand on each other in this order. Commands of two rooms share no code of their own.
	{folder: "internal/cli/terminal", ring: 4, upTo: 0},
	{folder: "internal/cli/render", ring: 4, upTo: 0, also: []string{"internal/cli/terminal"}},
	{folder: "internal/cli/session", ring: 4, upTo: 0, also: []string{"client", "internal/config", "internal/cli/terminal", "internal/cli/render"}},
	{folder: "internal/cli/answer", ring: 4, upTo: 0, also: cliBase},
	{folder: "internal/cli/drawing", ring: 4, upTo: 0, also: cliBase},
	{folder: "internal/cli/hook", ring: 4, upTo: 0, also: cliBase},
	{folder: "internal/cli/*", ring: 4, upTo: 0, also: append([]string{"internal/cli/answer", "internal/cli/drawing", "internal/cli/hook"}, cliBase...), note: "the other commands"},
	{folder: "internal/cli", ring: 4, upTo: 0, also: []string{"client", "internal/config", "internal/cli/*"}, note: "the grammar and small commands"},
	{folder: "internal/worker", ring: 4, upTo: 0, also: []string{"client"}},
	{folder: "internal/config", ring: 4, upTo: 0},
	{folder: "web", ring: 4, upTo: none, bare: true},

	{folder: "internal/app", ring: 5, upTo: 5},
	{folder: "cmd/*", ring: 5, upTo: 5},
	{folder: "examples/*", ring: 5, upTo: 0, also: []string{"client"}},

	testRoom,
	{folder: "internal/testkit", ring: testRoom.ring, upTo: testRoom.ring, note: "what the tests of several packages share"},
}

// cliBase are the rooms that every room with commands may import.
var cliBase = []string{"client", "internal/config", "internal/cli/terminal", "internal/cli/render", "internal/cli/session"}

// testRoom is the room of storetest, channeltest, runnertest and the folder test. It may import
// everything, and no code of the program may import it.
var testRoom = room{folder: "test", ring: 6, upTo: 6}

// fence allows some packages from outside the module only in certain folders.
type fence struct {
	packages []string // these and what is below them
	folders  []string
	why      string
}

// fences are checked in order. The first fence that names the package decides.
var fences = []fence{
	{
		packages: []string{
			"database/sql", "github.com/jackc/pgx", "github.com/pressly/goose", "modernc.org/sqlite",
		},
		folders: []string{"internal/store"},
		why:     "databases and their drivers stay in store",
	},
}

// source is a Go file: its path from the root of the module, with slashes, and its imports.
type source struct {
	path    string
	imports []string
}

// check returns one line for every import that the table does not allow, and for every file
// outside the known rooms.
func check(sources []source) []string {
	var faults []string
	for _, s := range sources {
		from, ok := findRoom(path.Dir(s.path))
		if !ok {
			faults = append(faults, fmt.Sprintf("%s: %s is no room; add it to the ring table in test/rings_test.go", s.path, path.Dir(s.path)))
			continue
		}
		for _, imported := range s.imports {
			if rule := refuse(from, s.path, imported); rule != "" {
				faults = append(faults, fmt.Sprintf("%s imports %s%s", s.path, strings.TrimPrefix(imported, module+"/"), rule))
			}
		}
	}
	return faults
}

// refuse returns the rule that an import breaks, or "". Tests may import everything: the rings are
// rules for the program.
func refuse(from room, file, imported string) string {
	isTest := strings.HasSuffix(file, "_test.go")
	if imported != module && !strings.HasPrefix(imported, module+"/") {
		if isTest || from.ring == testRoom.ring {
			return ""
		}
		return refuseOutside(from, imported)
	}
	folder := "."
	if imported != module {
		folder = strings.TrimPrefix(imported, module+"/")
	}
	to, ok := findRoom(folder)
	switch {
	case !ok:
		return ", which is no room; add it to the ring table in test/rings_test.go"
	case isTest || from.folder == to.folder || to.ring <= from.upTo || slices.ContainsFunc(from.also, to.isIn):
		return ""
	}
	return ": " + from.rule()
}

func refuseOutside(from room, imported string) string {
	standard, _, _ := strings.Cut(imported, "/")
	if from.bare && strings.Contains(standard, ".") {
		return fmt.Sprintf(": %s (ring %d) may import only the standard library", from.name(), from.ring)
	}
	for _, f := range fences {
		below := func(p string) bool { return imported == p || strings.HasPrefix(imported, p+"/") }
		if !slices.ContainsFunc(f.packages, below) {
			continue
		}
		inside := func(folder string) bool { ok, _ := path.Match(folder, from.folder); return ok }
		if slices.ContainsFunc(f.folders, inside) {
			return ""
		}
		return ": " + f.why
	}
	return ""
}

// findRoom returns the room of a folder, with the matched element instead of "*".
func findRoom(folder string) (room, bool) {
	parts := strings.Split(folder, "/")
	for _, r := range rooms {
		n := strings.Count(r.folder, "/") + 1
		if len(parts) < n {
			continue
		}
		name := strings.Join(parts[:n], "/")
		if ok, err := path.Match(r.folder, name); err != nil || !ok {
			continue
		}
		if isTestRoom(parts) {
			return testRoom, true
		}
		r.folder = name
		return r, true
	}
	return room{}, false
}

// isTestRoom reports whether the path is in a test room, which has the name of the room around it and
// the ending test: storetest in store, channeltest in channel.
func isTestRoom(parts []string) bool {
	return slices.ContainsFunc(parts, func(p string) bool {
		of, ok := strings.CutSuffix(p, "test")
		return ok && slices.Contains(parts, of)
	})
}

// isIn reports whether the folder of the room fits a pattern.
func (r room) isIn(pattern string) bool { ok, _ := path.Match(pattern, r.folder); return ok }

func (r room) name() string {
	if r.folder == "." {
		return "root"
	}
	return strings.TrimPrefix(r.folder, "internal/")
}

func (r room) rule() string {
	var may []string
	switch r.upTo {
	case none:
		may = []string{"no other room"}
	case 0:
		may = []string{"root"}
	default:
		may = []string{fmt.Sprintf("rings 0 to %d", r.upTo)}
	}
	for _, folder := range r.also {
		may = append(may, room{folder: folder}.name())
	}
	list := may[0]
	if n := len(may) - 1; n > 0 {
		list = strings.Join(may[:n], ", ") + " and " + may[n]
	}
	return fmt.Sprintf("%s (ring %d) may import %s", r.name(), r.ring, list)
}
