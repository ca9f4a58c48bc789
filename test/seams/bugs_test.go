package seams

import (
	"math/rand/v2"
	"testing"

	"github.com/fermata-hq/fermata/test/process"
)

// bugs are defects that a build tag puts back, each with the law that must be found
// broken.
var bugs = []struct{ tag, law string }{
	{"bug_end_over_unread", "words-reach-agents"},
	{"bug_resume_keeps_question", "deciding-yourself-closes"},
	{"bug_gate_after_end", "no-leave-after-stop"},
	{"bug_stop_without_kill", "no-effect-after-stop"},
	{"bug_pause_goes_on", "paused-stays-paused"},
	{"bug_attention_silent", "words-arrive-at-once"},
	{process.BugSettleClosed, "one-end-a-question"},
}

// An instrument that does not find what is known to be wrong finds nothing.
func TestSeededBugsAreFound(t *testing.T) {
	t.Parallel()
	chosen := bugs
	if !allBugs {
		chosen = bugs[rand.N(len(bugs)):][:1]
	}
	for _, bug := range chosen {
		t.Run(bug.tag, func(t *testing.T) {
			w := NewWorld(t, process.Binary(t, process.Tag(bug.tag)), process.SQLite(t), Calm)
			w.pace = hurried
			found := Search{For: findsWithin, Together: 6, Corpus: corpusFirst, Until: bug.law}.Run(w)
			f := found.Failures[bug.law]
			if f == nil {
				t.Fatalf("%d sequences with %d steps did not find %s: %s", found.Sequences, found.Steps, bug.tag, found.tally())
			}
			t.Logf("found after %d sequences: %s\n%s", found.Sequences, f.Broken.How[0], f.Sequence)
		})
	}
}
