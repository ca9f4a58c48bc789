package test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the ring table into the pages that show it")

// ringTableHeader is the first line of the ring table in a page. The table ends with the next empty line.
const ringTableHeader = "| ring | rooms | may import |\n| --- | --- | --- |\n"

// TestPagesShowTheRingTable compares the ring table of pages with the rooms. With -update it writes the table.
func TestPagesShowTheRingTable(t *testing.T) {
	t.Parallel()
	want := ringTable()
	for _, name := range []string{"CONTRIBUTING.md", "AGENTS.md"} {
		path := filepath.Join("..", name)
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		before, rest, hasTable := strings.Cut(string(page), ringTableHeader)
		got, after, hasEnd := strings.Cut(rest, "\n\n")
		if !hasTable || !hasEnd {
			t.Fatalf("%s has no ring table that begins with %q and ends with an empty line", name, ringTableHeader)
		}
		switch {
		case got+"\n" == want:
		case *update:
			if err := os.WriteFile(path, []byte(before+ringTableHeader+want+"\n"+after), 0o600); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("%s shows another ring table than test/rings_test.go; to write it: go test ./test -run %s -update", name, t.Name())
		}
	}
}

// ringTable returns the rows of the table: one row for all rooms of a ring that may import the same.
func ringTable() string {
	var table strings.Builder
	// Rooms share a row if the rest of the row is the same.
	type row struct {
		ring    int
		allowed string
	}
	var rows []row
	names := map[row][]string{}
	for _, r := range rooms {
		key := row{r.ring, r.allowed()}
		if names[key] == nil {
			rows = append(rows, key)
		}
		names[key] = append(names[key], r.describe())
	}
	slices.SortStableFunc(rows, func(a, b row) int { return a.ring - b.ring })
	for _, r := range rows {
		fmt.Fprintf(&table, "| %d | %s | %s |\n", r.ring, strings.Join(names[r], ", "), r.allowed)
	}
	return table.String()
}

// describe returns the name of the room, and what it is for if the name does not say it.
func (r room) describe() string {
	name := "`" + strings.TrimPrefix(r.folder, "internal/") + "`"
	if r.folder == "." {
		name = "the root"
	}
	if r.note != "" {
		name += " (" + r.note + ")"
	}
	return name
}

// allowed returns what the room may import.
func (r room) allowed() string {
	var parts []string
	switch r.upTo {
	case none:
	case 0:
		parts = append(parts, "ring 0")
	default:
		parts = append(parts, fmt.Sprintf("rings 0 to %d", r.upTo))
	}
	for _, folder := range r.also {
		parts = append(parts, "`"+strings.TrimPrefix(folder, "internal/")+"`")
	}
	if r.bare {
		return strings.Join(append(parts, "the standard library"), ", ")
	}
	return strings.Join(append(parts, "libraries"), ", ")
}
