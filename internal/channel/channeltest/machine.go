package channeltest

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/test/standin"
)

// HeardMessage is a message that a machine received: its id, its type and the id of
// its question.
type HeardMessage struct{ ID, Type, Question string }

// RunMachine checks the promises of a channel to machines, which do not answer.
// A machine receives one message about a question and one about its end, for
// every kind of end. If an operator redelivers a message, the machine receives
// it again under the same id. The function heard must return only signed
// messages.
func RunMachine(t *testing.T, c Config, heard func(tb testing.TB, r standin.Remote) []HeardMessage) {
	t.Parallel()
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &machine{harness: newHarness(t, c), read: heard}
			want := map[string]int{"question.asked": 1, "notice.asked": 1}
			q := m.askUntilTold("How it ends: "+name, end.timeout, func(q *fermata.Question) bool { return cmp.Equal(want, m.countHeard(q)) })
			m.ok(end.do(m.harness, q))
			want[end.event], want["notice.closed"] = 1, 1
			m.await("everything is heard", func() bool { return len(m.countHeard(q)) >= len(want) })
			if diff := cmp.Diff(want, m.countHeard(q)); diff != "" {
				t.Errorf("what was heard (-want +got):\n%s", diff)
			}
			m.redeliver(q)
			m.checkScan()
		})
	}
}

// machine is a harness in which a program receives the messages of the channel.
type machine struct {
	*harness
	// read returns the messages that the program received.
	read func(tb testing.TB, r standin.Remote) []HeardMessage
}

// countHeard counts the received messages about a question by type.
func (m *machine) countHeard(q *fermata.Question) map[string]int {
	counted := map[string]int{}
	for _, h := range m.read(m.T, m.remote) {
		if h.Question == q.ID {
			counted[h.Type]++
		}
	}
	return counted
}

// redeliver makes the server send the message about the question again.
func (m *machine) redeliver(q *fermata.Question) {
	m.Helper()
	all := m.read(m.T, m.remote)
	first := all[slices.IndexFunc(all, func(h HeardMessage) bool { return h.Question == q.ID && h.Type == "question.asked" })]
	m.await("it is noted as sent", func() bool {
		rows, _, err := m.admin.Deliveries(m.Context(), client.DeliveryQuery{State: fermata.DeliverySent, Limit: 500})
		m.ok(err)
		return slices.ContainsFunc(rows, func(d *fermata.Delivery) bool { return d.ID == first.ID })
	})
	_, err := m.admin.Redeliver(m.Context(), first.ID)
	m.ok(err)
	m.await("it is heard again", func() bool {
		n := 0
		for _, h := range m.read(m.T, m.remote) {
			if h == first {
				n++
			}
		}
		return n == 2
	})
}
