package seams

import (
	"math/rand/v2"

	"github.com/fermata-hq/fermata"
)

// Shares of steps, in percent.
const (
	atOncePercent = 30
	besidePercent = 10
	// anotherPercent is how often a second task is begun or chosen.
	anotherPercent = 20
)

// Lengths of random sequences.
const (
	minSteps = 3
	maxSteps = 10
)

// Draw returns a function that draws the steps of a random sequence while it is played.
func Draw(r *rand.Rand) func(*Play) (Step, bool) {
	left := minSteps + r.IntN(maxSteps-minSteps+1)
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
	s := Step{Task: 'A', Now: r.IntN(100) < atOncePercent}
	if p.tasks['A'] != nil && r.IntN(100) < anotherPercent {
		s.Task = 'B'
	}
	p.awaitRest(s)
	v := p.viewOf(p.taskOf(s.Task))
	total := 0
	for _, verb := range verbs {
		total += verb.weight(v)
	}
	at := r.IntN(total)
	for _, verb := range verbs {
		if at -= verb.weight(v); at >= 0 {
			continue
		}
		s.Verb = verb.name
		if len(verb.variants) > 0 {
			s.N = r.IntN(len(verb.variants))
		}
		if verb.onMachines {
			s.Task, s.Now = 0, false
		}
		s.Beside = !last && !verb.onMachines && verb.name != "create" && r.IntN(100) < besidePercent
		return s
	}
	return s
}

// viewOf returns the state of a task, for choosing the next step.
func (p *Play) viewOf(r *playTask) view {
	v := view{rough: p.w.rough, worker: p.w.worker != nil}
	if r.id == "" {
		return v
	}
	t := p.w.ledger.entryOf(r.id)
	held, _ := p.heldAnswer(r)
	v.state, v.reason, v.held = t.State, t.Reason, held != ""
	if v.state == "" {
		v.state = fermata.TaskOpen // its event is under way
	}
	v.pending = p.question(r)
	all := p.questions(r)
	v.timedOut, v.answered = latestQuestion(all, fermata.TimedOut) != nil, latestQuestion(all, fermata.Answered) != nil
	switch l := p.agent(r); {
	case l != nil && l.session != nil:
		v.claude = true
	case l != nil:
		l.update(func() { v.agent, v.deaf, v.leftChild = true, l.deaf, l.leftChild })
	}
	return v
}
