package delivery_test

import (
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
)

// TestAgentsSeeNoDeliveriesOfOthers checks that an agent, which receives no
// messages, sees who was told about a question, but not the content.
func TestAgentsSeeNoDeliveriesOfOthers(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		w := newWorld(t, opts, setup{audience: delivery.ToPlace})
		w.addChannel()
		q := w.ask(fermata.Ask{Title: "Which?", Assignees: []string{"ann"}})
		sent := w.awaitRest(q)
		if len(sent) == 0 {
			t.Fatal("nothing was sent")
		}
		_, _, err := w.s.Deliveries(t.Context(), agent, delivery.Filter{})
		if fermata.CodeOf(err) != fermata.CodeForbidden {
			t.Errorf("an agent lists all deliveries: %v", err)
		}
		_, _, err = w.s.Deliveries(t.Context(), agent, delivery.Filter{QuestionID: q.ID})
		w.OK(err)
		for _, d := range sent {
			seen, err := w.s.Delivery(t.Context(), agent, d.ID)
			w.OK(err)
			if seen.Content != "" {
				t.Errorf("an agent reads what was sent: %s", seen.Content)
			}
		}
	})
}
