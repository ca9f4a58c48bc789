package engine_test

import (
	"fmt"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

// titles returns the titles that a filter finds, page by page.
func (w *world) titles(c fermata.Caller, f engine.QuestionFilter) []string {
	w.Helper()
	got := []string{}
	for {
		page, next, err := w.Engine.Questions(w.Context(), c, f)
		w.OK(err)
		for _, q := range page {
			got = append(got, q.Title)
		}
		if f.Cursor = next; next == "" {
			return got
		}
	}
}

// TestPagesOfWhatOneMayAnswer: questions that only the filter in Go leaves out
// do not end the list, on whatever row a page begins.
func TestPagesOfWhatOneMayAnswer(t *testing.T) {
	each(t, func(w *world) {
		w.Person("bob")
		var want []string
		for i := range 12 {
			ask := fermata.Ask{Title: fmt.Sprintf("q%02d", i), Question: "prompt?"}
			switch i % 4 {
			case 0:
				want = append(want, ask.Title)
			case 1:
				ask.Assignees = []string{"bob"}
			case 2:
				ask.Body, want = "the items", append(want, ask.Title)
			default:
				ask.Assignees, want = []string{"x", "alice"}, append(want, ask.Title)
			}
			w.ask(w.task(fermata.NewTask{}).ID, ask)
		}
		f := engine.QuestionFilter{Status: "pending", Mine: true, Limit: 2}
		w.Equal(want, w.titles(w.alice, f))
		f.Q = "items" // the name of a field, which everybody's question has
		w.Equal([]string{"q02", "q06", "q10"}, w.titles(w.alice, f))
		counts, err := w.Engine.QuestionCounts(w.Context(), w.alice, engine.QuestionFilter{Mine: true})
		w.OK(err)
		w.Equal(len(want), counts.Pending)
		viewer := w.alice
		viewer.Role = fermata.RoleViewer
		w.Equal([]string{}, w.titles(viewer, engine.QuestionFilter{Mine: true}))
	})
}

// TestWaiting: a question shows how many tasks wait for it.
func TestWaiting(t *testing.T) {
	each(t, func(w *world) {
		task, q := w.createSuspended(format)
		for range 2 {
			w.task(fermata.NewTask{BlockedBy: []string{task.ID}})
		}
		got, err := w.Engine.Question(w.Context(), w.alice, q.ID)
		w.OK(err)
		w.Equal(&fermata.WaitingWork{Tasks: 3, Since: q.CreatedAt}, got.WaitingWork)
		w.Equal(true, got.Answerable)
		w.say(task.ID, "hello")
		got, err = w.Engine.Question(w.Context(), w.alice, q.ID)
		w.OK(err)
		w.Equal(0, got.WaitingWork.Tasks)
	})
}
