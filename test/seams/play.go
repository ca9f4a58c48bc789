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
	// callTimeout is the time limit of a call, including a restart of the server.
	callTimeout = 2 * time.Minute
	// rounds is how often at most all agents are told to complete, until no agent is left.
	rounds = 8
)

// playTask is a task in a sequence.
type playTask struct {
	letter byte
	id     string
	// heldQuestion is the question for which alice can take her answer back.
	heldQuestion string
	heldWord     *Word
}

// Play is a sequence that is being played.
type Play struct {
	w     *World
	ctx   context.Context
	c     *Case
	mu    sync.Mutex
	tasks map[byte]*playTask
}

// Play plays a sequence and returns the record of it. next returns the next step, or false at the end.
func (w *World) Play(ctx context.Context, next func(p *Play) (Step, bool)) *Case {
	p := &Play{w: w, ctx: ctx, c: &Case{Letters: map[string]byte{}, Real: w.claude != nil, Busy: w.pace.busy}, tasks: map[byte]*playTask{}}
	before := w.disturbed.Load()
	var beside sync.WaitGroup
	for {
		s, more := next(p)
		if !more || ctx.Err() != nil {
			break
		}
		p.c.Sequence = append(p.c.Sequence, s)
		p.awaitRest(s)
		if v, _ := verbOf(s.Verb); s.Beside && !v.onMachines && v.name != "create" {
			p.taskOf(s.Task)
			beside.Go(func() { p.playStep(s) })
			continue
		}
		p.playStep(s)
		beside.Wait()
	}
	beside.Wait()
	p.finish() //nolint:contextcheck // what is left is told after the sequence
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

// taskOf returns the task of a letter.
func (p *Play) taskOf(letter byte) *playTask {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.tasks[letter]
	if r == nil {
		r = &playTask{letter: letter}
		p.tasks[letter] = r
	}
	return r
}

// awaitRest waits until the step's task needs a new act to move on, unless Now is set.
func (p *Play) awaitRest(s Step) {
	if s.Task == 0 || s.Now {
		return
	}
	p.awaitTaskRest(p.taskOf(s.Task))
}

// awaitTaskRest waits until the task needs a new act to move on.
func (p *Play) awaitTaskRest(r *playTask) {
	if r.id == "" {
		return
	}
	if !p.w.awaitCondition(p.ctx, p.w.pace.restTimeout, func() bool { return p.w.isAtRest(r.id) }) && p.ctx.Err() == nil {
		t := p.w.ledger.entryOf(r.id)
		p.c.recordStuck("task %c is %s and is not at rest: for %s nobody moved it on", r.letter, t.State, p.w.pace.restTimeout)
	}
}

// playStep does one step. An impossible step has no effect.
func (p *Play) playStep(s Step) {
	v, ok := verbOf(s.Verb)
	if !ok || v.onMachines && !p.w.rough {
		return
	}
	var r *playTask
	if !v.onMachines {
		if r = p.taskOf(s.Task); (r.id == "") != (v.name == "create") {
			return
		}
	}
	v.act(p, r, s.N)
}

// recordAct makes a person do something and records the result.
func (p *Play) recordAct(who *person, what string, r *playTask, do func(context.Context) error) {
	limit, cancel := context.WithTimeout(p.ctx, callTimeout)
	defer cancel()
	began := time.Now()
	err := do(limit)
	if p.ctx.Err() != nil {
		return
	}
	p.c.record(func() {
		p.c.Acts = append(p.c.Acts, Act{Step: what, Who: who.name, Task: r.id, Began: began, End: time.Now(), Err: err})
	})
}

// recordWord records what a person said.
func (p *Play) recordWord(w *Word) {
	w.Acked = time.Now()
	p.c.record(func() { p.c.Words = append(p.c.Words, w) })
}

// question returns the pending question of the task, or nil.
func (p *Play) question(r *playTask) *fermata.Question {
	t, err := p.w.admin.Task(p.ctx, r.id)
	if err != nil {
		return nil
	}
	return t.PendingQuestion
}

// agent returns the agent that works on the task and takes orders, or nil. After a stop, it returns the agent of the last
// run as long as that agent is running.
func (p *Play) agent(r *playTask) *AgentProcess {
	l := p.w.hub.lastAgent(r.id, p.w.ledger.entryOf(r.id).Run)
	if l == nil || !l.isAlive() {
		return nil
	}
	return l
}

// listeningRun returns the run whose agent would get a message at once, or "".
func (p *Play) listeningRun(r *playTask) string {
	run := p.w.ledger.entryOf(r.id).Run
	if !p.isListening(r.id, run) {
		return ""
	}
	return run
}

// sendOrder tells the agent of the task to do something, if there is one.
func (p *Play) sendOrder(r *playTask, o order) {
	l := p.agent(r)
	if l == nil {
		return
	}
	got, err := p.sendOrderTo(l, o)
	if err == nil && got.Status >= 500 {
		err = refusalOf(got.Status, got.Body)
	}
	p.c.record(func() {
		p.c.Acts = append(p.c.Acts, Act{Step: o.Do, Who: "the agent", Task: r.id, End: time.Now(), Err: err})
	})
}

// sendOrderTo sends an order to an agent.
func (p *Play) sendOrderTo(l *AgentProcess, o order) (report, error) {
	limit, cancel := context.WithTimeout(p.ctx, callTimeout)
	defer cancel()
	o.Key = fmt.Sprintf("%s-%d", p.w.address, p.w.keys.Add(1))
	return l.perform(limit, o)
}

// update changes the recorded state of the agent.
func (l *AgentProcess) update(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
}

// finish brings a sequence to its end: all tasks are at rest, every agent completes, the tasks that still wait are
// cancelled, and the last process ends.
func (p *Play) finish() {
	if p.w.worker == nil {
		p.w.startWorker()
	}
	p.awaitAllAtRest()
	p.awaitHeard()
	// If an agent ended with its worker, another run follows when the lease has ended.
	p.awaitAllAtRest()
	p.awaitHeard()
	p.c.AtRest = p.snapshots()
	for range rounds {
		if !p.completeAll() {
			break
		}
		p.awaitAllAtRest()
	}
	p.awaitHeard()
	p.c.Final = p.snapshots()
	for _, r := range p.tasks {
		if r.id != "" && !p.w.ledger.entryOf(r.id).State.IsEnded() {
			p.cancel(r, 0)
		}
	}
	p.awaitExit()
}

// awaitAllAtRest waits until every task is at rest, and no answer can be taken back.
func (p *Play) awaitAllAtRest() {
	for _, r := range p.tasks {
		p.w.awaitCondition(p.ctx, p.w.pace.restTimeout, func() bool { return r.id == "" || p.w.ledger.entryOf(r.id).Held == "" })
		p.awaitTaskRest(r)
	}
}

// awaitHeard waits until each agent at work has read its messages, or until the time limit of the pace. A coding agent
// does not listen before its first turn and between two turns, but it is at work.
func (p *Play) awaitHeard() {
	limit := p.w.pace.hearTimeout()
	if p.c.Real {
		limit += claudeTurnTime
	}
	p.w.awaitCondition(p.ctx, limit, func() bool {
		for _, w := range p.c.Words {
			run := w.Run
			if p.c.Real {
				run = p.w.ledger.entryOf(w.Task).Run
			}
			if w.Kind == wordMessage && p.isAtWork(w.Task, run) && !hasHeard(p.allHandovers(w.Task), w.Text) {
				return false
			}
		}
		return true
	})
}

// isListening reports whether the run is in progress and its agent takes orders.
func (p *Play) isListening(task, run string) bool {
	return p.isAtWork(task, run) && p.w.hub.lastAgent(task, run).isAlive()
}

// isAtWork reports whether the run is in progress and its agent was not told to end.
func (p *Play) isAtWork(task, run string) bool {
	t := p.w.ledger.entryOf(task)
	l := p.w.hub.lastAgent(task, run)
	return run != "" && t.State == fermata.TaskInProgress && t.Run == run && l != nil && l.isRunning()
}

// allHandovers returns everything that the agents of a task were told.
func (p *Play) allHandovers(task string) []Handover {
	var all []Handover
	for _, l := range p.w.hub.agentsOf(task) {
		all = append(all, l.Handovers()...)
	}
	return all
}

// completeAll makes every agent complete, and reports whether there was one.
func (p *Play) completeAll() bool {
	found := false
	for _, r := range p.tasks {
		if r.id != "" && p.listeningRun(r) != "" {
			found = true
			p.sendOrder(r, order{Do: "end", Result: json.RawMessage(`{"result":"completed","summary":"It is done."}`)})
		}
	}
	return found
}

func (p *Play) snapshots() map[string]*Snapshot {
	all := map[string]*Snapshot{}
	for _, id := range p.c.Tasks {
		limit, cancel := context.WithTimeout(p.ctx, callTimeout)
		s, err := p.w.snapshot(limit, id)
		cancel()
		if err != nil {
			if p.ctx.Err() == nil {
				p.c.recordStuck("task %c cannot be read: %v", p.c.Letters[id], err)
			}
			continue
		}
		all[id] = s
	}
	return all
}

// awaitExit waits until no agent is running, and reads the events.
func (p *Play) awaitExit() {
	p.w.awaitCondition(p.ctx, p.w.pace.exitTimeout(), func() bool {
		for _, id := range p.c.Tasks {
			for _, l := range p.w.hub.agentsOf(id) {
				if l.isConnected() {
					return false
				}
			}
		}
		return true
	})
	p.c.Processes, p.c.Events = map[string][]*AgentProcess{}, map[string][]*fermata.Event{}
	for _, id := range p.c.Tasks {
		p.c.Processes[id] = p.w.hub.agentsOf(id)
		limit, cancel := context.WithTimeout(p.ctx, callTimeout)
		events, err := p.w.events(limit, id)
		cancel()
		if err != nil && p.ctx.Err() == nil {
			p.c.recordStuck("the events of task %c cannot be read: %v", p.c.Letters[id], err)
		}
		p.c.Events[id] = events
	}
}

// isConnected reports whether the process has not ended yet.
func (l *AgentProcess) isConnected() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.goneAt.IsZero()
}

// Forget drops the data of a case from the world.
func (w *World) Forget(c *Case) {
	for _, id := range c.Tasks {
		w.ledger.forget(id)
		w.hub.forget(id)
	}
}
