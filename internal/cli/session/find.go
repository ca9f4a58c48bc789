package session

import (
	"context"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/cli/render"
)

// FindTaskOrQuestion returns the task or the question with the id. The ending of an id may belong to either; FindTaskOrQuestion refuses an ending
// that belongs to both.
func (s *Session) FindTaskOrQuestion(ctx context.Context, id string) (*fermata.Task, *fermata.Question, error) {
	server, err := s.Server()
	if err != nil {
		return nil, nil, err
	}
	isTask := strings.HasPrefix(id, fermata.PrefixTask+"_")
	isQuestion := strings.HasPrefix(id, fermata.PrefixQuestion+"_")
	var t *fermata.Task
	var q *fermata.Question
	var errTask, errQuestion error
	if !isQuestion {
		if t, errTask = server.Task(ctx, id); isTask || IsLookupFailure(errTask) {
			return t, nil, errTask
		}
	}
	if q, errQuestion = server.Question(ctx, id); isQuestion || IsLookupFailure(errQuestion) {
		return nil, q, errQuestion
	}
	switch {
	case errTask == nil && errQuestion == nil:
		return nil, nil, fermata.Errorf(fermata.CodeInvalidRequest, "a task and a question have ids that end with %q", id).
			WithHint("write %s or %s", t.ID, q.ID)
	case errTask == nil:
		return t, nil, nil
	case errQuestion == nil:
		return nil, q, nil
	default:
		return nil, nil, fermata.Errorf(fermata.CodeNotFound, "there is no task and no question %q", id).
			WithHint("an id may be shortened to its last %d characters", fermata.MinIDSuffix)
	}
}

// ResolveTaskID returns the id of a task. The argument is the id of the task, or of a question that it asks. The server
// completes the ending of a task's id; ResolveTaskID resolves the ending of a question's id.
func (s *Session) ResolveTaskID(ctx context.Context, id string) (string, error) {
	if _, err := s.Server(); err != nil || strings.HasPrefix(id, fermata.PrefixTask+"_") {
		return id, err
	}
	t, q, err := s.FindTaskOrQuestion(ctx, id)
	switch {
	case err != nil:
		return "", err
	case t != nil:
		return t.ID, nil
	default:
		return q.TaskID, nil
	}
}

// IsLookupFailure reports whether a look-up failed for another reason than "not found".
func IsLookupFailure(err error) bool {
	return err != nil && fermata.CodeOf(err) != fermata.CodeNotFound
}

// FindQuestion returns the question with the id, or the question that the task with the id waits for. A workflow run
// also waits for the questions of its branches and items. If there is just one of these, FindQuestion returns it.
func (s *Session) FindQuestion(ctx context.Context, id string) (*fermata.Question, error) {
	t, q, err := s.FindTaskOrQuestion(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case q != nil:
		return q, nil
	case t.PendingQuestion != nil:
		return t.PendingQuestion, nil
	case t.State.IsEnded():
		return nil, s.noQuestionError(ctx, t)
	default:
		// A run is open for a moment when one of its branches got its answer, while others still ask.
		return s.findBranchQuestion(ctx, t)
	}
}

// findBranchQuestion returns the only question that the branches and items of a run ask. Questions of an agent or a
// run below it do not count.
func (s *Session) findBranchQuestion(ctx context.Context, t *fermata.Task) (*fermata.Question, error) {
	run, err := s.Client.WorkflowRun(ctx, t.ID)
	if err != nil {
		return nil, s.noQuestionError(ctx, t)
	}
	steps := map[string]string{}
	for _, step := range run.Steps {
		if step.QuestionID != "" {
			steps[step.QuestionID] = render.StepName(step)
		}
	}
	descendants, err := s.Client.Tree(ctx, t.ID)
	if err != nil {
		return nil, s.noQuestionError(ctx, t)
	}
	var asked []*fermata.Question
	var named []string
	for _, child := range descendants {
		if q := child.PendingQuestion; q != nil && steps[q.ID] != "" {
			asked, named = append(asked, q), append(named, q.ID+" ("+steps[q.ID]+")")
		}
	}
	switch len(asked) {
	case 0:
		return nil, s.noQuestionError(ctx, t)
	case 1:
		return s.Client.Question(ctx, asked[0].ID)
	default:
		return nil, fermata.Errorf(fermata.CodeIllegalTransition, "the run %s waits for the answers to %d questions", t.ID, len(asked)).
			WithHint("say which one you mean: %s", strings.Join(named, ", "))
	}
}

// noQuestionError returns the error for a task that waits for no answer. The hint of the error leads to the questions
// of the tasks below that task.
func (s *Session) noQuestionError(ctx context.Context, t *fermata.Task) error {
	e := fermata.Errorf(fermata.CodeIllegalTransition, "task %s waits for no answer: it is %s", t.ID, t.State)
	if t.State != fermata.TaskBlocked {
		asked, _, err := s.Client.Questions(ctx, client.QuestionQuery{TaskID: t.ID, Sort: "newest", Limit: 1})
		if err == nil && len(asked) == 1 && asked[0].Resolution != nil {
			return asked[0].ClosedError()
		}
		if t.State.IsEnded() {
			e.Code = fermata.CodeQuestionClosed
		}
		return e
	}
	descendants, err := s.Client.Tree(ctx, t.ID)
	if err != nil {
		return e.WithHint("fermata tree %s shows what it waits for", t.ID)
	}
	var asked []string
	for _, child := range descendants {
		if child.PendingQuestion != nil {
			asked = append(asked, child.PendingQuestion.ID)
		}
	}
	if len(asked) == 1 {
		return e.WithHint("a task below it asks: answer %s", asked[0])
	}
	return e.WithHint("fermata tree %s shows what it waits for, and the questions below it", t.ID)
}

// FindTask returns the task with the id, or the task that asks the question
// with the id.
func (s *Session) FindTask(ctx context.Context, id string) (*fermata.Task, error) {
	t, q, err := s.FindTaskOrQuestion(ctx, id)
	if err != nil || t != nil {
		return t, err
	}
	return s.Client.Task(ctx, q.TaskID)
}
