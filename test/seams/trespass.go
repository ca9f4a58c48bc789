package seams

import (
	"cmp"
	"context"

	"github.com/fermata-hq/fermata"
)

// trespasses are forbidden acts of people and agents.
var trespasses = []struct {
	name string
	// try returns false if there is no object to try the act on.
	try func(ctx context.Context, p *Play, r *playTask) (bool, error)
}{
	{"an agent answers", func(ctx context.Context, p *Play, r *playTask) (bool, error) {
		return p.answerAs(ctx, p.w.agents, r)
	}},
	{"the worker answers", func(ctx context.Context, p *Play, r *playTask) (bool, error) {
		return p.answerAs(ctx, p.w.workerPerson, r)
	}},
	{"a viewer answers", func(ctx context.Context, p *Play, r *playTask) (bool, error) {
		return p.answerAs(ctx, p.w.carol, r)
	}},
	{"a viewer cancels", func(ctx context.Context, p *Play, r *playTask) (bool, error) {
		return cancelAs(ctx, p.w.carol, r)
	}},
	{"a viewer writes", func(ctx context.Context, p *Play, r *playTask) (bool, error) {
		return writeAs(ctx, p.w.carol, r)
	}},
	{"a viewer reopens", func(ctx context.Context, p *Play, r *playTask) (bool, error) {
		_, err := p.w.carol.ReopenTask(ctx, r.id)
		return true, err
	}},
	{"a viewer resumes", func(ctx context.Context, p *Play, r *playTask) (bool, error) {
		_, err := p.w.carol.ResumeTask(ctx, r.id, "")
		return true, err
	}},
	{"a viewer pauses", func(ctx context.Context, p *Play, r *playTask) (bool, error) {
		_, err := p.w.carol.PauseTask(ctx, r.id)
		return true, err
	}},
	{"a reader writes", func(ctx context.Context, p *Play, r *playTask) (bool, error) {
		return writeAs(ctx, p.w.readerPerson, r)
	}},
	{"a reader cancels", func(ctx context.Context, p *Play, r *playTask) (bool, error) {
		return cancelAs(ctx, p.w.readerPerson, r)
	}},
	{"another agent cancels", func(ctx context.Context, p *Play, r *playTask) (bool, error) {
		return cancelAs(ctx, p.w.stranger, r)
	}},
	{"another agent writes", func(ctx context.Context, p *Play, r *playTask) (bool, error) {
		return writeAs(ctx, p.w.stranger, r)
	}},
	{"another agent asks", func(ctx context.Context, p *Play, r *playTask) (bool, error) {
		_, err := p.w.stranger.Ask(ctx, r.id, fermata.Ask{Question: "May I?"})
		return true, err
	}},
	{"another agent withdraws the question", func(ctx context.Context, p *Play, r *playTask) (bool, error) {
		q := p.question(r)
		if q == nil {
			return false, nil
		}
		_, err := p.w.stranger.CancelQuestion(ctx, q.ID, "")
		return true, err
	}},
	{"an agent's token claims", func(ctx context.Context, p *Play, _ *playTask) (bool, error) {
		_, err := p.w.agents.Claim(ctx, fermata.ClaimRequest{Worker: "w"})
		return true, err
	}},
	{"an agent's token finishes the run", func(ctx context.Context, p *Play, r *playTask) (bool, error) {
		return p.finishAs(ctx, p.w.agents, r, 0)
	}},
	{"a worker finishes with the fencing token of another run", func(ctx context.Context, p *Play, r *playTask) (bool, error) {
		return p.finishAs(ctx, p.w.workerPerson, r, 7)
	}},
	{"a run that is over says it goes on", func(ctx context.Context, p *Play, r *playTask) (bool, error) {
		run, err := p.pastRun(ctx, r)
		if run == nil || err != nil {
			return false, err
		}
		_, err = p.w.workerPerson.Heartbeat(ctx, run.ID, fermata.Heartbeat{Token: guessToken(run)})
		return true, err
	}},
	{"a run that is over completes", func(ctx context.Context, p *Play, r *playTask) (bool, error) {
		run, err := p.pastRun(ctx, r)
		if run == nil || err != nil {
			return false, err
		}
		_, err = p.w.workerPerson.Finish(ctx, run.ID, fermata.Finish{Token: guessToken(run), Result: fermata.ResultCompleted})
		return true, err
	}},
	{"bob takes back what alice answered", func(ctx context.Context, p *Play, r *playTask) (bool, error) {
		held, _ := p.heldAnswer(r)
		if held == "" {
			return false, nil
		}
		_, err := p.w.bob.Undo(ctx, held)
		return true, err
	}},
}

func trespassNames() []string {
	names := make([]string, len(trespasses))
	for i, t := range trespasses {
		names[i] = t.name
	}
	return names
}

func (p *Play) trespass(r *playTask, n int) {
	t := trespasses[n%len(trespasses)]
	limit, cancel := context.WithTimeout(p.ctx, callTimeout)
	defer cancel()
	if tried, err := t.try(limit, p, r); tried && p.ctx.Err() == nil {
		p.c.record(func() { p.c.Trespasses = append(p.c.Trespasses, Trespass{Task: r.id, What: t.name, Err: err}) })
	}
}

func (p *Play) answerAs(ctx context.Context, who *person, r *playTask) (bool, error) {
	q := p.question(r)
	if q == nil {
		return false, nil
	}
	a, _ := p.answerTo(q, true)
	_, err := who.Answer(ctx, q.ID, a)
	return true, err
}

func cancelAs(ctx context.Context, who *person, r *playTask) (bool, error) {
	_, err := who.CancelTask(ctx, r.id, "")
	return true, err
}

func writeAs(ctx context.Context, who *person, r *playTask) (bool, error) {
	_, err := who.PostMessage(ctx, r.id, "Do it for me.")
	return true, err
}

// guessToken returns the fencing token that an attacker who read the run would try. Only the claim returns the real one.
func guessToken(run *fermata.Run) int64 { return cmp.Or(run.Token, int64(run.Attempt)) }

// finishAs completes the current run with a fencing token that is off by the given number.
func (p *Play) finishAs(ctx context.Context, who *person, r *playTask, off int64) (bool, error) {
	t := p.w.ledger.entryOf(r.id)
	if t.Run == "" {
		return false, nil
	}
	run, err := p.w.admin.Run(ctx, t.Run)
	if err != nil {
		return false, err
	}
	_, err = who.Finish(ctx, run.ID, fermata.Finish{Token: guessToken(run) + off, Result: fermata.ResultCompleted, Summary: "stolen"})
	return true, err
}

// pastRun returns a run of the task that has ended, or nil.
func (p *Play) pastRun(ctx context.Context, r *playTask) (*fermata.Run, error) {
	runs, err := p.w.admin.Runs(ctx, r.id)
	if err != nil {
		return nil, err
	}
	for _, run := range runs {
		if run.State != fermata.RunRunning {
			return run, nil
		}
	}
	return nil, nil //nolint:nilnil // there may be none
}
