package engine_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/test/patience"
)

// claimResult is what a claim returned.
type claimResult struct {
	claim *fermata.Claim
	err   error
}

// startClaim starts a claim, and returns when it waits.
func (w *world) startClaim(ctx context.Context, c fermata.Caller, r fermata.ClaimRequest) <-chan claimResult {
	w.Helper()
	r.WaitSeconds = 60
	waiting := engine.ReadyClaims(w.Engine)
	result := make(chan claimResult, 1)
	go func() {
		claim, err := w.Engine.Claim(ctx, c, r)
		result <- claimResult{claim, err}
	}()
	patience.Await(w, "the claim waits", func() bool { return engine.ReadyClaims(w.Engine) == waiting+1 })
	return result
}

func (w *world) checkClaimed(result <-chan claimResult, taskID string) *fermata.Claim {
	w.Helper()
	got := patience.Receive(w, "the claim ends", result)
	w.OK(got.err)
	w.Equal(taskID, got.claim.Task.ID)
	return got.claim
}

// commits records the types of the events of each commit.
func (w *world) commits() (types func() [][]fermata.EventType) {
	var mu sync.Mutex
	var all [][]fermata.EventType
	w.Engine.OnEveryCommit(func(events []*fermata.Event) {
		mu.Lock()
		defer mu.Unlock()
		var types []fermata.EventType
		for _, e := range events {
			types = append(types, e.Type)
		}
		all = append(all, types)
	})
	return func() [][]fermata.EventType {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

// A write that makes a task claimable gives it to a waiting worker in the same transaction. Its own reply shows the task
// as the write left it.
func TestAClaimJoinsTheWrite(t *testing.T) {
	each(t, func(w *world) {
		commits := w.commits()
		last := func() []fermata.EventType { all := commits(); return all[len(all)-1] }

		result := w.startClaim(w.Context(), w.agent, fermata.ClaimRequest{Worker: "w1"})
		task := w.task(fermata.NewTask{})
		w.Equal(fermata.TaskOpen, task.State)
		claim := w.checkClaimed(result, task.ID)
		w.Equal([]fermata.EventType{fermata.EventTaskCreated, fermata.EventTaskClaimed}, last())

		asked := w.finish(claim, needsInputWith(format))
		result = w.startClaim(w.Context(), w.agent, fermata.ClaimRequest{Worker: "w2"})
		w.answer(asked.PendingQuestionID, "toml")
		claim = w.checkClaimed(result, task.ID)
		w.Equal([]fermata.EventType{fermata.EventQuestionAnswered, fermata.EventTaskClaimed}, last())
		handed, err := w.Engine.ResumeContext(w.Context(), w.agent, task.ID)
		w.OK(err)
		w.Equal(handed.Questions, claim.Context.Questions)
		w.Equal(1, len(claim.Context.Questions))
		w.Equal(fermata.TaskInputReceived, claim.Run.ClaimedFrom)
		w.Equal(2, claim.Run.Attempt)
		w.Equal(0, w.reload(task.ID).Unread)
		w.complete(claim)
	})
}

func (w *world) reload(taskID string) *fermata.Task {
	w.Helper()
	t, err := w.Engine.Task(w.Context(), w.agent, taskID)
	w.OK(err)
	return t
}

// A task goes to the worker that has waited longest of those that take it.
func TestATaskGoesToTheWorkerThatTakesIt(t *testing.T) {
	each(t, func(w *world) {
		docs := w.startClaim(w.Context(), w.agent, fermata.ClaimRequest{Worker: "docs", Projects: []string{"docs"}})
		first := w.startClaim(w.Context(), w.agent, fermata.ClaimRequest{Worker: "first", Agents: []string{"review", "code"}})
		second := w.startClaim(w.Context(), w.agent, fermata.ClaimRequest{Worker: "second"})
		w.checkClaimed(first, w.task(fermata.NewTask{Agent: "code"}).ID)
		w.checkClaimed(second, w.task(fermata.NewTask{Agent: "test"}).ID)
		w.checkClaimed(docs, w.task(fermata.NewTask{Project: "docs", Agent: "test"}).ID)
		w.Equal(0, engine.ReadyClaims(w.Engine))
	})
}

// Waiting workers that see other projects get tasks of their own projects, even if they come together.
func TestWaitingWorkersGetTasksOfTheirProjects(t *testing.T) {
	each(t, func(w *world) {
		var results []<-chan claimResult
		projects := []string{"shop", "web", "docs"}
		for _, project := range projects {
			c := w.agent
			c.TokenProjects = []string{project}
			results = append(results, w.startClaim(w.Context(), c, fermata.ClaimRequest{Worker: "w"}))
		}
		for i, project := range slices.Backward(projects) {
			w.checkClaimed(results[i], w.task(fermata.NewTask{Project: project}).ID)
		}
	})
}

// worker returns a worker with a token of its own, the context of its calls, and a function that revokes the token.
func (w *world) worker() (ctx context.Context, c fermata.Caller, revoke func()) {
	w.Helper()
	made, err := w.Engine.CreateToken(w.Context(), admin, fermata.NewToken{Name: "worker", Scopes: []fermata.Scope{fermata.ScopeWork}})
	w.OK(err)
	lookUp := func(ctx context.Context) (fermata.Caller, error) { return w.Engine.Authenticate(ctx, made.Secret) }
	c, err = lookUp(w.Context())
	w.OK(err)
	return engine.WithRenewal(w.Context(), lookUp), c, func() {
		w.Helper()
		_, err := w.Engine.RevokeToken(w.Context(), admin, made.ID)
		w.OK(err)
	}
}

// A worker whose token was revoked while it waited gets no task.
func TestARevokedWorkerGetsNoTask(t *testing.T) {
	each(t, func(w *world) {
		ctx, c, revoke := w.worker()
		ctx = engine.WithRightsGeneration(ctx, w.Engine.RightsGeneration())
		result := w.startClaim(ctx, c, fermata.ClaimRequest{Worker: "w1"})
		revoke()
		task := w.task(fermata.NewTask{})
		got := patience.Receive(w, "the claim ends", result)
		w.Equal(fermata.CodeUnauthenticated, fermata.CodeOf(got.err))
		w.claimTask(task.ID)
	})
}

// A worker whose token is revoked before its claim waits is refused, although it was authenticated: also if the generation
// of its rights is unknown.
func TestARevokedWorkerDoesNotWait(t *testing.T) {
	each(t, func(w *world) {
		ctx, c, revoke := w.worker()
		withGeneration := engine.WithRightsGeneration(ctx, w.Engine.RightsGeneration())
		revoke()
		for _, ctx := range []context.Context{ctx, withGeneration} {
			_, err := w.Engine.Claim(ctx, c, fermata.ClaimRequest{Worker: "w1", WaitSeconds: 60})
			w.Equal(fermata.CodeUnauthenticated, fermata.CodeOf(err))
		}
	})
}

// A task whose worker has gone away goes to the next one.
func TestATaskOfAWorkerThatWentAwayGoesOn(t *testing.T) {
	each(t, func(w *world) {
		ctx, leave := context.WithCancel(w.Context())
		gone := w.startClaim(ctx, w.agent, fermata.ClaimRequest{Worker: "gone"})
		stays := w.startClaim(w.Context(), w.agent, fermata.ClaimRequest{Worker: "stays"})
		leave()
		task := w.task(fermata.NewTask{})
		w.checkClaimed(stays, task.ID)
		got := patience.Receive(w, "the claim of the worker that went away ends", gone)
		if !errors.Is(got.err, context.Canceled) {
			w.Errorf("the claim returned %v, %v", got.claim, got.err)
		}
	})
}

// A claim that is repeated with its key gets the first task again, even if there is no other one.
func TestARepeatedClaimGetsItsTaskAgain(t *testing.T) {
	each(t, func(w *world) {
		ctx := engine.WithIdempotency(w.Context(), "claim-1", "fingerprint")
		request := fermata.ClaimRequest{Worker: "w1", Projects: []string{"web"}}
		result := w.startClaim(ctx, w.agent, request)
		task := w.task(fermata.NewTask{Project: "web"})
		first := w.checkClaimed(result, task.ID)
		again, err := w.Engine.Claim(ctx, w.agent, request)
		w.OK(err)
		w.Equal(first.Run.ID, again.Run.ID)

		// The repeated claim may be waiting when another task comes.
		ctx = engine.WithIdempotency(w.Context(), "claim-2", "fingerprint")
		one, two := w.startClaim(ctx, w.agent, request), w.startClaim(ctx, w.agent, request)
		task = w.task(fermata.NewTask{Project: "web"})
		first = w.checkClaimed(one, task.ID)
		other := w.task(fermata.NewTask{Project: "web"})
		w.Equal(first.Run.ID, w.checkClaimed(two, task.ID).Run.ID)
		w.Equal(fermata.TaskOpen, w.reload(other.ID).State)
	})
}

// A look finds a task about which no event told this process, for as many workers as there are tasks.
func TestALookFindsWhatWasNotOffered(t *testing.T) {
	each(t, func(w *world) {
		var results []<-chan claimResult
		for range 3 {
			results = append(results, w.startClaim(w.Context(), w.agent, fermata.ClaimRequest{Worker: "w1", Projects: []string{"web"}}))
		}
		// The store itself tells the engine only of events, here without their moves.
		w.isDeaf = true
		w.OK(w.DB.Write(w.Context(), store.DefaultWorkspace, func(tx *store.Tx) error {
			for range 3 {
				task, err := fermata.NewTask{Title: "a task", Project: "web"}.Create(fermata.NewID(fermata.PrefixTask, tx.Now()), w.agent.Actor(), tx.Now())
				if err != nil {
					return err
				}
				tx.InsertTask(task)
				tx.Append(&fermata.Event{Type: fermata.EventTaskCreated, TaskID: task.ID, Actor: w.agent.Actor(), Data: []byte(`{"to":"open","project":"web","origin_hash":"` + task.OriginHash() + `"}`)})
			}
			return nil
		}))
		engine.LookForClaims(w.Context(), w.Engine)
		var claimed []string
		for _, result := range results {
			got := patience.Receive(w, "the claim ends", result)
			w.OK(got.err)
			claimed = append(claimed, got.claim.Task.ID)
		}
		slices.Sort(claimed)
		w.Equal(3, len(slices.Compact(claimed)))
	})
}

// A claim whose wait ended while a write took a task for it returns that task: the server may be stopping, and the worker
// still there. If it is not, it gets the task when it makes the claim again. Without a key it could not, so the task goes
// to the next worker at once.
func TestAClaimThatBreaksOffDuringAWrite(t *testing.T) {
	each(t, func(w *world) {
		var breakOff atomic.Pointer[context.CancelFunc]
		w.Engine.OnEveryCommit(func(events []*fermata.Event) {
			// The commit has happened, and the claim has not returned yet.
			if cancel := breakOff.Load(); cancel != nil && events[len(events)-1].Type == fermata.EventTaskClaimed {
				(*cancel)()
			}
		})
		for key, wantAttempt := range map[string]int{"key": 1, "": 2} {
			ctx := engine.WithIdempotency(w.Context(), key, "fingerprint")
			broken, cancel := context.WithCancel(ctx)
			result := w.startClaim(broken, w.agent, fermata.ClaimRequest{Worker: "w1"})
			breakOff.Store(&cancel)
			task := w.task(fermata.NewTask{})
			breakOff.Store(nil)
			got := patience.Receive(w, "the claim ends", result)
			if hasTask := got.claim != nil && got.claim.Task.ID == task.ID; hasTask != (key != "") || hasTask == errors.Is(got.err, context.Canceled) {
				t.Fatalf("the claim with the key %q returned %v, %v", key, got.claim, got.err)
			}
			again, err := w.Engine.Claim(ctx, w.agent, fermata.ClaimRequest{Worker: "w1"})
			w.OK(err)
			w.Equal(task.ID, again.Task.ID)
			w.Equal(wantAttempt, again.Run.Attempt)
			w.complete(again)
		}
	})
}
