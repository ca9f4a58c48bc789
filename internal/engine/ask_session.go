package engine

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// AskExternal opens a question without a task. It creates an external task for
// the question, or uses the task of the session, so that every question has a
// thread.
func (e *Engine) AskExternal(ctx context.Context, c fermata.Caller, project, session string, a fermata.Ask) (*fermata.Question, error) {
	if err := c.CheckPermission(fermata.ToAsk, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	project = c.ProjectOr(project)
	if err := c.CheckPermission(fermata.ToAsk, fermata.InProject(project)); err != nil {
		return nil, err
	}
	if err := fermata.CheckSessionKey("session", session); err != nil {
		return nil, err
	}
	if a.RunID != "" {
		return nil, fermata.Invalid(fermata.Problem{Field: "run_id", Message: "is allowed only for a question of its task: POST /v1/tasks/{id}/questions"})
	}
	return write(ctx, e, c, fermata.ToAsk, func(tx *store.Tx) (*fermata.Question, error) {
		if a.IdempotencyKey != "" {
			q, err := findByIdempotencyKey(tx, a, c.Actor())
			if q != nil && err == nil {
				err = checkSameSession(tx, q, project, session)
			}
			if q != nil || err != nil {
				return q, err
			}
		}
		t, err := e.externalTask(tx, c, project, session, a)
		if err == nil {
			// The task of a session may be in another project.
			err = checkTaskPermission(tx, c, fermata.ToAsk, t)
		}
		if err != nil {
			return nil, err
		}
		return e.ask(tx, t, "", a, c.Actor())
	})
}

// checkSameSession refuses an idempotency key that the caller used in another session or project.
func checkSameSession(tx *store.Tx, q *fermata.Question, project, session string) error {
	t, err := tx.Task(q.TaskID)
	if err != nil {
		return err
	}
	// The task of a session may be in another project than the one in the request.
	if t.SessionKey != session || session == "" && project != "" && project != t.Project {
		return keyTakenError(q)
	}
	return nil
}

// sessionReader is the part of a reader or a transaction that finds tasks of sessions.
type sessionReader interface {
	TasksOfSession(key string) ([]*fermata.Task, error)
	EndedTasksOfSession(key string) ([]*fermata.Task, error)
}

// taskOfSession returns the newest task of the caller's session. The task may
// be in another project than the one in the request.
func taskOfSession(r sessionReader, c fermata.Caller, v fermata.Verb, key string) (*fermata.Task, error) {
	all, err := r.TasksOfSession(key)
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		if isOwnSession(c, t) {
			return t, c.CheckPermission(v, fermata.InTask(t))
		}
	}
	return nil, fermata.NotFound("session", key)
}

// cancelledTask returns the last ended task of the caller's session if it was cancelled, and nil otherwise.
func cancelledTask(r sessionReader, c fermata.Caller, key string) (*fermata.Task, error) {
	ended, err := r.EndedTasksOfSession(key)
	if err != nil {
		return nil, err
	}
	for _, t := range ended {
		if !isOwnSession(c, t) {
			continue
		}
		if t.State != fermata.TaskCancelled {
			return nil, nil
		}
		return t, nil
	}
	return nil, nil
}

// checkNotStopped refuses an agent a new task for a session whose task was cancelled. Only a person may let the
// session continue.
func checkNotStopped(r sessionReader, c fermata.Caller, key string) error {
	if c.Kind != fermata.ActorAgent {
		return nil
	}
	t, err := cancelledTask(r, c, key)
	if err != nil || t == nil {
		return err
	}
	return fermata.Errorf(fermata.CodeIllegalTransition, "the session is stopped: its task %s was cancelled", t.ID).
		WithHint("a person lets the session go on: fermata reopen %s", t.ID)
}

// isOwnSession reports whether the caller created the task of a session. To know the key of the session is not enough:
// an agent or a person that names the session of another one gets a task of its own. Otherwise this caller would act
// with approvals that others got. Callers of other kinds own every session.
func isOwnSession(c fermata.Caller, t *fermata.Task) bool {
	switch c.Kind {
	case fermata.ActorAgent:
		return t.CreatedBy.Kind == fermata.ActorAgent && t.CreatedBy.ID == c.TokenID
	case fermata.ActorHuman:
		return t.CreatedBy.Kind == fermata.ActorHuman && t.CreatedBy.ID == c.MemberID
	default:
		return true
	}
}

// externalTask returns the external task of a session, or a new one.
func (e *Engine) externalTask(tx *store.Tx, c fermata.Caller, project, session string, a fermata.Ask) (*fermata.Task, error) {
	if session != "" {
		t, err := taskOfSession(tx, c, fermata.ToAsk, session)
		if err == nil {
			err = e.settlePendingIfDue(tx, t)
		}
		if err == nil && !t.State.IsEnded() || err != nil && fermata.CodeOf(err) != fermata.CodeNotFound {
			return t, err
		}
		if err := checkNotStopped(tx, c, session); err != nil {
			return nil, err
		}
	}
	policy, err := e.policy(tx.Reader)
	if err != nil {
		return nil, err
	}
	// Open the question once on a task that does not exist, only to learn its
	// title and its problems before anything is written.
	probe, err := a.Open("", &fermata.Task{Runner: fermata.RunnerExternal}, c.Actor(), policy, tx.Now())
	if err != nil {
		return nil, err
	}
	n := fermata.NewTask{
		Title: probe.Title, Project: project, Runner: fermata.RunnerExternal, SessionKey: session, EndsWithAnswer: session == "",
	}
	return e.createTask(tx, n, c.Actor())
}
