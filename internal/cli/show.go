package cli

import (
	"context"
	"slices"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
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

func (c *showCommand) Run(ctx context.Context, s *session) error {
	t, q, err := s.find(ctx, c.ID)
	if err != nil {
		return err
	}
	if q != nil {
		if s.JSON {
			return s.writeJSON(q)
		}
		p := s.stdout()
		p.exactBytes = c.Bytes
		p.printQuestion(q, s.now())
		return nil
	}
	if s.JSON {
		return s.writeJSON(t)
	}
	asked, err := s.closedQuestions(ctx, t)
	if err != nil {
		return err
	}
	progress, err := s.currentProgress(ctx, t)
	if err != nil {
		return err
	}
	thread, _, err := collectPages(1000, func(cursor string, n int) ([]*fermata.Message, string, error) {
		return s.client.Messages(ctx, t.ID, cursor, n)
	})
	if err != nil {
		return err
	}
	blockers, err := s.blockersOf(ctx, t)
	if err != nil {
		return err
	}
	p := s.stdout()
	p.exactBytes = c.Bytes
	p.printTask(t, s.now())
	p.printBlockers(t.BlockedBy, blockers)
	p.printActivity(progress, s.now())
	p.printWork(t)
	switch {
	case t.Runner == fermata.RunnerWorkflow:
		p.line("%s", p.dim("Its steps: fermata workflow show "+shortID(t.ID)))
	case t.Runs > 0:
		p.line("%s", p.dim("What the agent printed: fermata log "+shortID(t.ID)))
	}
	p.printAnswers(asked)
	p.printMessages(thread, t.State.IsEnded(), s.now())
	return nil
}

// maxShownQuestions is the largest number of shown questions of a task. The newest are shown.
const maxShownQuestions = 1000

// closedQuestions returns the closed questions of a task, oldest first.
func (s *session) closedQuestions(ctx context.Context, t *fermata.Task) ([]*fermata.Question, error) {
	list, _, err := s.questions(ctx, client.QuestionQuery{TaskID: t.ID}, maxShownQuestions)
	list = slices.DeleteFunc(list, func(q *fermata.Question) bool { return q.Resolution == nil })
	slices.SortFunc(list, func(a, b *fermata.Question) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return list, err
}

// maxBlockers is the largest number of tasks that are read for the blockers of a task.
const maxBlockers = 20

// blockersOf returns the tasks that a task waits for, by id. It leaves out tasks that the person may not see.
func (s *session) blockersOf(ctx context.Context, t *fermata.Task) (map[string]*fermata.Task, error) {
	known := map[string]*fermata.Task{}
	for _, id := range t.BlockedBy[:min(len(t.BlockedBy), maxBlockers)] {
		blocker, err := s.client.Task(ctx, id)
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
func (s *session) currentProgress(ctx context.Context, t *fermata.Task) (*fermata.TimelineEntry, error) {
	if t.State != fermata.TaskInProgress {
		return nil, nil //nolint:nilnil // nothing is under way
	}
	last, _, err := s.client.Timeline(ctx, t.ID, "", maxPageSize)
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
