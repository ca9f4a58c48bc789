package engine

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// taskID returns the full id for an id, or the end of one, that a person typed.
func (e *Engine) taskID(ctx context.Context, c fermata.Caller, idOrSuffix string) (string, error) {
	return e.reader(ctx, c).FindID("task", "tasks", fermata.PrefixTask, idOrSuffix)
}

// CreateTask creates a task. It is blocked while its dependencies are open.
func (e *Engine) CreateTask(ctx context.Context, c fermata.Caller, n fermata.NewTask) (*fermata.Task, error) {
	if err := c.CheckPermission(fermata.ToCreateTask, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	n.Project = c.ProjectOr(n.Project)
	if err := c.CheckPermission(fermata.ToCreateTask, fermata.InProject(n.Project)); err != nil {
		return nil, err
	}
	if n.Runner == fermata.RunnerWorkflow {
		return nil, fermata.Invalid(fermata.Problem{Field: "runner", Message: "workflow is for runs of workflows"}).
			WithHint("start one: fermata workflow run <name>")
	}
	if err := fermata.CheckSessionKey("session_key", n.SessionKey); err != nil {
		return nil, err
	}
	if err := e.expandIDs(ctx, c, &n.ParentID, n.BlockedBy); err != nil {
		return nil, err
	}
	return write(ctx, e, c, fermata.ToCreateTask, func(tx *store.Tx) (*fermata.Task, error) {
		if n.SessionKey != "" && n.Runner == fermata.RunnerExternal {
			// A session has one task at a time. A new call joins it, as a question does.
			t, err := taskOfSession(tx, c, fermata.ToCreateTask, n.SessionKey)
			if err == nil || fermata.CodeOf(err) != fermata.CodeNotFound {
				return t, err
			}
			if err := checkNotStopped(tx, c, n.SessionKey); err != nil {
				return nil, err
			}
		}
		if err := checkParentPermission(tx, c, n.ParentID); err != nil {
			return nil, err
		}
		if err := checkFilePermission(tx, c, n); err != nil {
			return nil, err
		}
		return e.createTask(tx, n, c.Actor())
	})
}

// expandIDs replaces shortened ids, which are only the end of an id, by full ones.
func (e *Engine) expandIDs(ctx context.Context, c fermata.Caller, parent *string, blockedBy []string) error {
	var err error
	if parent != nil && *parent != "" {
		if *parent, err = e.taskID(ctx, c, *parent); err != nil {
			return err
		}
	}
	for i := range blockedBy {
		if blockedBy[i], err = e.taskID(ctx, c, blockedBy[i]); err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) createTask(tx *store.Tx, n fermata.NewTask, by fermata.Actor) (*fermata.Task, error) {
	t, err := n.Create(fermata.NewID(fermata.PrefixTask, tx.Now()), by, tx.Now())
	if err != nil {
		return nil, err
	}
	if err := checkParent(tx, t); err != nil {
		return nil, err
	}
	if err := e.checkDependencies(tx, t); err != nil {
		return nil, err
	}
	if t.State == fermata.TaskOpen && len(t.BlockedBy) > 0 {
		waits, err := e.isBlocked(tx, t, nil)
		if err != nil {
			return nil, err
		}
		if waits {
			t.State = fermata.TaskBlocked
		}
	}
	if t.Project != fermata.DefaultProject {
		tx.EnsureProject(t.Project)
	}
	tx.InsertTask(t)
	tx.Append(&fermata.Event{
		Type: fermata.EventTaskCreated, TaskID: t.ID, Actor: by,
		Data: encodeData(struct {
			Title   string            `json:"title"`
			To      fermata.TaskState `json:"to"`
			Runner  string            `json:"runner,omitempty"`
			Project string            `json:"project"`
			Origin  string            `json:"origin_hash"`
		}{t.Title, t.State, eventRunner(t), t.Project, t.OriginHash()}),
	})
	return t, nil
}

// checkParent refuses a parent that does not exist, has ended, or is too deep in the tree.
func checkParent(tx *store.Tx, t *fermata.Task) error {
	depth, id := 0, t.ParentID
	for id != "" {
		parent, err := tx.Task(id)
		if err != nil {
			return err
		}
		if depth == 0 && parent.State.IsEnded() {
			return fermata.Errorf(fermata.CodeIllegalTransition, "the parent %s is %s", parent.ID, parent.State)
		}
		if depth++; depth > fermata.MaxDepth {
			return fermata.Invalid(fermata.Problem{Field: "parent_id", Message: "the tree would be too deep"})
		}
		id = parent.ParentID
	}
	return nil
}

// checkDependencies refuses a dependency that does not exist. It refuses a
// cycle, and the error shows the path.
func (e *Engine) checkDependencies(tx *store.Tx, t *fermata.Task) error {
	slices.Sort(t.BlockedBy)
	t.BlockedBy = slices.Compact(t.BlockedBy)
	found, err := tx.TasksByID(t.BlockedBy)
	if err != nil {
		return err
	}
	if len(found) != len(t.BlockedBy) {
		for _, id := range t.BlockedBy {
			if !slices.ContainsFunc(found, func(f *fermata.Task) bool { return f.ID == id }) {
				return fermata.Errorf(fermata.CodeNotFound, "blocked_by: there is no task %q", id)
			}
		}
	}
	return checkNoCycle(tx, t.ID, []string{t.ID}, found, map[string]bool{})
}

// checkNoCycle follows the dependencies from the last task of the path. It returns an error if they lead to start.
func checkNoCycle(tx *store.Tx, start string, path []string, next []*fermata.Task, seen map[string]bool) error {
	for _, t := range next {
		longerPath := append(slices.Clone(path), t.ID)
		if t.ID == start {
			message := "is a cycle: " + strings.Join(longerPath, " → ")
			return fermata.Invalid(fermata.Problem{Field: "blocked_by", Message: message})
		}
		if seen[t.ID] || len(t.BlockedBy) == 0 {
			continue
		}
		seen[t.ID] = true
		further, err := tx.TasksByID(t.BlockedBy)
		if err != nil {
			return err
		}
		if err := checkNoCycle(tx, start, longerPath, further, seen); err != nil {
			return err
		}
	}
	return nil
}

// dependOn adds dependencies to a task whose run is blocked.
func (e *Engine) dependOn(tx *store.Tx, t *fermata.Task, ids []string) error {
	t.BlockedBy = append(t.BlockedBy, ids...)
	err := e.checkDependencies(tx, t)
	if fermata.CodeOf(err) == fermata.CodeNotFound {
		// The run exists, but a task that its result names does not.
		return fermata.Errorf(fermata.CodeInvalidRequest, "%s", err)
	}
	if err == nil {
		tx.SaveTaskEdit(t)
	}
	return err
}

// Task returns a task with its pending question.
func (e *Engine) Task(ctx context.Context, c fermata.Caller, id string) (*fermata.Task, error) {
	if err := c.CheckPermission(fermata.ToReadTasks, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	r := e.reader(ctx, c)
	id, err := e.taskID(ctx, c, id)
	if err != nil {
		return nil, err
	}
	t, err := r.Task(id)
	if err != nil {
		return nil, err
	}
	return t, e.fillTasks(ctx, r, c, []*fermata.Task{t})
}

// fillTasks sets the derived fields: the pending question, what the task waits for,
// whether a person may resume or pause it, and why no running worker takes it.
func (e *Engine) fillTasks(ctx context.Context, r store.Reader, c fermata.Caller, tasks []*fermata.Task) error {
	var ids []string
	for _, t := range tasks {
		t.CanResume, t.CanPause = t.IsResumable(), !t.IsPaused() && t.CheckPause() == nil
		if t.IsPaused() {
			t.TakeOverCommand = t.Session.OpenCommand()
		}
		if t.PendingQuestionID != "" {
			ids = append(ids, t.PendingQuestionID)
		}
	}
	questions, err := r.QuestionsByID(ids)
	if err != nil {
		return err
	}
	byID := make(map[string]*fermata.Question, len(questions))
	for _, q := range questions {
		byID[q.ID] = q
	}
	for _, t := range tasks {
		t.PendingQuestion = byID[t.PendingQuestionID].ViewFor(c)
		t.Waiting = t.DescribeWaiting(t.PendingQuestion)
	}
	return e.fillNoWorker(ctx, c, tasks)
}

// Tree returns a task and everything below it, parents before children.
func (e *Engine) Tree(ctx context.Context, c fermata.Caller, id string) ([]*fermata.Task, error) {
	root, err := e.Task(ctx, c, id)
	if err != nil {
		return nil, err
	}
	r := e.reader(ctx, c)
	all := []*fermata.Task{root}
	for i := 0; i < len(all); i++ {
		children, err := r.Children(all[i].ID)
		if err != nil {
			return nil, err
		}
		all = append(all, children...)
	}
	return all, e.fillTasks(ctx, r, c, all)
}

// changeTask loads a task, settles its pending question if it is due, and then calls fn to change the task.
func (e *Engine) changeTask(
	ctx context.Context, c fermata.Caller, v fermata.Verb, id string, fn func(tx *store.Tx, t *fermata.Task) error,
) (*fermata.Task, error) {
	if err := c.CheckPermission(v, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	id, err := e.taskID(ctx, c, id)
	if err != nil {
		return nil, err
	}
	t, err := write(ctx, e, c, v, func(tx *store.Tx) (*fermata.Task, error) {
		t, err := tx.Task(id)
		if err == nil {
			err = checkTaskPermission(tx, c, v, t)
		}
		if err == nil {
			err = e.settlePendingIfDue(tx, t)
		}
		if err != nil {
			return nil, err
		}
		appendedBefore := tx.AppendedCount()
		err = fn(tx, t)
		return t, wrapTooLate(tx, appendedBefore, err)
	}, store.ReadAhead{Task: id})
	if err != nil {
		return nil, err
	}
	return t, e.fillTasks(ctx, e.reader(ctx, c), c, []*fermata.Task{t})
}

// UpdateTask changes texts, priority, labels or dependencies.
func (e *Engine) UpdateTask(ctx context.Context, c fermata.Caller, id string, p fermata.TaskPatch) (*fermata.Task, error) {
	if p.BlockedBy != nil {
		if err := e.expandIDs(ctx, c, nil, *p.BlockedBy); err != nil {
			return nil, err
		}
	}
	return e.changeTask(ctx, c, fermata.ToChangeTask, id, func(tx *store.Tx, t *fermata.Task) error {
		if p.Title != nil || p.Body != nil {
			if err := checkNotStep(tx, t, "its text is what the workflow says"); err != nil {
				return err
			}
		}
		if err := p.Apply(t, tx.Now()); err != nil {
			return err
		}
		if p.BlockedBy != nil {
			if t.Runner == fermata.RunnerWorkflow {
				return fermata.Errorf(fermata.CodeIllegalTransition, "a run of a workflow waits for what its workflow says").
					WithHint("cancel the run for which it waits, or let it end")
			}
			if err := e.checkDependencies(tx, t); err != nil {
				return err
			}
		}
		tx.SaveTaskEdit(t)
		tx.Append(&fermata.Event{Type: fermata.EventTaskUpdated, TaskID: t.ID, Actor: c.Actor(), Data: encodeData(p)})
		return e.moveAfterPatch(tx, t, p, c.Actor())
	})
}

// moveAfterPatch saves a changed task. If its dependencies were changed, it first moves the task.
func (e *Engine) moveAfterPatch(tx *store.Tx, t *fermata.Task, p fermata.TaskPatch, by fermata.Actor) error {
	if p.BlockedBy == nil || t.State != fermata.TaskBlocked && !t.State.IsClaimable() {
		tx.SaveTask(t)
		return nil
	}
	waits, err := e.isBlocked(tx, t, nil)
	if err != nil {
		return err
	}
	to := t.State
	switch {
	case waits:
		to = fermata.TaskBlocked
	case t.State == fermata.TaskBlocked:
		to = t.ReadyState()
	}
	if err := move(tx, t, to, by); err != nil {
		return err
	}
	tx.SaveTask(t)
	return nil
}

// DeferTask defers a task until an instant. If until is nil, it defers the task until a person continues it.
func (e *Engine) DeferTask(ctx context.Context, c fermata.Caller, id string, until *time.Time) (*fermata.Task, error) {
	if until != nil {
		if err := fermata.CheckInstant("until", *until); err != nil {
			return nil, err
		}
	}
	return e.changeTask(ctx, c, fermata.ToChangeTask, id, func(tx *store.Tx, t *fermata.Task) error {
		if err := t.CheckNotPaused(); err != nil {
			return err
		}
		if c.Kind == fermata.ActorAgent && t.Runner == fermata.RunnerWorkflow {
			return fermata.Errorf(fermata.CodeForbidden, "only a person puts a run of a workflow off").WithHint("let a step of it wait")
		}
		if until != nil && !until.After(tx.Now()) {
			return fermata.Invalid(fermata.Problem{Field: "until", Message: "must be in the future"})
		}
		if t.State == fermata.TaskInProgress || t.State.IsSuspended() {
			// Only its own run may defer a running task, and a suspended task waits already.
			return fermata.Errorf(fermata.CodeIllegalTransition, "a task that is %s cannot become %s", t.State, fermata.TaskDeferred)
		}
		if err := move(tx, t, fermata.TaskDeferred, c.Actor()); err != nil {
			return err
		}
		t.DeferUntil = nil
		if until != nil {
			cut := fermata.TruncateTime(*until)
			t.DeferUntil = &cut
		}
		tx.SaveTask(t)
		return nil
	})
}

// ReopenTask makes an ended or deferred task ready again.
func (e *Engine) ReopenTask(ctx context.Context, c fermata.Caller, id string) (*fermata.Task, error) {
	return e.changeTask(ctx, c, fermata.ToReopenTask, id, func(tx *store.Tx, t *fermata.Task) error { return e.reopen(tx, t, c.Actor()) })
}

func (e *Engine) reopen(tx *store.Tx, t *fermata.Task, by fermata.Actor) error {
	if err := t.CheckNotPaused(); err != nil {
		return err
	}
	if !t.State.IsEnded() && t.State != fermata.TaskDeferred {
		return fermata.Errorf(fermata.CodeIllegalTransition, "a task that is %s cannot be reopened to %s", t.State, fermata.TaskOpen)
	}
	if err := checkConcurrencyKeyFree(tx, t); err != nil {
		return err
	}
	endWaits(tx, t)
	t.Attempts = 0
	// The next run is handed everything that no run was handed.
	if err := countUnread(tx, t); err != nil {
		return err
	}
	return e.makeReady(tx, t, by)
}

// ResumeTask makes a suspended, blocked or deferred task continue without what it waits for. A question that the task
// waits for closes without an answer: the agent is told that nobody will answer, and decides for itself. The words
// are those of the person who resumes the task. If no question takes them, they become a message.
func (e *Engine) ResumeTask(ctx context.Context, c fermata.Caller, id, words string) (*fermata.Task, error) {
	if words != "" {
		if err := fermata.CheckMessage(words); err != nil {
			return nil, err
		}
	}
	return e.changeTask(ctx, c, fermata.ToResumeTask, id, func(tx *store.Tx, t *fermata.Task) error {
		switch {
		case t.IsPaused():
			return e.unpause(tx, t, words, c)
		case t.IsAsking():
			return e.letAgentDecide(tx, t, words, c)
		case t.State == fermata.TaskInputReceived:
			return e.addWords(tx, t, words, c.Actor())
		case !t.IsResumable():
			return t.CannotResumeError()
		}
		if err := checkNotQueued(tx, t); err != nil {
			return err
		}
		endWaits(tx, t)
		if err := e.addWords(tx, t, words, c.Actor()); err != nil {
			return err
		}
		if err := move(tx, t, t.ReadyState(), c.Actor()); err != nil {
			return err
		}
		tx.SaveTask(t)
		return nil
	})
}

// addWords posts the words of the person who resumes a task in its thread.
func (e *Engine) addWords(tx *store.Tx, t *fermata.Task, words string, by fermata.Actor) error {
	if words == "" {
		return nil
	}
	return e.storeMessage(tx, t, &fermata.Message{TaskID: t.ID, Kind: fermata.MessagePlain, Author: by, Body: words})
}

// ResumeContext returns the context that the next run of a task would be
// handed. For a running task, it returns the context that the present run was
// handed.
func (e *Engine) ResumeContext(ctx context.Context, c fermata.Caller, id string) (*fermata.ResumeContext, error) {
	t, err := e.Task(ctx, c, id)
	if err != nil {
		return nil, err
	}
	current := ""
	if t.State == fermata.TaskInProgress {
		current = t.RunID
	}
	if t.Runner == fermata.RunnerExternal {
		current = fermata.DeskRunID
	}
	r := e.reader(ctx, c)
	questions, err := r.UnhandedQuestions(t.ID, current)
	if err != nil {
		return nil, err
	}
	messages, err := r.UnhandedMessages(t.ID, current)
	if err != nil {
		return nil, err
	}
	last, err := lastRun(r, t)
	if err != nil {
		return nil, err
	}
	rc := fermata.NewResumeContext(t, last, questions, messages, t.PendingQuestion)
	if handed, err := mayReadGrants(r, c, t); err != nil || !handed {
		return rc, err
	}
	return rc, addGrants(rc, questions, r, func() ([]byte, error) { return e.grantKey(ctx, c) })
}

// Projects lists the names of the workspace's projects.
func (e *Engine) Projects(ctx context.Context, c fermata.Caller) ([]string, error) {
	if err := c.CheckPermission(fermata.ToReadTasks, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	return e.reader(ctx, c).Projects()
}
