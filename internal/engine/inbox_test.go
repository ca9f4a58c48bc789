package engine_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

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

// TestWhoVotedIsAskedNoMore: an approval of two people leaves the inbox and the count of who voted on it, and stays in
// those of others.
func TestWhoVotedIsAskedNoMore(t *testing.T) {
	each(t, func(w *world) {
		bob, mine := w.Person("bob"), engine.QuestionFilter{Status: "pending", Mine: true}
		_, q := w.createSuspended(fermata.Ask{Type: fermata.Approval, Title: "Deploy?", Approvals: &fermata.Quorum{Required: 2}})
		_, err := w.approve(w.alice, q, fermata.Approve)
		w.OK(err)
		for _, tt := range []struct {
			by   fermata.Caller
			want []string
		}{{w.alice, []string{}}, {bob, []string{"Deploy?"}}} {
			w.Equal(tt.want, w.titles(tt.by, mine))
			counts, err := w.Engine.QuestionCounts(w.Context(), tt.by, mine)
			w.OK(err)
			w.Equal(len(tt.want), counts.Pending)
		}
		got, err := w.Engine.Question(w.Context(), w.alice, q.ID)
		w.OK(err)
		w.Equal(new(true), got.Answerable)
	})
}

// TestWhoMayNotAnswerIsTold: a question says to each person whether this person may answer it, also when it is late.
func TestWhoMayNotAnswerIsTold(t *testing.T) {
	each(t, func(w *world) {
		viewer := w.AddMember(engine.NewMember{Handle: "vera", Role: fermata.RoleViewer}).Caller()
		viewer.WorkspaceID = w.alice.WorkspaceID
		bob := w.Person("bob")
		_, q := w.createSuspended(fermata.Ask{Question: "Which format?", Timeout: "1h", OnTimeout: fermata.SkipTask, Assignees: []string{"alice", "vera"}})
		check := func(want map[string]*bool) {
			for by, c := range map[string]fermata.Caller{"alice": w.alice, "bob": bob, "vera": viewer, "an agent": w.agent} {
				got, err := w.Engine.Question(w.Context(), c, q.ID)
				w.OK(err)
				if !reflect.DeepEqual(want[by], got.Answerable) {
					w.Errorf("%s is told %v of a question that is %s", by, got.Answerable, got.Status)
				}
			}
		}
		told := map[string]*bool{"alice": new(true), "bob": new(false), "vera": new(false)}
		check(told)
		w.sweep(2 * time.Hour)
		w.checkQuestion(q.ID, fermata.TimedOut)
		check(told)
		_, err := w.Engine.Answer(w.Context(), w.alice, q.ID, fermata.Answer{Answer: "late"})
		w.OK(err)
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
		w.Equal(new(true), got.Answerable)
		w.say(task.ID, "hello")
		got, err = w.Engine.Question(w.Context(), w.alice, q.ID)
		w.OK(err)
		w.Equal(0, got.WaitingWork.Tasks)
	})
}

// TestTheInboxIsInSections: a list in the order of the inbox begins with what is due soon. High risks follow, the critical ones
// first, then what waits for long, and the rest. Its pages agree on the sections while time passes.
func TestTheInboxIsInSections(t *testing.T) {
	each(t, func(w *world) {
		ask := func(title string, risk fermata.Risk, timeout string, priority int) {
			a := fermata.Ask{Question: title, Risk: risk, Timeout: fermata.Timeout(timeout), Priority: &priority}
			if timeout != "never" {
				a.OnTimeout = fermata.SkipTask
			}
			w.createSuspended(a)
		}
		ask("long, later", fermata.RiskLow, "never", 0)
		w.Clock.Advance(time.Minute)
		ask("long, last", fermata.RiskMedium, "never", 3)
		ask("risk, old", fermata.RiskCritical, "never", 2)
		w.Clock.Advance(fermata.LongWait + time.Minute)
		ask("rest, second", fermata.RiskLow, "3d", 2)
		ask("rest, first", fermata.RiskLow, "never", 1)
		ask("risk, last", fermata.RiskHigh, "2h", 1)
		ask("due, second", fermata.RiskLow, "15m", 0)
		ask("rest, usual", fermata.RiskLow, "30m", 2)
		ask("due, first", fermata.RiskCritical, "10m", 4)
		want := []string{
			"due_soon: due, first", "due_soon: due, second", "high_risk: risk, old", "high_risk: risk, last",
			"long_wait: long, later", "long_wait: long, last", "rest: rest, first", "rest: rest, usual", "rest: rest, second",
		}
		for _, size := range []int{1, 2, 3, 8, 50} {
			var got []string
			f := engine.QuestionFilter{Status: "pending", Mine: true, Sort: fermata.SortInbox, Limit: size}
			for more := true; more; more = f.Cursor != "" {
				page, next, err := w.Engine.Questions(w.Context(), w.alice, f)
				w.OK(err)
				for _, q := range page {
					got = append(got, string(q.Section)+": "+q.Title)
				}
				f.Cursor = next
				// Later pages do not depend on the time.
				w.Clock.Advance(time.Second)
			}
			w.Equal(want, got)
		}
		_, _, err := w.Engine.Questions(w.Context(), w.alice, engine.QuestionFilter{Sort: fermata.SortInbox})
		w.CheckRefused(err, fermata.CodeInvalidRequest)
	})
}
