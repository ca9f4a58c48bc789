package seams

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
)

// Limits of a play.
const (
	// callWithin is the time limit of a call, including a restart of the server.
	callWithin = 2 * time.Minute
	// rounds is how often agents are told to complete until no task is in progress.
	rounds = 8
)

// role is a task in a sequence.
type role struct {
	letter byte
	id     string
	// held is the question for which alice can take her answer back.
	held     string
	heldWord *Word
}

// Play is a sequence that is being played.
type Play struct {
	w     *World
	ctx   context.Context
	c     *Case
	mu    sync.Mutex
	roles map[byte]*role
}

// Play plays a sequence and returns the record of it. next returns the next step, or false at the end.
func (w *World) Play(ctx context.Context, next func(p *Play) (Step, bool)) *Case {
	p := &Play{w: w, ctx: ctx, c: &Case{Letters: map[string]byte{}, Real: w.claude != nil, Busy: w.pace.busy}, roles: map[byte]*role{}}
	before := w.disturbed.Load()
	var beside sync.WaitGroup
	for {
		s, more := next(p)
		if !more || ctx.Err() != nil {
			break
		}
		p.c.Sequence = append(p.c.Sequence, s)
		p.rest(s)
		if v, _ := verbOf(s.Verb); s.Beside && !v.world && v.name != "create" {
			p.role(s.Task)
			beside.Go(func() { p.step(s) })
			continue
		}
		p.step(s)
		beside.Wait()
	}
	beside.Wait()
	p.close() //nolint:contextcheck // what is left is told after the sequence
	p.c.Disturbed = w.disturbed.Load() != before
	return p.c
}

// Replay returns a function that returns the steps of a sequence one by one.
func Replay(q Sequence) func(*Play) (Step, bool) {
	return func(*Play) (Step, bool) {
		if len(q) == 0 {
			return Step{}, false
		}
		s := q[0]
		q = q[1:]
		return s, true
	}
}

// role returns the task of a letter.
func (p *Play) role(letter byte) *role {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.roles[letter]
	if r == nil {
		r = &role{letter: letter}
		p.roles[letter] = r
	}
	return r
}

// rest waits until the step's task has come to rest, unless the step is at once.
func (p *Play) rest(s Step) {
	if s.Task == 0 || s.Now {
		return
	}
	p.settle(p.role(s.Task))
}

// settle waits until the task has come to rest.
func (p *Play) settle(r *role) {
	if r.id == "" {
		return
	}
	if !p.w.until(p.ctx, p.w.pace.settles, func() bool { return p.w.atRest(r.id) }) && p.ctx.Err() == nil {
		t := p.w.ledger.look(r.id)
		p.c.stuck("task %c is %s and does not come to rest: for %s nobody moved it on", r.letter, t.State, p.w.pace.settles)
	}
}

// step does one step. An impossible step has no effect.
func (p *Play) step(s Step) {
	v, ok := verbOf(s.Verb)
	if !ok || v.world && !p.w.rough {
		return
	}
	var r *role
	if !v.world {
		if r = p.role(s.Task); (r.id == "") != (v.name == "create") {
			return
		}
	}
	v.act(p, r, s.N)
}

// try makes a person do something and records the result.
func (p *Play) try(who *person, what string, r *role, do func(context.Context) error) {
	limit, cancel := context.WithTimeout(p.ctx, callWithin)
	defer cancel()
	began := time.Now()
	err := do(limit)
	if p.ctx.Err() != nil {
		return
	}
	p.c.note(func() {
		p.c.Acts = append(p.c.Acts, Act{Step: what, Who: who.name, Task: r.id, Began: began, End: time.Now(), Err: err})
	})
}

// said records what a person said.
func (p *Play) said(w *Word) {
	w.Acked = time.Now()
	p.c.note(func() { p.c.Words = append(p.c.Words, w) })
}

// question returns the pending question of the task, or nil.
func (p *Play) question(r *role) *fermata.Question {
	t, err := p.w.admin.Task(p.ctx, r.id)
	if err != nil {
		return nil
	}
	return t.PendingQuestion
}

// agent returns the agent that works on the task and takes orders. After a stop it returns the agent that worked on the
// task last, as long as that one is running.
func (p *Play) agent(r *role) *Life {
	l := p.w.stage.last(r.id, p.w.ledger.look(r.id).Run)
	if l == nil || !l.alive() {
		return nil
	}
	return l
}

// listening returns the run whose agent would get a message at once, or "".
func (p *Play) listening(r *role) string {
	run := p.w.ledger.look(r.id).Run
	if !p.listens(r.id, run) {
		return ""
	}
	return run
}

// order tells the agent of the task to do something, if there is one.
func (p *Play) order(r *role, o order) {
	l := p.agent(r)
	if l == nil {
		return
	}
	got, err := p.tell(l, o)
	if err == nil && got.Status >= 500 {
		err = refusalOf(got.Status, got.Body)
	}
	p.c.note(func() {
		p.c.Acts = append(p.c.Acts, Act{Step: o.Do, Who: "the agent", Task: r.id, End: time.Now(), Err: err})
	})
}

