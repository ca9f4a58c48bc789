//go:build unix

package acp_test

import (
	"testing"

	"github.com/fermata-hq/fermata"
)

func TestAFormIsFilledInWhileTheAgentWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task := w.task("")
	end := w.meanwhile(elicits)
	q := w.asked(task.ID)
	if q.Type != fermata.Blocking || q.Title != "How shall I paint?" || len(q.Items) != 2 ||
		q.Items[0].ResponseType != fermata.ResponseChoice || q.Items[0].Options[1].Label != "Blue" || q.Items[1].IsRequired() {
		t.Errorf("asked %s %q with %+v", q.Type, q.Title, q.Items)
	}
	w.fillIn(q)
	end()
	w.want(task.ID, fermata.TaskDone, `{"colour":"b","the count":3}`)
}

func (w *world) fillIn(q *fermata.Question) {
	w.t.Helper()
	_, err := w.person.Answer(w.t.Context(), q.ID, fermata.Answer{Answers: map[string]any{"f1": "b", "f2": 3}})
	w.must(err)
}

func TestAFormIsFilledInLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task := w.task("")
	w.work(elicits, impatient)
	w.want(task.ID, fermata.TaskAwaitingInput, "")
	w.fillIn(w.asked(task.ID))
	w.work(elicits, impatient)
	w.want(task.ID, fermata.TaskDone, `{"colour":"b","the count":3}`)
}
