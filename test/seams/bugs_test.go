package seams

import (
	"math/rand/v2"
	"testing"

	"github.com/fermata-hq/fermata/test/process"
)

// bugs are seeded defects, each with its build tag, the law that the search must find broken, and a sequence that shows
// the defect.
var bugs = []struct{ tag, law, shown string }{
	{"bug_end_over_unread", "words-reach-agents", "create A; message A beside; agent-ends A"},
	{"bug_resume_keeps_question", "deciding-yourself-closes", "create A; agent-ends A 2; resume A 1; agent-ends A"},
	{"bug_gate_after_end", "no-leave-after-stop", "create A; agent-child A; pause A; message A; late-gate A; resume A"},
	{"bug_stop_without_kill", "no-effect-after-stop", "create A; agent-deaf A; cancel A; agent-looks A at-once; late-gate A"},
	{"bug_pause_goes_on", "paused-stays-paused", "create A; agent-child A; pause A; message A; late-gate A; resume A"},
	{"bug_attention_silent", "words-arrive-at-once", "create A; message A; agent-looks A"},
	{process.BugSettleClosed, "one-end-a-question", "create A; agent-asks A 1; answer A 1 at-once beside; answer A 3"},
}

// A search that does not find known defects proves nothing.
func TestSeededBugsAreFound(t *testing.T) {
	t.Parallel()
	chosen := bugs
	if !allBugs {
		chosen = bugs[rand.N(len(bugs)):][:1]
	}
	for _, bug := range chosen {
		t.Run(bug.tag, func(t *testing.T) {
			w := NewWorld(t, process.Binary(t, process.TagFlag(bug.tag)), process.SQLite(t), Calm)
			w.pace = hurriedPace
			search := Search{Duration: findsWithin, Parallel: 6, Corpus: corpusFirst, UntilLaw: bug.law}
			if corpusFirst {
				search.FirstSequence, search.Parallel = bug.shown, 3
			}
			found := search.Run(w)
			f := found.Failures[bug.law]
			if f == nil {
				t.Fatalf("%d sequences with %d steps did not find %s: %s", found.Sequences, found.Steps, bug.tag, found.tally())
			}
			t.Logf("found after %d sequences: %s\n%s", found.Sequences, f.Breach.How[0], f.Sequence)
		})
	}
}
