package channeltest

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/test/standin"
)

// Heard is a message that a machine took: its id, what it is called, and the
// question that it is about.
type Heard struct{ ID, Type, Question string }

// RunMachine checks the promises of a channel to machines, which do not
// answer: told once of a question and once of every kind of end, and again
// under the same id when an operator says so. What was heard must be signed.
func RunMachine(t *testing.T, c Config, heard func(r standin.Remote) []Heard) {
	t.Parallel()
	l := newLab(t, c)
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			q := l.ask(fermata.Ask{Title: "How it ends: " + name, Question: "Which format?", Options: choice, Timeout: end.timeout})
			l.sees("ann", q)
			l.ok(end.do(l, q))
			want := map[string]int{"question.asked": 1, end.event: 1, "notice.asked": 1, "notice.closed": 1}
			l.await("everything is heard", func() bool { return len(l.heard(heard, q)) >= len(want) })
			if diff := cmp.Diff(want, l.heard(heard, q)); diff != "" {
				t.Errorf("what was heard (-want +got):\n%s", diff)
			}
			l.redelivered(heard, q)
		})
	}
	l.scanned()
}

// heard counts by type what was heard of a question.
func (l *lab) heard(heard func(r standin.Remote) []Heard, q *fermata.Question) map[string]int {
	counted := map[string]int{}
	for _, h := range heard(l.remote) {
		if h.Question == q.ID {
			counted[h.Type]++
		}
	}
	return counted
}

// redelivered has the question told once more.
func (l *lab) redelivered(heard func(r standin.Remote) []Heard, q *fermata.Question) {
	l.Helper()
	i := slices.IndexFunc(heard(l.remote), func(h Heard) bool { return h.Question == q.ID && h.Type == "question.asked" })
	first := heard(l.remote)[i]
	var row *fermata.Delivery
	l.await("it is noted as sent", func() bool {
		rows, _, err := l.admin.Deliveries(l.Context(), client.DeliveryQuery{State: fermata.DeliverySent, Limit: 500})
		l.ok(err)
		at := slices.IndexFunc(rows, func(d *fermata.Delivery) bool { return d.ID == first.ID })
		if at >= 0 {
			row = rows[at]
		}
		return at >= 0
	})
	_, err := l.admin.Redeliver(l.Context(), row.ID)
	l.ok(err)
	l.await("it is heard again", func() bool {
		n := 0
		for _, h := range heard(l.remote) {
			if h == first {
				n++
			}
		}
		return n == 2
	})
}
