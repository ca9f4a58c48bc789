package insight

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// tally counts how questions ended.
type tally struct {
	pending, answered, byRule, timedOut, cancelled, reflex int64
	// answersByTime is the number of people's answers by the time they took.
	answersByTime map[time.Duration]int64
}

// add adds questions with the same end.
func (t *tally) add(c store.ClosingCount) {
	switch c.Status {
	case fermata.Pending:
		t.pending += c.N
	case fermata.TimedOut:
		t.timedOut += c.N
	case fermata.Cancelled:
		t.cancelled += c.N
	case fermata.Answered:
		if c.DecidedBy != fermata.ActorHuman {
			t.byRule += c.N
			return
		}
		t.answered += c.N
		if c.AnswerTime < fermata.ReflexLimit {
			t.reflex += c.N
		}
		if t.answersByTime == nil {
			t.answersByTime = map[time.Duration]int64{}
		}
		t.answersByTime[c.AnswerTime] += c.N
	}
}

// total returns the number of questions in the tally.
func (t *tally) total() int64 { return t.pending + t.answered + t.byRule + t.timedOut + t.cancelled }

func (t *tally) figures() fermata.Figures {
	return fermata.Figures{
		Asked: t.total(), Pending: t.pending, AnswerFigures: t.answers(), ByRule: t.byRule, TimedOut: t.timedOut, Cancelled: t.cancelled,
		TimeoutRate: share(t.timedOut, t.answered+t.timedOut),
	}
}

func (t *tally) answers() fermata.AnswerFigures {
	return fermata.AnswerFigures{
		Answered: t.answered, Reflex: share(t.reflex, t.answered),
		TimeToAnswer: fermata.Times{Median: t.quantile(0.5), P90: t.quantile(0.9), N: t.answered},
	}
}

// share returns a part of a whole, rounded to four digits.
func share(part, whole int64) fermata.Share {
	if whole == 0 {
		return fermata.Share{}
	}
	value := math.Round(float64(part)/float64(whole)*1e4) / 1e4
	return fermata.Share{Value: &value, N: whole}
}

// quantile returns the time in seconds within which the given part of the
// answers came. It is the time of the answer at the nearest rank; nothing is
// interpolated.
func (t *tally) quantile(part float64) *float64 {
	if t.answered == 0 {
		return nil
	}
	rank := int64(math.Ceil(part * float64(t.answered)))
	for _, took := range slices.Sorted(maps.Keys(t.answersByTime)) {
		if rank -= t.answersByTime[took]; rank <= 0 {
			// Duration.Seconds would give 2.7199999999999998.
			seconds := float64(took.Milliseconds()) / 1000
			return &seconds
		}
	}
	return nil
}

// tallies are tallies by key, such as a type or a project.
type tallies map[string]*tally

func newTallies(lists ...[]store.ClosingCount) tallies {
	all := tallies{}
	for _, counts := range lists {
		for _, c := range counts {
			all.tallyOf(c.Key).add(c)
		}
	}
	return all
}

// tallyOf returns the tally of a key. It adds one if there is none.
func (ts tallies) tallyOf(key string) *tally {
	t := ts[key]
	if t == nil {
		t = &tally{}
		ts[key] = t
	}
	return t
}

// maxRows is the largest length of a list, except that of the most common
// questions.
const maxRows = 200

// busiestKeys returns the keys, the one with the most questions first.
func (ts tallies) busiestKeys() []string {
	keys := slices.Sorted(maps.Keys(ts))
	slices.SortStableFunc(keys, func(a, b string) int { return int(ts[b].total() - ts[a].total()) })
	return keys[:min(len(keys), maxRows)]
}
