package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
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

func (e *Engine) claimNext(ctx context.Context, c fermata.Caller, r fermata.ClaimRequest) (*fermata.Claim, error) {
	var claim *fermata.Claim
	key := claimQueueKey{c.WorkspaceID, slices.Contains(r.Runners, fermata.RunnerWorkflow)}
	err := e.hub.waitForTask(ctx, key, time.Duration(r.WaitSeconds)*time.Second, func(first bool) (bool, error) {
		if !first {
			// A read costs little when there is no task; a write would cost more.
			if _, err := e.reader(ctx, c).NextClaimable(r); err != nil {
				return ignoreNotFound(err)
			}
			var err error
			if c, err = renewCaller(ctx, c); err == nil {
				err = c.CheckPermission(fermata.ToClaim, fermata.UnloadedResource)
			}
			if err != nil {
				return false, err
			}
		}
		got, err := write(ctx, e, c, fermata.ToClaim, func(tx *store.Tx) (*fermata.Claim, error) { return e.claim(tx, c, r) },
			store.ReadAhead{Claim: &r})
		if err != nil {
			return ignoreNotFound(err)
		}
		claim = got
		return true, nil
	})
	if err == nil && claim == nil {
		return nil, ErrNoTask
	}
	return claim, err
}

func ignoreNotFound(err error) (bool, error) {
	if fermata.CodeOf(err) == fermata.CodeNotFound {
		return false, nil
	}
	return false, err
}

func (e *Engine) claim(tx *store.Tx, c fermata.Caller, r fermata.ClaimRequest) (*fermata.Claim, error) {
	t, err := tx.NextClaimable(r)
	if err != nil {
		return nil, err
	}
	if err := c.CheckPermission(fermata.ToClaim, fermata.InProject(t.Project)); err != nil {
		return nil, err
	}
	from := t.State
	last, err := lastRun(tx.Reader, t)
	if err != nil {
		return nil, err
	}
	if err := t.Move(fermata.TaskInProgress); err != nil {
		return nil, err
	}
	runID := fermata.NewID(fermata.PrefixRun, tx.Now())
	rc, err := e.handOver(tx, t, runID, last)
	if err != nil {
		return nil, err
	}
	t.Runs++
	run := &fermata.Run{
		ID: runID, TaskID: t.ID, Attempt: t.Runs, State: fermata.RunRunning,
		Worker: r.Worker, Runner: t.Runner, Token: fermata.NewFencingToken(), ClaimedFrom: from,
		StartedAt: tx.Now(), HandedCount: rc.Size(),
	}
	run.Renew(r.Lease(), tx.Now())
	t.RunID, t.AgentTokenID = run.ID, r.AgentTokenID
	t.WorkerTokenID = cmp.Or(c.TokenID, string(c.Kind))
	tx.InsertRun(run)
	tx.SaveTask(t)
	tx.Append(&fermata.Event{
		Type: fermata.EventTaskClaimed, TaskID: t.ID, RunID: run.ID, Actor: c.Actor(),
		Data: encodeData(claimedData{from, t.State, r.Worker, t.WorkerTokenID, t.AgentTokenID}),
	})
	appendMessagesHanded(tx, run, rc, c.Actor())
	return &fermata.Claim{Task: t, Run: run, Context: rc}, nil
}

// lastRun returns the newest run of the task, or nil if the task had none.
func lastRun(r store.Reader, t *fermata.Task) (*fermata.LastRun, error) {
	if t.RunID == "" {
		return nil, nil
	}
	run, err := r.Run(t.RunID)
	return run.LastRun(), err
}

// handOver collects the closed questions and the messages that no run of the
// task was handed, and marks them as handed to this run. The last run is nil if
// this is the task's first.
func (e *Engine) handOver(tx *store.Tx, t *fermata.Task, runID string, last *fermata.LastRun) (*fermata.ResumeContext, error) {
	var questions []*fermata.Question
	var messages []*fermata.Message
	var err error
	if t.Unread > 0 {
		if questions, messages, err = tx.PendingHandOver(t.ID); err != nil {
			return nil, err
		}
	}
	pending, err := pendingQuestion(tx.Reader, t)
	if err != nil {
		return nil, err
	}
	if len(questions) > 0 {
		tx.HandQuestions(t.ID, runID)
	}
	if len(messages) > 0 {
		tx.HandMessages(t.ID, runID)
	}
	t.Unread = 0
	now := tx.Now()
	for _, m := range messages {
		m.HandedTo, m.HandedAt, m.Handoff = runID, &now, fermata.HandoffHanded
	}
	rc := fermata.NewResumeContext(t, last, questions, messages, pending)
	return rc, addGrants(rc, questions, tx.Reader, tx.GrantKey)
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
