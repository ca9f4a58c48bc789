package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/internal/testkit"
)

// world is an engine on a real database with an agent and a person.
type world struct {
	testkit.World
	agent fermata.Caller
	alice fermata.Caller
	// forged reports whether the test wrote the database directly, without the server.
	forged bool
	// isDeaf reports whether the engine does not learn of all commits: another engine has the same connection.
	isDeaf bool
}

func each(t *testing.T, test func(w *world)) {
	t.Helper()
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) { test(newWorld(t, opts)) })
}

func newWorld(t *testing.T, opts store.Options) *world {
	t.Helper()
	w := &world{World: testkit.New(t, opts), agent: testkit.Agent}
	w.alice = w.Person("alice")
	// Counted now, the tasks are counted by their moves until the end of the test.
	w.checkCounts(w.Context(), w.Engine)
	t.Cleanup(w.checkTablesMatch)
	return w
}

// checkTablesMatch checks that the tables and the events agree after any test.
func (w *world) checkTablesMatch() {
	if w.Failed() || w.Skipped() || w.forged {
		return
	}
	report, err := w.Engine.VerifyAudit(context.Background(), admin)
	if err != nil || !report.OK {
		w.Errorf("the audit does not fit the tables: %+v, %v", report, err)
	}
	w.checkEventData()
	if !w.isDeaf {
		w.checkCounts(context.Background(), w.Engine)
	}
}

// checkEventData checks that the data of no event name a field twice, as they would if an event reported two moves.
func (w *world) checkEventData() {
	w.Helper()
	for after := int64(0); ; {
		events, err := w.DB.Reader(context.Background(), store.DefaultWorkspace).Events(store.EventFilter{After: after, Limit: 500})
		w.OK(err)
		if len(events) == 0 {
			return
		}
		for _, e := range events {
			if len(e.Data) > 0 && !jsontext.Value(e.Data).IsValid() {
				w.Errorf("the data of %s: %s", e.Type, e.Data)
			}
			after = e.Seq
		}
	}
}

// forge writes the database directly, without the server.
func (w *world) forge(sql string) {
	w.Helper()
	w.forged = true
	storetest.Exec(w.T, w.Options, sql)
}

func (w *world) checkState(id string, want fermata.TaskState) *fermata.Task {
	w.Helper()
	t, err := w.Engine.Task(w.Context(), w.agent, id)
	w.OK(err)
	if t.State != want {
		w.Fatalf("task is %s, want %s", t.State, want)
	}
	return t
}

func (w *world) task(n fermata.NewTask) *fermata.Task {
	w.Helper()
	if n.Title == "" {
		n.Title = "add a configuration file"
	}
	t, err := w.Engine.CreateTask(w.Context(), w.agent, n)
	w.OK(err)
	return t
}

func (w *world) claim() *fermata.Claim {
	w.Helper()
	claim, err := w.Engine.Claim(w.Context(), w.agent, fermata.ClaimRequest{Worker: "w1"})
	w.OK(err)
	return claim
}

// createSuspended creates a task, claims it and lets its run end with the question.
func (w *world) createSuspended(a fermata.Ask) (*fermata.Task, *fermata.Question) {
	w.Helper()
	w.task(fermata.NewTask{})
	claim := w.claim()
	t, err := w.Engine.Finish(w.Context(), w.agent, claim.Run.ID, fermata.Finish{
		Token: claim.Run.Token, Result: fermata.ResultNeedsInput, Question: &a,
	})
	w.OK(err)
	q, err := w.Engine.Question(w.Context(), w.agent, t.PendingQuestionID)
	w.OK(err)
	return t.Task, q
}

var format = fermata.Ask{
	Question: "Which format?", Options: []fermata.Option{{Value: "yaml"}, {Value: "toml"}, {Value: "json"}},
}

func TestCycle(t *testing.T) {
	each(t, func(w *world) {
		task, q := w.createSuspended(format)
		w.checkState(task.ID, fermata.TaskAwaitingInput)

		if _, err := w.Engine.Claim(w.Context(), w.agent, fermata.ClaimRequest{Worker: "w1"}); !errors.Is(err, engine.ErrNoTask) {
			w.Fatalf("a suspended task was claimed: %v", err)
		}
		_, err := w.Engine.Answer(w.Context(), w.agent, q.ID, fermata.Answer{Answer: "toml"})
		w.CheckRefused(err, fermata.CodeNotEligible)
		answered, err := w.Engine.Answer(w.Context(), w.alice, q.ID, fermata.Answer{Answer: "toml"})
		w.OK(err)
		if answered.Resolution.Answer != "toml" || answered.Resolution.DecidedBy != fermata.ActorHuman {
			w.Fatalf("resolution: %+v", answered.Resolution)
		}
		w.checkState(task.ID, fermata.TaskInputReceived)

		claim := w.claim()
		if claim.Task.ID != task.ID || claim.Run.Attempt != 2 || !claim.Context.Resumed {
			w.Fatalf("claim: %+v %+v", claim.Run, claim.Context)
		}
		if got := claim.Context.Questions; len(got) != 1 || got[0].Resolution.Answer != "toml" {
			w.Fatalf("context: %+v", got)
		}
		_, err = w.Engine.Finish(w.Context(), w.agent, claim.Run.ID, fermata.Finish{Token: claim.Run.Token, Result: fermata.ResultCompleted, Summary: "done"})
		w.OK(err)
		w.checkState(task.ID, fermata.TaskDone)
		report, err := w.Engine.VerifyAudit(w.Context(), w.alice)
		w.OK(err)
		if !report.OK || report.Events == 0 {
			w.Fatalf("audit: %+v", report)
		}
	})
}

func TestDeadlineDecides(t *testing.T) {
	each(t, func(w *world) {
		ask := format
		ask.Timeout, ask.Default = "10m", "yaml"
		task, q := w.createSuspended(ask)
		w.Clock.Advance(10 * time.Minute)
		late, err := w.Engine.Answer(w.Context(), w.alice, q.ID, fermata.Answer{Answer: "json"})
		w.OK(err)
		r := late.Resolution
		if late.Status != fermata.TimedOut || r.DecidedBy != fermata.ActorTimeout || r.Answer != "yaml" || len(r.LateAnswers) != 1 {
			w.Fatalf("resolution: %+v", r)
		}
		w.checkState(task.ID, fermata.TaskInputReceived)
		n, err := w.Engine.Sweep(w.Context())
		w.OK(err)
		if n != 0 {
			w.Fatalf("the sweep found %d rows after the answer had settled them", n)
		}
	})
}
