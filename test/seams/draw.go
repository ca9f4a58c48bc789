package seams

import (
	"math/rand/v2"

	"github.com/fermata-hq/fermata"
)

// Shares of steps, in percent.
const (
	atOnce  = 30
	besides = 10
	// another is how often a second task is begun or chosen.
	another = 20
)

// Lengths of random sequences.
const (
	shortest = 3
	longest  = 10
)

// Draw returns a function that draws the steps of a random sequence while it is played.
func Draw(r *rand.Rand) func(*Play) (Step, bool) {
	left := shortest + r.IntN(longest-shortest+1)
	return func(p *Play) (Step, bool) {
		if left == 0 {
			return Step{}, false
		}
		left--
		return p.draw(r, left == 0), true
	}
}

// draw chooses a step that fits.
func (p *Play) draw(r *rand.Rand, last bool) Step {
	s := Step{Task: 'A', Now: r.IntN(100) < atOnce}
	if p.roles['A'] != nil && r.IntN(100) < another {
		s.Task = 'B'
	}
	p.rest(s)
	v := p.look(p.role(s.Task))
	total := 0
	for _, verb := range verbs {
		total += verb.fits(v)
	}
	at := r.IntN(total)
	for _, verb := range verbs {
		if at -= verb.fits(v); at >= 0 {
			continue
		}
		s.Verb = verb.name
		if len(verb.variants) > 0 {
			s.N = r.IntN(len(verb.variants))
		}
		if verb.world {
			s.Task, s.Now = 0, false
		}
		s.Beside = !last && !verb.world && verb.name != "create" && r.IntN(100) < besides
		return s
	}
	return s
}

// look returns the state of a task, for choosing the next step.
func (p *Play) look(r *role) view {
	v := view{rough: p.w.rough, worker: p.w.worker != nil}
	if r.id == "" {
		return v
	}
	t := p.w.ledger.look(r.id)
	held, _ := p.held(r)
	v.state, v.reason, v.held = t.State, t.Reason, held != ""
	if v.state == "" {
		v.state = fermata.TaskOpen // its event is under way
	}
	v.pending = p.question(r)
	all := p.questions(r)
	v.timedOut, v.answered = latest(all, fermata.TimedOut) != nil, latest(all, fermata.Answered) != nil
	switch l := p.agent(r); {
	case l != nil && l.session != nil:
		v.claude = true
	case l != nil:
		l.set(func() { v.agent, v.deaf, v.parent = true, l.deaf, l.parent })
	}
	return v
}