// tell sends an order to an agent.
func (p *Play) tell(l *Life, o order) (report, error) {
	limit, cancel := context.WithTimeout(p.ctx, callWithin)
	defer cancel()
	o.Key = fmt.Sprintf("%s-%d", p.w.address, p.w.keys.Add(1))
	return l.perform(limit, o)
}

// set changes the recorded state of the agent.
func (l *Life) set(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
}

// close brings a sequence to its end: all tasks come to rest, every agent completes, the tasks that still wait are
// cancelled, and the last process ends.
func (p *Play) close() {
	if p.w.worker == nil {
		p.w.startWorker()
	}
	p.settleAll()
	p.awaitHeard()
	// If an agent ended with its worker, another one follows when the lease is over.
	p.settleAll()
	p.awaitHeard()
	p.c.Settled = p.snapshots()
	for range rounds {
		if !p.completeAll() {
			break
		}
		p.settleAll()
	}
	p.awaitHeard()
	p.c.Final = p.snapshots()
	for _, r := range p.roles {
		if r.id != "" && !p.w.ledger.look(r.id).State.IsEnded() {
			p.cancel(r, 0)
		}
	}
	p.leave()
}

// settleAll waits until every task has come to rest, and no answer can be taken back.
func (p *Play) settleAll() {
	for _, r := range p.roles {
		p.w.until(p.ctx, p.w.pace.settles, func() bool { return r.id == "" || p.w.ledger.look(r.id).Held == "" })
		p.settle(r)
	}
}

// awaitHeard waits until each agent at work has read its messages, or until the time limit of the pace. A coding agent
// does not listen before its first turn and between two turns, but it is at work.
func (p *Play) awaitHeard() {
	limit := p.w.pace.hears()
	if p.c.Real {
		limit += turns
	}
	p.w.until(p.ctx, limit, func() bool {
		for _, w := range p.c.Words {
			run := w.Run
			if p.c.Real {
				run = p.w.ledger.look(w.Task).Run
			}
			if w.Kind == wordMessage && p.isAtWork(w.Task, run) && !heard(p.toldAll(w.Task), w.Text) {
				return false
			}
		}
		return true
	})
}

// listens reports whether the agent of the run takes orders and the run goes on.
func (p *Play) listens(task, run string) bool {
	return p.isAtWork(task, run) && p.w.stage.last(task, run).alive()
}

// isAtWork reports whether the run goes on and its agent was not told to end.
func (p *Play) isAtWork(task, run string) bool {
	t := p.w.ledger.look(task)
	l := p.w.stage.last(task, run)
	return run != "" && t.State == fermata.TaskInProgress && t.Run == run && l != nil && l.goesOn()
}

// toldAll returns everything that the agents of a task were told.
func (p *Play) toldAll(task string) []Told {
	var all []Told
	for _, l := range p.w.stage.of(task) {
		all = append(all, l.Told()...)
	}
	return all
}

// completeAll makes every agent complete, and reports whether there was one.
func (p *Play) completeAll() bool {
	found := false
	for _, r := range p.roles {
		if r.id != "" && p.listening(r) != "" {
			found = true
			p.order(r, order{Do: "end", Result: json.RawMessage(`{"result":"completed","summary":"It is done."}`)})
		}
	}
	return found
}

func (p *Play) snapshots() map[string]*Snapshot {
	all := map[string]*Snapshot{}
	for _, id := range p.c.Tasks {
		limit, cancel := context.WithTimeout(p.ctx, callWithin)
		s, err := p.w.snapshot(limit, id)
		cancel()
		if err != nil {
			if p.ctx.Err() == nil {
				p.c.stuck("task %c cannot be read: %v", p.c.Letters[id], err)
			}
			continue
		}
		all[id] = s
	}
	return all
}

// leave waits until no agent is running, and reads the events.
func (p *Play) leave() {
	p.w.until(p.ctx, p.w.pace.gone(), func() bool {
		for _, id := range p.c.Tasks {
			for _, l := range p.w.stage.of(id) {
				if l.isThere() {
					return false
				}
			}
		}
		return true
	})
	p.c.Lives, p.c.Events = map[string][]*Life{}, map[string][]*fermata.Event{}
	for _, id := range p.c.Tasks {
		p.c.Lives[id] = p.w.stage.of(id)
		limit, cancel := context.WithTimeout(p.ctx, callWithin)
		events, err := p.w.events(limit, id)
		cancel()
		if err != nil && p.ctx.Err() == nil {
			p.c.stuck("the events of task %c cannot be read: %v", p.c.Letters[id], err)
		}
		p.c.Events[id] = events
	}
}

// isThere reports whether the process is connected.
func (l *Life) isThere() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.goneAt.IsZero()
}

// Forget drops the data of a case from the world.
func (w *World) Forget(c *Case) {
	for _, id := range c.Tasks {
		w.ledger.forget(id)
		w.stage.forget(id)
	}
}
