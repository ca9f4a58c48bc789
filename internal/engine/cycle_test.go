package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
)

// world is an engine on a real database with a clock that the test moves.
type world struct {
	*testing.T
	e     *engine.Engine
	opts  store.Options
	db    *store.DB
	clock *storetest.Clock
	agent fermata.Caller
	alice fermata.Caller
	// forged reports whether the test wrote the database directly, without the server.
	forged bool
}

func each(t *testing.T, test func(w *world)) {
	t.Helper()
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) { test(newWorld(t, opts)) })
}

func newWorld(t *testing.T, opts store.Options) *world {
	t.Helper()
	w := &world{T: t, clock: storetest.StandingClock()}
	if opts.ClockError == nil && opts.Elapsed == nil {
		opts.Clock = w.clock.Now // otherwise the clock is the test's own
	} else {
		opts.ClockOffset = w.clock.Offset
	}
	w.opts, w.db = opts, storetest.Open(t, opts)
	w.e = engine.New(w.db, engine.Options{})
	w.agent = fermata.Caller{
		WorkspaceID: "default", Kind: fermata.ActorAgent, TokenID: "tok_agent", Name: "worker",
		Scopes: []fermata.Scope{fermata.ScopeAsk, fermata.ScopeWork},
	}
	w.alice = w.person("alice")
	t.Cleanup(w.checkTablesMatch)
	return w
}

// checkTablesMatch checks that the tables and the events agree after any test.
func (w *world) checkTablesMatch() {
	if w.Failed() || w.Skipped() || w.forged {
		return
	}
	report, err := w.e.VerifyAudit(context.Background(), admin)
	if err != nil || !report.OK {
		w.Errorf("the audit does not fit the tables: %+v, %v", report, err)
	}
}

// forge writes the database directly, without the server.
func (w *world) forge(sql string) {
	w.Helper()
	w.forged = true
	storetest.Exec(w.T, w.opts, sql)
}

// person adds a member and returns it as a caller.
func (w *world) person(handle string, groups ...string) fermata.Caller {
	w.Helper()
	admin := fermata.Caller{WorkspaceID: "default", Kind: fermata.ActorHuman, Role: fermata.RoleAdmin, Scopes: []fermata.Scope{fermata.ScopeAdmin}}
	m, err := w.e.AddMember(w.Context(), admin, engine.NewMember{Handle: handle, Role: fermata.RoleOperator, Groups: groups})
	w.ok(err)
	return fermata.Caller{
		WorkspaceID: "default", Kind: fermata.ActorHuman, MemberID: m.ID, Name: handle, Role: m.Role, Groups: groups,
		Scopes: []fermata.Scope{fermata.ScopeAnswer}, Assurance: fermata.AssuranceChannel,
	}
}

func (w *world) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatalf("unexpected error: %v", err)
	}
}

func (w *world) checkRefused(err error, want fermata.Code) {
	w.Helper()
	if got := fermata.CodeOf(err); got != want {
		w.Fatalf("error is %v (%s), want code %s", err, got, want)
	}
}

func (w *world) checkState(id string, want fermata.TaskState) *fermata.Task {
	w.Helper()
	t, err := w.e.Task(w.Context(), w.agent, id)
	w.ok(err)
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
	t, err := w.e.CreateTask(w.Context(), w.agent, n)
	w.ok(err)
	return t
}

func (w *world) claim() *fermata.Claim {
	w.Helper()
	claim, err := w.e.Claim(w.Context(), w.agent, fermata.ClaimRequest{Worker: "w1"})
	w.ok(err)
	return claim
}

// createSuspended creates a task, claims it and lets its run end with the question.
func (w *world) createSuspended(a fermata.Ask) (*fermata.Task, *fermata.Question) {
	w.Helper()
	w.task(fermata.NewTask{})
	claim := w.claim()
	t, err := w.e.Finish(w.Context(), w.agent, claim.Run.ID, fermata.Finish{
		Token: claim.Run.Token, Result: fermata.ResultNeedsInput, Question: &a,
	})
	w.ok(err)
	q, err := w.e.Question(w.Context(), w.agent, t.PendingQuestionID)
	w.ok(err)
	return t, q
}

var format = fermata.Ask{
	Question: "Which format?", Options: []fermata.Option{{Value: "yaml"}, {Value: "toml"}, {Value: "json"}},
}

func TestCycle(t *testing.T) {
	each(t, func(w *world) {
		task, q := w.createSuspended(format)
		w.checkState(task.ID, fermata.TaskAwaitingInput)

		if _, err := w.e.Claim(w.Context(), w.agent, fermata.ClaimRequest{Worker: "w1"}); !errors.Is(err, engine.ErrNoTask) {
			w.Fatalf("a suspended task was claimed: %v", err)
		}
		_, err := w.e.Answer(w.Context(), w.agent, q.ID, fermata.Answer{Answer: "toml"})
		w.checkRefused(err, fermata.CodeNotEligible)
		answered, err := w.e.Answer(w.Context(), w.alice, q.ID, fermata.Answer{Answer: "toml"})
		w.ok(err)
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
		_, err = w.e.Finish(w.Context(), w.agent, claim.Run.ID, fermata.Finish{Token: claim.Run.Token, Result: fermata.ResultCompleted, Summary: "done"})
		w.ok(err)
		w.checkState(task.ID, fermata.TaskDone)
		report, err := w.e.VerifyAudit(w.Context(), w.alice)
		w.ok(err)
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
		w.clock.Advance(10 * time.Minute)
		late, err := w.e.Answer(w.Context(), w.alice, q.ID, fermata.Answer{Answer: "json"})
		w.ok(err)
		r := late.Resolution
		if late.Status != fermata.TimedOut || r.DecidedBy != fermata.ActorTimeout || r.Answer != "yaml" || len(r.LateAnswers) != 1 {
			w.Fatalf("resolution: %+v", r)
		}
		w.checkState(task.ID, fermata.TaskInputReceived)
		n, err := w.e.Sweep(w.Context())
		w.ok(err)
		if n != 0 {
			w.Fatalf("the sweep found %d rows after the answer had settled them", n)
		}
	})
}
