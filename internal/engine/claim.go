package engine

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// ErrNoTask is returned by [Engine.Claim] when the time of the wait has passed
// without a task.
var ErrNoTask = errors.New("no task to claim")

// claimedData is the data of the event task.claimed.
type claimedData struct {
	From   fermata.TaskState `json:"from"`
	To     fermata.TaskState `json:"to"`
	Worker string            `json:"worker"`
	// WorkerToken is the id of the token that claimed the task. AgentToken is the id of the token that the worker
	// gives to its agents; it is empty if there is none.
	WorkerToken string `json:"worker_token_id"`
	AgentToken  string `json:"agent_token_id"`
}

// Claim gives a worker the next task, with a new run, its fencing token and the
// resume context. It waits as long as the request says.
func (e *Engine) Claim(ctx context.Context, c fermata.Caller, r fermata.ClaimRequest) (*fermata.Claim, error) {
	if err := c.CheckPermission(fermata.ToClaim, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	if err := r.Check(); err != nil {
		return nil, err
	}
	r.Visible = r.Visible.Intersect(c.VisibleProjects())
	if err := e.recordWorker(ctx, c, r.ClaimingWorker()); err != nil {
		return nil, err
	}
	return e.claimNext(ctx, c, r)
}

// claimNext returns the next task for the request, or [ErrNoTask] when the time of the wait has passed.
func (e *Engine) claimNext(ctx context.Context, c fermata.Caller, r fermata.ClaimRequest) (*fermata.Claim, error) {
	// The claim waits before its first look, so that no offer in between is lost.
	w, err := e.claims.join(ctx, c.WorkspaceID, r)
	if err != nil {
		return nil, err
	}
	claim, err := e.awaitTask(ctx, c, w)
	joined := e.claims.leave(w)
	switch {
	case joined == nil:
		return claim, err
	case claim == nil && (ctx.Err() == nil || idempotencyOf(ctx).key != ""):
		// A write took a task for this claim at the moment at which the wait ended. The wait also ends when the server stops,
		// while the worker is still there. A worker that is gone gets this task if it makes the same claim again.
		return joined, nil
	case idempotencyOf(ctx).key != "":
		return claim, err
	}
	return claim, errors.Join(err, e.releaseUndelivered(ctx, w, joined))
}

// awaitTask looks for a task, and then waits for one as long as the request says.
func (e *Engine) awaitTask(ctx context.Context, c fermata.Caller, w *waitingClaim) (*fermata.Claim, error) {
	wait := time.Duration(w.request.WaitSeconds) * time.Second
	limit := time.NewTimer(wait)
	defer limit.Stop()
	claim, err := e.lookForTask(ctx, c, w)
	for claim == nil && err == nil {
		if wait <= 0 {
			return nil, ErrNoTask
		}
		if c, err = e.renewWaiting(ctx, c, w); err != nil {
			return nil, err
		}
		select {
		case o := <-w.offers:
			claim, err = e.takeOffer(ctx, c, w, o)
		case <-limit.C:
			return nil, ErrNoTask
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return claim, err
}

// renewWaiting looks up the caller of a claim again, unless nobody's rights have changed since the caller was
// authenticated. From now on a write may take a task for the claim, with these rights, until someone's rights change.
func (e *Engine) renewWaiting(ctx context.Context, c fermata.Caller, w *waitingClaim) (_ fermata.Caller, err error) {
	generation := e.callers.currentGeneration()
	if !wasAuthenticatedIn(ctx, generation) {
		c, err = renewClaimer(ctx, c)
	}
	if err == nil {
		e.claims.setReady(w, c, generation)
	}
	return c, err
}

// renewClaimer looks up the caller of a claim again. It returns an error if the caller may not claim any more.
func renewClaimer(ctx context.Context, c fermata.Caller) (fermata.Caller, error) {
	c, err := renewCaller(ctx, c)
	if err == nil {
		err = c.CheckPermission(fermata.ToClaim, fermata.UnloadedResource)
	}
	return c, err
}

// takeOffer claims the offered task, or another one if that task is gone. If there is none, the claim waits again. If
// the claim does not take the offered task, the offer goes to the next one.
func (e *Engine) takeOffer(ctx context.Context, c fermata.Caller, w *waitingClaim, o claimOffer) (claim *fermata.Claim, err error) {
	if o.claim != nil {
		return o.claim, nil
	}
	defer func() {
		// An offer without a task may stand for several tasks.
		if err != nil || claim != nil && claim.Task.ID != o.taskID {
			e.claims.offer(w.workspace, o)
		}
	}()
	if c, err = renewClaimer(ctx, c); err != nil {
		return nil, err
	}
	if o.taskID != "" {
		claim, err = e.claimOffered(ctx, c, w.request, o)
		if claim != nil || err != nil {
			return claim, err
		}
	}
	e.claims.rejoin(ctx, w)
	e.claims.forgetLooks(w.workspace, o.kind)
	return e.lookForTask(ctx, c, w)
}

// lookForTask claims the first task that the request takes. It returns nil if there is none. It spares the database: it
// does not look if it is known that there is no task, and reads before it writes unless there should be one.
func (e *Engine) lookForTask(ctx context.Context, c fermata.Caller, w *waitingClaim) (*fermata.Claim, error) {
	isRepeated, err := e.isRepeated(ctx, c)
	if err != nil {
		return nil, err
	}
	l := e.claims.beginLookOf(w)
	if l.expects == expectNothing && !isRepeated && w.request.WaitSeconds > 0 {
		return nil, nil
	}
	selection, err := e.selectionOf(ctx, w.workspace, w.request)
	if err != nil {
		return nil, err
	}
	claim, err := e.claimFirst(ctx, c, w.request, selection, isRepeated || l.expects == expectTask)
	if claim != nil || fermata.CodeOf(err) == fermata.CodeNotFound {
		e.claims.noteLook(l, claim != nil)
	}
	return claim, ignoreNotFound(err)
}

// selectionOf returns the selection of the tasks that the request takes.
func (e *Engine) selectionOf(ctx context.Context, workspace string, r fermata.ClaimRequest) (store.Claimable, error) {
	return store.ClaimableFor(r, func() ([]fermata.TaskKind, error) { return e.claims.claimableKinds(ctx, workspace) })
}

// claimFirst claims the first of the selected tasks. If a write is not sure to find one, it reads first. It returns
// [fermata.CodeNotFound] if there is none.
func (e *Engine) claimFirst(ctx context.Context, c fermata.Caller, r fermata.ClaimRequest, selection store.Claimable, isSure bool) (*fermata.Claim, error) {
	if !isSure {
		if _, err := e.reader(ctx, c).NextClaimable(selection); err != nil {
			return nil, err
		}
	}
	return write(ctx, e, c, fermata.ToClaim, func(tx *store.Tx) (*fermata.Claim, error) {
		t, err := tx.NextClaimable(selection)
		if err != nil {
			return nil, err
		}
		return e.claimTask(tx, c, r, t)
	}, store.ReadAhead{Claim: &selection})
}

// claimOffered claims the offered task. It returns nil if the task is gone or is claimed.
func (e *Engine) claimOffered(ctx context.Context, c fermata.Caller, r fermata.ClaimRequest, o claimOffer) (*fermata.Claim, error) {
	claim, err := write(ctx, e, c, fermata.ToClaim, func(tx *store.Tx) (*fermata.Claim, error) {
		t, err := tx.Task(o.taskID)
		if err != nil {
			return nil, err
		}
		if !t.State.IsClaimable() || !r.Takes(t.Kind()) {
			return nil, fermata.NotFound("claimable task", o.taskID)
		}
		return e.claimTask(tx, c, r, t)
	}, store.ReadAhead{Task: o.taskID, HandOver: !o.isNew})
	return claim, ignoreNotFound(err)
}

func ignoreNotFound(err error) error {
	if fermata.CodeOf(err) == fermata.CodeNotFound {
		return nil
	}
	return err
}

// claimTask gives a claimable task to the worker, with a new run.
func (e *Engine) claimTask(tx *store.Tx, c fermata.Caller, r fermata.ClaimRequest, t *fermata.Task) (*fermata.Claim, error) {
	if err := c.CheckPermission(fermata.ToClaim, fermata.InProject(t.Project)); err != nil {
		return nil, err
	}
	rows, err := tx.ReadForClaim(t)
	if err != nil {
		return nil, err
	}
	h, err := newRunHandOver(tx, t, rows)
	if err != nil {
		return nil, err
	}
	return startRun(tx, c, r, t, h)
}

// newRunHandOver returns what a new run of the claimable task is handed.
func newRunHandOver(tx *store.Tx, t *fermata.Task, rows *store.ClaimRows) (*handOver, error) {
	claimed := *t
	if err := claimed.Move(fermata.TaskInProgress); err != nil {
		return nil, err
	}
	return newHandOver(tx, &claimed, fermata.NewID(fermata.PrefixRun, tx.Now()), rows.LastRun.LastRun(), rows.Questions, rows.Messages)
}

// startRun moves a claimable task to a new run of the worker. After an error, it has written nothing.
func startRun(tx *store.Tx, c fermata.Caller, r fermata.ClaimRequest, t *fermata.Task, h *handOver) (*fermata.Claim, error) {
	from := t.State
	if err := t.Move(fermata.TaskInProgress); err != nil {
		return nil, err
	}
	h.save(tx, t)
	t.Runs++
	run := &fermata.Run{
		ID: h.runID, TaskID: t.ID, Attempt: t.Runs, State: fermata.RunRunning,
		Worker: r.Worker, Runner: t.Runner, Token: fermata.NewFencingToken(), ClaimedFrom: from,
		StartedAt: tx.Now(), HandedCount: h.context.Size(),
	}
	run.Renew(r.Lease(), tx.Now())
	t.RunID, t.AgentTokenID = run.ID, r.AgentTokenID
	t.WorkerTokenID = cmp.Or(c.TokenID, string(c.Kind))
	tx.InsertRun(run)
	tx.SaveTask(t)
	tx.Append(&fermata.Event{
		Type: fermata.EventTaskClaimed, TaskID: t.ID, RunID: run.ID, Actor: c.Actor(),
		Move: &fermata.TaskMove{From: from, To: t.State, Kind: t.Kind()},
		Data: encodeData(claimedData{from, t.State, r.Worker, t.WorkerTokenID, t.AgentTokenID}),
	})
	appendMessagesHanded(tx, run, h.context, c.Actor())
	return &fermata.Claim{Task: t, Run: run, Context: h.context}, nil
}

// handOver is what a run is handed: the closed questions and the messages that no run of its task was handed.
type handOver struct {
	runID     string
	questions []*fermata.Question
	messages  []*fermata.Message
	context   *fermata.ResumeContext
}

// newHandOver returns what a run is handed. The last run is nil if this is the task's first.
func newHandOver(tx *store.Tx, t *fermata.Task, runID string, last *fermata.LastRun, questions []*fermata.Question, messages []*fermata.Message) (*handOver, error) {
	pending, err := pendingQuestion(tx.Reader, t)
	if err != nil {
		return nil, err
	}
	now := tx.Now()
	for _, m := range messages {
		m.HandedTo, m.HandedAt, m.Handoff = runID, &now, fermata.HandoffHanded
	}
	h := &handOver{runID, questions, messages, fermata.NewResumeContext(t, last, questions, messages, pending)}
	return h, addGrants(h.context, questions, tx.Reader, tx.GrantKey)
}

// save marks the questions and messages as handed to the run. The caller saves the task.
func (h *handOver) save(tx *store.Tx, t *fermata.Task) {
	if len(h.questions) > 0 {
		tx.HandQuestions(t.ID, h.runID)
	}
	if len(h.messages) > 0 {
		tx.HandMessages(t.ID, h.runID)
	}
	t.Unread = 0
}

// appendMessagesHanded appends an event that says which messages the run was handed.
func appendMessagesHanded(tx *store.Tx, run *fermata.Run, rc *fermata.ResumeContext, by fermata.Actor) {
	if len(rc.Messages) == 0 {
		return
	}
	ids := make([]string, 0, len(rc.Messages))
	for i := range rc.Messages {
		ids = append(ids, rc.Messages[i].ID)
	}
	tx.Append(&fermata.Event{
		Type: fermata.EventMessageHanded, TaskID: run.TaskID, RunID: run.ID, Actor: by, Data: encodeData(map[string][]string{"message_ids": ids}),
	})
}

func pendingQuestion(r store.Reader, t *fermata.Task) (*fermata.Question, error) {
	if t.PendingQuestionID == "" {
		return nil, nil
	}
	q, err := r.Question(t.PendingQuestionID)
	return q.ViewFor(fermata.Caller{Kind: fermata.ActorAgent}), err
}

// countUnread sets the number of closed questions and messages of a task that no run was handed.
func countUnread(tx *store.Tx, t *fermata.Task) error {
	questions, err := tx.UnhandedQuestions(t.ID, "")
	if err != nil {
		return err
	}
	messages, err := tx.UnhandedMessages(t.ID, "")
	if err != nil {
		return err
	}
	t.Unread = len(questions) + len(messages)
	return nil
}

// moveAfterRun moves a task whose run ended without a result. If there is something
// to hand over, the task is ready at once. Otherwise a pending question
// suspends it again. A caller that has loaded the question passes it in.
func (e *Engine) moveAfterRun(tx *store.Tx, t *fermata.Task, pending *fermata.Question, by fermata.Actor) error {
	to := t.ReadyState()
	if t.PendingQuestionID != "" && t.Unread == 0 {
		if pending == nil {
			var err error
			if pending, err = tx.Question(t.PendingQuestionID); err != nil {
				return err
			}
		}
		to = pending.Type.AwaitingState()
	}
	if err := moveTask(tx, t, to, by); err != nil {
		return err
	}
	tx.SaveTask(t)
	return nil
}
