package cli

import (
	"context"
	"slices"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/cli/render"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

type showCommand struct {
	ID    string `arg:"" help:"A task or a question."`
	Bytes bool   `help:"Show the exact bytes of an action, over which its sha256 is taken."`
}

func (showCommand) Help() string {
	return `Examples:

    fermata show 3f9k2a
    fermata show task_01k5h2m9n0abc3f9k2a
    fermata show 3f9k2a --json`
}

func (c *showCommand) Run(ctx context.Context, s *session.Session) error {
	t, q, err := s.FindTaskOrQuestion(ctx, c.ID)
	if err != nil {
		return err
	}
	if q != nil {
		if s.JSON {
			return s.WriteJSON(q)
		}
		p := s.Stdout()
		p.ExactBytes = c.Bytes
		render.PrintQuestion(p, q, s.Now())
		return nil
	}
	if s.JSON {
		return s.WriteJSON(t)
	}
	asked, err := closedQuestions(ctx, s, t)
	if err != nil {
		return err
	}
	progress, err := currentProgress(ctx, s, t)
	if err != nil {
		return err
	}
	thread, _, err := session.CollectPages(1000, func(cursor string, n int) ([]*fermata.Message, string, error) {
		return s.Client.Messages(ctx, t.ID, cursor, n)
	})
	if err != nil {
		return err
	}
	blockers, err := blockersOf(ctx, s, t)
	if err != nil {
		return err
	}
	p := s.Stdout()
	p.ExactBytes = c.Bytes
	render.PrintTask(p, t, s.Now())
	render.PrintBlockers(p, t, blockers)
	render.PrintActivity(p, progress, s.Now())
	render.PrintWork(p, t)
	switch {
	case t.Runner == fermata.RunnerWorkflow:
		p.Line("%s", p.Dim("Its steps: fermata workflow show "+terminal.ShortID(t.ID)))
	case t.Runs > 0:
		p.Line("%s", p.Dim("What the agent printed: fermata log "+terminal.ShortID(t.ID)))
	}
	render.PrintAnswers(p, asked)
	render.PrintMessages(p, thread, t.State.IsEnded(), s.Now())
	return nil
}

// maxShownQuestions is the largest number of shown questions of a task. The newest are shown.
const maxShownQuestions = 1000

// closedQuestions returns the closed questions of a task, oldest first.
func closedQuestions(ctx context.Context, s *session.Session, t *fermata.Task) ([]*fermata.Question, error) {
	list, _, err := s.Questions(ctx, client.QuestionQuery{TaskID: t.ID}, maxShownQuestions)
	list = slices.DeleteFunc(list, func(q *fermata.Question) bool { return q.Resolution == nil })
	slices.SortFunc(list, func(a, b *fermata.Question) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return list, err
}

// maxBlockers is the largest number of tasks that are read for the blockers of a task.
const maxBlockers = 20

// blockersOf returns the tasks that a task waits for, by id. It leaves out tasks that the person may not see.
func blockersOf(ctx context.Context, s *session.Session, t *fermata.Task) (map[string]*fermata.Task, error) {
	known := map[string]*fermata.Task{}
	for _, id := range t.BlockedBy[:min(len(t.BlockedBy), maxBlockers)] {
		blocker, err := s.Client.Task(ctx, id)
		switch {
		case err == nil:
			known[id] = blocker
		case fermata.CodeOf(err) != fermata.CodeNotFound:
			return nil, err
		}
	}
	return known, nil
}

// currentProgress returns the last progress report of the present run.
func currentProgress(ctx context.Context, s *session.Session, t *fermata.Task) (*fermata.TimelineEntry, error) {
	if t.State != fermata.TaskInProgress {
		return nil, nil //nolint:nilnil // nothing is under way
	}
	last, _, err := s.Client.Timeline(ctx, t.ID, "", session.MaxPageSize)
	if err != nil {
		return nil, err
	}
	for _, e := range slices.Backward(last) {
		if e.Kind == fermata.TimelineProgress || e.Type == fermata.EventTaskClaimed {
			return e, nil
		}
	}
	return nil, nil //nolint:nilnil // it began long ago and reported nothing since
}
