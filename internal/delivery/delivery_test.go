package delivery_test

import (
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/test/standin"
)

func TestMain(m *testing.M) { storetest.Main(m) }

var pickQuestion = fermata.Ask{Question: "Which format?", Options: []fermata.Option{{Value: "toml"}, {Value: "yaml"}}}

// TestAQuestionIsSentAndAnswered checks the whole way from asking to the
// updated message.
func TestAQuestionIsSentAndAnswered(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		w := newWorld(t, opts, setup{audience: delivery.ToPeople})
		w.addChannel()
		q := w.ask(pickQuestion)
		ann, bob := w.awaitMessages("ann", 1)[0], w.awaitMessages("bob", 1)[0]
		if ann.Question != q.ID || ann.Closed || len(ann.Buttons) != 2 {
			t.Fatalf("ann sees %+v", ann)
		}
		w.OK(w.wall.Reply("wall-ann", ann, standin.Reply{Answers: map[string]any{"answer": "toml"}}))
		if told := w.wall.Feedback("wall-ann"); len(told) != 1 || !strings.Contains(told[0], "Your answer counts") {
			t.Errorf("ann was told %q", told)
		}
		w.await("both messages are closed", func() bool {
			return w.wall.VisibleMessages("wall-ann")[0].Closed && w.wall.VisibleMessages("wall-bob")[0].Closed
		})
		if text := w.wall.VisibleMessages("wall-bob")[0].Text; !strings.Contains(text, "answered by ann") || !strings.Contains(text, "toml") {
			t.Errorf("bob sees %q", text)
		}
		w.OK(w.wall.Reply("wall-bob", bob, standin.Reply{Answers: map[string]any{"answer": "yaml"}}))
		if told := w.wall.Feedback("wall-bob"); len(told) != 1 || !strings.Contains(told[0], "first") || !strings.Contains(told[0], "ann") {
			t.Errorf("bob was told %q", told)
		}
		for _, d := range w.awaitRest(q) {
			if d.State != fermata.DeliverySent || d.ShownStatus != fermata.Answered || d.Channel != "wall" || w.wall.Sent(d.ID) != 1 {
				t.Errorf("delivery %+v, sent %d times", d, w.wall.Sent(d.ID))
			}
		}
	})
}
