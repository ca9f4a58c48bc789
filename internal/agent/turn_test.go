package agent

import (
	"testing"

	"github.com/fermata-hq/fermata"
)

// A message interrupts an agent at once, and so does the answer to a question that did not suspend the task. The answer
// to a question that suspends the task does not: the agent is about to end by itself.
func TestWhatInterruptsAtOnce(t *testing.T) {
	t.Parallel()
	closed := func(typ fermata.QuestionType, by fermata.ActorKind) *fermata.ResumeContext {
		return &fermata.ResumeContext{Questions: []fermata.ResumeAnswer{{Type: typ, Resolution: &fermata.Resolution{Status: fermata.Answered, DecidedBy: by}}}}
	}
	for name, tt := range map[string]struct {
		news *fermata.ResumeContext
		want bool
	}{
		"a message":                          {&fermata.ResumeContext{Messages: []fermata.Message{{}}}, true},
		"an answer beside the work":          {closed(fermata.NonBlocking, fermata.ActorHuman), true},
		"a default that time took":           {closed(fermata.NonBlocking, fermata.ActorTimeout), false},
		"an answer for which the agent ends": {closed(fermata.Blocking, fermata.ActorHuman), false},
		"an approval":                        {closed(fermata.Approval, fermata.ActorHuman), false},
	} {
		if got := (&turn{news: []*fermata.ResumeContext{tt.news}}).hasUrgentNews(); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
