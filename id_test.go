package fermata_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fermata-hq/fermata"
)

var prefixes = []string{
	fermata.PrefixTask, fermata.PrefixQuestion, fermata.PrefixRun, fermata.PrefixMessage, fermata.PrefixToken, fermata.PrefixMember,
}

func TestIDSortsByTime(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		millis := rapid.Int64Range(0, time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC).UnixMilli())
		a, b := millis.Draw(t, "a"), millis.Draw(t, "b")
		if a == b {
			return
		}
		prefix := rapid.SampledFrom(prefixes).Draw(t, "prefix")
		first, second := fermata.NewID(prefix, time.UnixMilli(a)), fermata.NewID(prefix, time.UnixMilli(b))
		if (first < second) != (a < b) {
			t.Fatalf("%d %s, %d %s", a, first, b, second)
		}
	})
}

// TestIDsOfOneMillisecondSortAsMade checks that ids of one millisecond sort in the order of their creation. It also
// creates ids of other milliseconds in between, like a process with several clocks.
func TestIDsOfOneMillisecondSortAsMade(t *testing.T) {
	t.Parallel()
	last := ""
	for i := range 1000 {
		id := fermata.NewID(fermata.PrefixMessage, noon)
		if id <= last {
			t.Fatalf("%s was made after %s and sorts before it", id, last)
		}
		last = id
		fermata.NewID(fermata.PrefixMessage, noon.Add(time.Duration(1+i%40)*time.Millisecond))
	}
}

func TestIDIsFoundByItsEnding(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		prefix := rapid.SampledFrom(prefixes).Draw(t, "prefix")
		id := fermata.NewID(prefix, noon)
		if !fermata.IsID(prefix, id) {
			t.Fatalf("%s is no id", id)
		}
		ending := id[len(id)-rapid.IntRange(fermata.MinIDSuffix, 20).Draw(t, "length"):]
		typed := rapid.SampledFrom([]string{ending, prefix + "_" + ending, " " + ending + "\n", strings.ToUpper(ending), strings.ToUpper(prefix + "_" + ending)}).Draw(t, "typed")
		if got, ok := fermata.IDSuffix(prefix, typed); !ok || got != ending {
			t.Fatalf("%q is the ending %q (%v), want %q", typed, got, ok, ending)
		}
	})
}

func TestIDRefusesWhatIsNone(t *testing.T) {
	t.Parallel()
	id := fermata.NewID(fermata.PrefixTask, noon)
	for _, s := range []string{"", " ", "task_", "q_0123", id + "0", "%", "_", "a'b", "0123i", "ä", "01 23", "task_task_0", "\x00", id[len(id)-5:], id[len(id)-2:]} {
		if got, ok := fermata.IDSuffix(fermata.PrefixTask, s); ok {
			t.Errorf("%q is taken for the ending %q", s, got)
		}
	}
	for _, s := range []string{"", "task_", id[1:], id + "0", id[:len(id)-1], strings.ToUpper(id), "q_" + id[5:], id[:len(id)-1] + "%", id[:len(id)-2] + "ä"} {
		if fermata.IsID(fermata.PrefixTask, s) {
			t.Errorf("%q is taken for an id", s)
		}
	}
}

func TestIDIsUnique(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 10_000 {
		id := fermata.NewID(fermata.PrefixQuestion, noon)
		if seen[id] {
			t.Fatalf("%s twice", id)
		}
		seen[id] = true
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	in := time.Date(2026, 11, 21, 13, 0, 0, 1_999_999, time.FixedZone("elsewhere", 3600))
	if got := fermata.TruncateTime(in); !got.Equal(noon.Add(time.Millisecond)) || got.Location() != time.UTC {
		t.Error(got)
	}
}
