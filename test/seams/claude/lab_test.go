//go:build lab

package claude

import (
	"testing"
	"time"

	"github.com/fermata-hq/fermata/test/process"
	"github.com/fermata-hq/fermata/test/seams"
)

// searched is the time during which new sequences are started.
const searched = 10 * time.Minute

var calmOn, roughOn = each, each

// The search also finds defects that only show with a coding agent.
func TestSeededBugsAreFound(t *testing.T) {
	for _, bug := range []struct{ tag, law string }{
		{"bug_begin_without_messages", "words-come-first"},
		{"bug_defer_without_words", "words-come-first"},
	} {
		t.Run(bug.tag, func(t *testing.T) {
			w := seams.NewWorld(t, process.Binary(t, process.TagFlag(bug.tag)), process.SQLite(t), seams.Real)
			found := seams.Search{Duration: 10 * time.Minute, Parallel: 2, UntilLaw: bug.law}.Run(w)
			f := found.Failures[bug.law]
			if f == nil {
				t.Fatalf("%d sequences with %d steps did not find %s", found.Sequences, found.Steps, bug.tag)
			}
			t.Logf("found after %d sequences: %s\n%s", found.Sequences, f.Breach.How[0], f.Sequence)
		})
	}
}
