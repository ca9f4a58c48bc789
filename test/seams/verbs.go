package seams

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/process"
)

// freeTool is a tool that a rule allows. Any other tool needs an approval.
const freeTool = "Look"

// soon is the deadline of questions that a timeout closes.
const soon = "1s"

// view is the state by which a verb is chosen.
type view struct {
	state   fermata.TaskState
	reason  string
	pending *fermata.Question
	// agent is true if the agent is running and listens.
	agent, deaf, parent bool
	// claude is true if the agent is Claude Code and its model may reply.
	claude bool
	// held is true if an answer can be taken back.
	held bool
	// timedOut is true if a timeout closed a question of the task, answered if a person did.
	timedOut, answered bool
	// worker is true if the worker runs.
	worker, rough bool
}

func (v view) ended() bool { return v.state.IsEnded() }
func (v view) paused() bool {
	return v.state == fermata.TaskDeferred && v.reason == fermata.ReasonPaused
}
func (v view) stopped() bool { return v.ended() || v.paused() }

// verb is an act or event that a step can have.
type verb struct {
	name string
	// says is a sentence with a place for the task.
	says     string
	variants []string
	// fits returns a weight for how well the verb fits. 0 means not at all.
	fits func(v view) int
	act  func(p *Play, r *role, n int)
	// world marks events on the machines, which happen only in rough worlds.
	world bool
}

func when(holds bool, weight int) int {
	if holds {
		return weight
	}
	return 0
}

// verbs lists all verbs. init fills it, because verbs print themselves.
var verbs []verb

func init() { verbs = slices.Concat(peopleVerbs, agentVerbs, claudeVerbs, worldVerbs) }

func verbOf(name string) (verb, bool) {
	i := slices.IndexFunc(verbs, func(v verb) bool { return v.name == name })
	if i < 0 {
		return verb{says: name + " %s"}, false
	}
	return verbs[i], true
}

func verbNames() []string {
	names := make([]string, len(verbs))
	for i, v := range verbs {
		names[i] = v.name
	}
	return names
}

// peopleVerbs are the acts of people.
var peopleVerbs = []verb{
	{
		name: "create", says: "A person creates %s", variants: []string{"ready", "ready", "put off for a second"},
		fits: func(v view) int { return when(v.state == "", 100) },
		act:  (*Play).create,
	},
	{
		name: "message", says: "A person writes into the thread of %s", variants: []string{"alice", "bob"},
		fits: func(v view) int { return when(v.state != "", 12) },
		act:  (*Play).message,
	},
	{
		name: "clarify", says: "A person asks back about the question of %s", variants: []string{"alice", "bob"},
		fits: func(v view) int { return when(v.pending != nil, 6) },
		act:  (*Play).clarify,
	},
	{
		name: "answer", says: "A person answers the question of %s",
		variants: []string{"alice, yes", "bob, yes", "alice, no", "bob, no"},
		fits:     func(v view) int { return when(v.pending != nil, 16) },
		act:      (*Play).answer,
	},
	{
		name: "answer-edited", says: "A person approves the action of %s with edits",
		fits: func(v view) int { return when(v.pending != nil && v.pending.Type == fermata.Approval, 4) },
		act:  (*Play).answerEdited,
	},
	{
		name: "answer-to-undo", says: "alice answers the question of %s and may take it back for a second",
		fits: func(v view) int { return when(v.pending != nil, 5) },
		act:  (*Play).answerToUndo,
	},
	{
		name: "undo", says: "alice takes back her answer to %s",
		fits: func(v view) int { return when(v.held, 20) },
		act:  (*Play).undo,
	},
	{
		name: "late-answer", says: "alice answers the question of %s that time closed, and restarts the task",
		fits: func(v view) int { return when(v.timedOut, 10) },
		act:  (*Play).lateAnswer,
	},
	{
		name: "answer-closed", says: "bob answers a question of %s that is closed",
		fits: func(v view) int { return when(v.answered, 5) },
		act:  (*Play).answerClosed,
	},
	{
		name: "extend", says: "A person puts the deadline of the question of %s off",
		fits: func(v view) int { return when(v.pending != nil && v.pending.Deadline != nil, 2) },
		act:  (*Play).extend,
	},
	{
		name: "withdraw", says: "A person cancels the question of %s",
		fits: func(v view) int { return when(v.pending != nil, 3) },
		act:  (*Play).withdraw,
	},
	{
		name: "expire", says: "The deadline of the question of %s passes",
		fits: func(v view) int { return when(v.pending != nil && v.pending.Deadline != nil, 8) },
		act:  (*Play).expire,
	},
	{
		name: "cancel", says: "A person cancels %s",
		fits: func(v view) int { return when(v.state != "" && !v.ended(), 5) },
		act:  (*Play).cancel,
	},
	{
		name: "pause", says: "A person pauses %s",
		fits: func(v view) int { return when(v.state != "" && !v.stopped(), 7) },
		act:  (*Play).pause,
	},
	{
		name: "resume", says: "A person resumes %s (decide yourself, where a question is pending)",
		variants: []string{"without a word", "with words"},
		fits:     func(v view) int { return when(v.pending != nil || v.state == fermata.TaskDeferred, 9) },
		act:      (*Play).resume,
	},
	{
		name: "reopen", says: "A person reopens %s",
		fits: func(v view) int { return when(v.ended(), 12) },
		act:  (*Play).reopen,
	},
	{
		name: "defer", says: "A person puts %s off", variants: []string{"for a second", "for good"},
		fits: func(v view) int { return when(v.state != "" && !v.ended() && v.state != fermata.TaskInProgress, 3) },
		act:  (*Play).deferTask,
	},
	{
		name: "edit", says: "A person changes the text of %s",
		fits: func(v view) int { return when(v.state != "", 2) },
		act:  (*Play).edit,
	},
	{
		name: "trespass", says: "Somebody who may not meddles with %s", variants: trespassNames(),
		fits: func(v view) int { return when(v.state != "", 6) },
		act:  (*Play).trespass,
	},
}

func (p *Play) create(r *role, n int) {
	title := p.w.word()
	task := fermata.NewTask{Title: title, Body: "Do as you are told.", MaxAttempts: 20}
	if n%3 == 2 {
		task.DeferUntil = new(time.Now().Add(time.Second))
	}
	p.try(p.w.alice, "create", r, func(ctx context.Context) error {
		t, err := p.w.alice.CreateTask(ctx, task)
		if err != nil {
			return err
		}
		p.w.named(title, t.ID)
		p.c.note(func() {
			r.id = t.ID
			p.c.Tasks = append(p.c.Tasks, t.ID)
			p.c.Letters[t.ID] = r.letter
		})
		return nil
	})
}

// someone returns alice or bob.
func (p *Play) someone(n int) *person {
	if n%2 == 1 {
		return p.w.bob
	}
	return p.w.alice
}

func (p *Play) message(r *role, n int) {
	who, text, run := p.someone(n), p.w.word(), p.listening(r)
	p.try(who, "message", r, func(ctx context.Context) error {
		if _, err := who.PostMessage(ctx, r.id, text); err != nil {
			return err
		}
		p.said(&Word{Kind: wordMessage, Who: who.name, Task: r.id, Text: text, Run: run})
		return nil
	})
}

func (p *Play) clarify(r *role, n int) {
	q := p.question(r)
	if q == nil {
		return
	}
	who, text, run := p.someone(n), p.w.word(), p.listening(r)
	p.try(who, "clarify", r, func(ctx context.Context) error {
		if _, err := who.Clarify(ctx, q.ID, text); err != nil {
			return err
		}
		p.said(&Word{Kind: wordMessage, Who: who.name, Task: r.id, Text: text, Run: run})
		return nil
	})
}

// answerTo makes an answer with a unique text.
func (p *Play) answerTo(q *fermata.Question, yes bool) (fermata.Answer, string) {
	text := p.w.word()
	if q.Type != fermata.Approval {
		return fermata.Answer{Answer: text}, text
	}
	a := fermata.Answer{Answer: fermata.Reject, Comment: text}
	if yes {
		a.Answer, a.ActionHash = fermata.Approve, q.ActionHash
	}
	return a, text
}

// submit gives an answer and records the server's reply.
func (p *Play) submit(r *role, who *person, q *fermata.Question, a fermata.Answer, text, step string) {
	run := p.listening(r)
	p.try(who, step, r, func(ctx context.Context) error {
		got, err := who.Answer(ctx, q.ID, a)
		if err != nil {
			return err
		}
		w := &Word{Kind: wordAnswer, Who: who.name, Task: r.id, Text: text, Question: q.ID, Run: run}
		switch {
		case got.Held != nil:
			w.Run, w.Held = "", true
			p.c.note(func() { r.held, r.heldWord = q.ID, w })
			p.said(w)
		case got.Status == fermata.Answered:
			p.said(w)
		case got.Status == fermata.Pending:
			p.c.note(func() { p.c.Votes = append(p.c.Votes, Vote{who.name, r.id, q.ID, text}) })
		default: // a late answer
		}
		return nil
	})
}

func (p *Play) answer(r *role, n int) {
	q := p.question(r)
	if q == nil {
		return
	}
	a, text := p.answerTo(q, n%4 < 2)
	p.submit(r, p.someone(n), q, a, text, "answer")
}

func (p *Play) answerEdited(r *role, _ int) {
	q := p.question(r)
	if q == nil || q.Type != fermata.Approval || len(q.Action) == 0 {
		return
	}
	a, text := p.answerTo(q, true)
	var action map[string]any
	if json.Unmarshal(q.Action, &action) != nil {
		return
	}
	if _, gated := action["input"]; gated {
		action["input"] = map[string]any{"command": "echo edited"}
	} else {
		action["edited"] = true
	}
	a.Action, _ = json.Marshal(action)
	p.submit(r, p.w.alice, q, a, text, "answer with edits")
}

func (p *Play) answerToUndo(r *role, _ int) {
	q := p.question(r)
	if q == nil {
		return
	}
	a, text := p.answerTo(q, true)
	a.Undo = true
	p.submit(r, p.w.alice, q, a, text, "answer to undo")
}

func (p *Play) undo(r *role, _ int) {
	question, word := p.held(r)
	if question == "" {
		return
	}
	p.try(p.w.alice, "undo", r, func(ctx context.Context) error {
		if _, err := p.w.alice.Undo(ctx, question); err != nil {
			return err
		}
		p.c.note(func() { word.Undone = true })
		return nil
	})
	p.c.note(func() { r.held, r.heldWord = "", nil })
}

// held returns the question for which alice can take her answer back, and the answer.
func (p *Play) held(r *role) (question string, word *Word) {
	p.c.note(func() { question, word = r.held, r.heldWord })
	return question, word
}

func (p *Play) lateAnswer(r *role, _ int) {
	q := latest(p.questions(r), fermata.TimedOut)
	if q == nil || len(q.Resolution.Late) > 0 {
		return
	}
	a, text := p.answerTo(q, true)
	a.Restart = true
	p.try(p.w.alice, "late answer", r, func(ctx context.Context) error {
		if _, err := p.w.alice.Answer(ctx, q.ID, a); err != nil {
			return err
		}
		p.said(&Word{Kind: wordAnswer, Who: "alice", Task: r.id, Text: text, Question: q.ID})
		return nil
	})
}

// answerClosed gives an answer that comes too late. The server must refuse it.
func (p *Play) answerClosed(r *role, _ int) {
	q := latest(p.questions(r), fermata.Answered)
	if q == nil || q.Approvals != nil {
		return
	}
	// The same decision again would be accepted, so the answer is the opposite one.
	a, text := p.answerTo(q, q.Resolution.Answer == fermata.Reject)
	p.submit(r, p.w.bob, q, a, text, "answer of a closed question")
}

func (p *Play) extend(r *role, _ int) {
	if q := p.question(r); q != nil {
		p.try(p.w.alice, "extend", r, func(ctx context.Context) error {
			_, err := p.w.alice.Extend(ctx, q.ID, "10m")
			return err
		})
	}
}

func (p *Play) withdraw(r *role, _ int) {
	if q := p.question(r); q != nil {
		p.try(p.w.alice, "withdraw", r, func(ctx context.Context) error {
			_, err := p.w.alice.CancelQuestion(ctx, q.ID, "")
			return err
		})
	}
}

// expire waits for a deadline that is near. It does not wait for a distant deadline, which a person has moved, nor for
// one that a person moves meanwhile.
func (p *Play) expire(r *role, _ int) {
	q := p.question(r)
	if q == nil || q.Deadline == nil || time.Until(*q.Deadline) > 10*time.Second {
		return
	}
	passed := func() bool {
		return p.w.ledger.status(r.id, q.ID) != fermata.Pending || p.w.ledger.isPutOff(r.id, q.ID)
	}
	if !p.w.until(p.ctx, p.w.pace.settles, passed) {
		p.c.stuck("question %s of task %c is pending %s after its deadline", q.ID, r.letter, time.Since(*q.Deadline))
	}
}

func (p *Play) cancel(r *role, n int) {
	w := &Word{Kind: wordMessage, Who: "alice", Task: r.id}
	if n%2 == 1 {
		w.Text = p.w.word()
	}
	p.try(p.w.alice, "cancel", r, func(ctx context.Context) error {
		t, err := p.w.alice.CancelTask(ctx, r.id, w.Text)
		if err != nil {
			return err
		}
		if w.Text != "" {
			p.said(w)
		}
		if t.State == fermata.TaskCancelled {
			p.stopped(r, "cancel")
		}
		return nil
	})
}

func (p *Play) pause(r *role, _ int) {
	p.try(p.w.alice, "pause", r, func(ctx context.Context) error {
		if _, err := p.w.alice.PauseTask(ctx, r.id); err != nil {
			return err
		}
		p.stopped(r, "pause")
		return nil
	})
}

func (p *Play) stopped(r *role, how string) {
	p.c.note(func() { p.c.Stops = append(p.c.Stops, Stop{Task: r.id, How: how, Acked: time.Now()}) })
}

func (p *Play) resume(r *role, n int) {
	w := &Word{Kind: wordMessage, Who: "alice", Task: r.id, Began: time.Now(), Run: p.listening(r)}
	if n%2 == 1 {
		w.Text = p.w.word()
	}
	if t, err := p.w.admin.Task(p.ctx, r.id); err == nil && t.AsksNow() {
		w.Kind, w.Question = wordDecision, t.PendingQuestionID
	}
	p.try(p.w.alice, "resume", r, func(ctx context.Context) error {
		_, err := p.w.alice.ResumeTask(ctx, r.id, w.Text)
		if err == nil && (w.Text != "" || w.Question != "") {
			p.said(w)
		}
		return err
	})
}

func (p *Play) reopen(r *role, _ int) {
	p.try(p.w.alice, "reopen", r, func(ctx context.Context) error {
		_, err := p.w.alice.ReopenTask(ctx, r.id)
		return err
	})
}

func (p *Play) deferTask(r *role, n int) {
	var until *time.Time
	if n%2 == 0 {
		until = new(time.Now().Add(time.Second))
	}
	p.try(p.w.alice, "defer", r, func(ctx context.Context) error {
		_, err := p.w.alice.DeferTask(ctx, r.id, until)
		return err
	})
}

func (p *Play) edit(r *role, _ int) {
	p.try(p.w.alice, "edit", r, func(ctx context.Context) error {
		_, err := p.w.alice.UpdateTask(ctx, r.id, fermata.TaskPatch{Body: new("Do as you are told. " + p.w.word())})
		return err
	})
}

// questions returns the questions of the task.
func (p *Play) questions(r *role) []*fermata.Question {
	all, _, err := p.w.admin.Questions(p.ctx, client.QuestionQuery{TaskID: r.id, Limit: 100})
	if err != nil {
		return nil
	}
	return all
}

// latest returns the newest question with the status, or nil.
func latest(all []*fermata.Question, status fermata.QuestionStatus) *fermata.Question {
	var found *fermata.Question
	for _, q := range all {
		if q.Status == status && (found == nil || q.CreatedAt.After(found.CreatedAt)) {
			found = q
		}
	}
	return found
}

// worldVerbs are events on the machines.
var worldVerbs = []verb{
	{
		name: "kill-worker", says: "The worker is killed", world: true,
		fits: func(v view) int { return when(v.rough && v.worker, 5) },
		act:  (*Play).killWorker,
	},
	{
		name: "stop-worker", says: "The worker is told to stop", world: true,
		fits: func(v view) int { return when(v.rough && v.worker && !v.deaf, 3) },
		act:  (*Play).stopWorker,
	},
	{
		name: "start-worker", says: "A worker starts", world: true,
		fits: func(v view) int { return when(v.rough && !v.worker, 25) },
		act: func(p *Play, _ *role, _ int) {
			if p.w.worker == nil {
				p.w.startWorker()
			}
		},
	},
	{
		name: "kill-server", says: "The server is killed and starts again", world: true,
		fits: func(v view) int { return when(v.rough, 5) },
		act:  func(p *Play, _ *role, _ int) { p.w.restartServer((*process.Child).Kill) },
	},
	{
		name: "restart-server", says: "The server is told to stop and starts again", world: true,
		fits: func(v view) int { return when(v.rough, 3) },
		act:  func(p *Play, _ *role, _ int) { p.w.restartServer((*process.Child).Stop) },
	},
}

func (p *Play) killWorker(*role, int) {
	if p.w.worker == nil {
		return
	}
	p.w.disturbed.Add(1)
	p.w.worker.Kill()
	p.w.worker = nil
	p.w.workers.Add(1)
}

// stopWorker asks the worker to stop. A worker that has only just started is ended by the signal itself.
func (p *Play) stopWorker(*role, int) {
	if p.w.worker == nil {
		return
	}
	p.w.disturbed.Add(1)
	p.w.worker.Signal(syscall.SIGTERM)
	if !patience.Until(p.w.worker.HasEnded) {
		p.c.stuck("the worker does not end")
		p.w.worker.Kill()
	}
	p.w.worker = nil
	p.w.workers.Add(1)
}

// restartServer ends the server in the given way, and starts it again at the same address.
func (w *World) restartServer(end func(*process.Child)) {
	w.Helper()
	w.disturbed.Add(1)
	end(w.server.Child)
	w.serve()
	w.front.Set(w.server)
}

// agentVerbs are the acts of agents.
var agentVerbs = []verb{
	{
		name: "agent-prints", says: "The agent of %s prints a line",
		fits: func(v view) int { return when(v.agent, 2) },
		act:  func(p *Play, r *role, _ int) { p.order(r, order{Do: "print", Text: "I work."}) },
	},
	{
		name: "agent-says", says: "The agent of %s writes into the thread",
		fits: func(v view) int { return when(v.agent, 2) },
		act: func(p *Play, r *role, _ int) {
			p.order(r, order{Do: "call", Method: "POST", Path: "/v1/tasks/" + r.id + "/messages", Body: map[string]any{"body": "I work."}})
		},
	},
	{
		name: "agent-asks", says: "The agent of %s asks and works on", variants: askNames,
		fits: func(v view) int { return when(v.agent && v.pending == nil, 6) },
		act:  (*Play).agentAsks,
	},
	{
		name: "agent-gates", says: "The agent of %s asks for leave to run a command", variants: []string{"the first", "the second"},
		fits: func(v view) int { return when(v.agent, 6) },
		act:  (*Play).agentGates,
	},
	{
		name: "agent-looks", says: "The agent of %s asks for leave that a rule gives",
		fits: func(v view) int { return when(v.agent, 4) },
		act:  (*Play).agentLooks,
	},
	{
		name: "late-gate", says: "A gate is asked in the name of %s, which was stopped",
		fits: func(v view) int { return when(v.stopped(), 8) },
		act:  (*Play).lateGate,
	},
	{
		name: "agent-deaf", says: "The agent of %s ignores SIGTERM from now on",
		fits: func(v view) int { return when(v.agent && !v.deaf, 4) },
		act:  (*Play).agentDeaf,
	},
	{
		name: "agent-child", says: "The agent of %s starts a program in a session of its own",
		fits: func(v view) int { return when(v.agent && !v.parent && !v.rough, 2) },
		act:  (*Play).agentChild,
	},
	{
		name: "agent-ends", says: "The agent of %s ends", variants: endNames(),
		fits: func(v view) int { return when(v.agent, 26) },
		act:  (*Play).agentEnds,
	},
}

// Kinds of questions that agents ask.
var askNames = []string{"a text", "a text within a second, or the task fails", "a text within a second, or the default counts", "an approval of an action", "an approval by two people"}

func (p *Play) ask(n int) map[string]any {
	switch n % len(askNames) {
	case 1:
		return map[string]any{"question": "What now?", "timeout": soon, "on_timeout": "fail"}
	case 2:
		return map[string]any{"question": "What now?", "timeout": soon, "on_timeout": "default", "default": "as you like"}
	case 3:
		return map[string]any{"type": "approval", "question": "May I?", "timeout": "never", "action": map[string]any{"command": "make it " + p.w.word()}}
	case 4:
		return map[string]any{"type": "approval", "question": "May I?", "timeout": "never", "approvals": map[string]any{"required": 2}}
	default:
		return map[string]any{"question": "What now?", "timeout": "never"}
	}
}

func (p *Play) agentAsks(r *role, n int) {
	p.order(r, order{Do: "call", Method: "POST", Path: "/v1/tasks/" + r.id + "/questions", Body: p.ask(n)})
}

func (p *Play) agentGates(r *role, n int) {
	p.gate(r, "Bash", map[string]any{"command": fmt.Sprintf("echo %d", n%2)})
}

func (p *Play) agentLooks(r *role, _ int) { p.gate(r, freeTool, map[string]any{}) }

// gate makes the agent ask for permission.
func (p *Play) gate(r *role, tool string, input any) {
	l := p.agent(r)
	if l == nil {
		return
	}
	g := Gate{Task: r.id, Run: l.Run, Tool: tool, Began: time.Now(), Stopped: p.stoppedNow(r, l.Run)}
	body := map[string]any{"task_id": r.id, "run_id": l.Run, "tool": tool, "input": input, "runner": "command"}
	got, err := p.tell(l, order{Do: "call", Method: "POST", Path: "/v1/gates", Body: body})
	if err != nil || got.Status >= 400 || json.Unmarshal(got.Body, &g.Verdict) != nil {
		return
	}
	p.gated(r, g)
}

func (p *Play) gated(r *role, g Gate) {
	g.End = time.Now()
	if g.Stopped != p.stoppedNow(r, g.Run) {
		g.Stopped = ""
	}
	p.c.note(func() { p.c.Gates = append(p.c.Gates, g) })
}

// stoppedNow describes how the task or the given run was stopped, or returns "" if it was not.
func (p *Play) stoppedNow(r *role, run string) string {
	t := p.w.ledger.look(r.id)
	switch state := p.w.ledger.runState(r.id, run); {
	case t.State.IsEnded():
		return "the task is " + string(t.State)
	case t.State == fermata.TaskDeferred && t.Reason == fermata.ReasonPaused:
		return "the task is paused"
	case run != "" && state != fermata.RunRunning:
		return "the run is " + string(state)
	default:
		return ""
	}
}

func (p *Play) lateGate(r *role, _ int) {
	g := Gate{Task: r.id, Tool: freeTool, Began: time.Now(), Stopped: p.stoppedNow(r, "")}
	p.try(p.w.agents, "late gate", r, func(ctx context.Context) error {
		v, err := p.w.agents.Gate(ctx, fermata.GateCall{TaskID: r.id, Tool: freeTool, Input: json.RawMessage("{}"), Runner: "command"})
		if err == nil {
			g.Verdict = *v
			p.gated(r, g)
		}
		return err
	})
}

func (p *Play) agentDeaf(r *role, _ int) {
	if l := p.agent(r); l != nil {
		if _, err := p.tell(l, order{Do: "deaf"}); err == nil {
			l.set(func() { l.deaf = true })
		}
	}
}

func (p *Play) agentChild(r *role, _ int) {
	if l := p.agent(r); l != nil {
		if _, err := p.tell(l, order{Do: "child"}); err == nil {
			l.set(func() { l.parent = true })
		}
	}
}

// endings are the ways in which agents end.
var endings = []struct {
	name   string
	result map[string]any
	ask    int
	code   int
}{
	{name: "completed", result: map[string]any{"result": "completed", "summary": "It is done."}},
	{name: "completed", result: map[string]any{"result": "completed", "summary": "It is done."}},
	{name: "asking a text", ask: 0 + 1},
	{name: "asking a text", ask: 0 + 1},
	{name: "asking a text within a second, or the task fails", ask: 1 + 1},
	{name: "asking a text within a second, or the default counts", ask: 2 + 1},
	{name: "asking an approval of an action", ask: 3 + 1},
	{name: "asking an approval by two people", ask: 4 + 1},
	{name: "failed", result: map[string]any{"result": "failed", "summary": "It cannot be done."}},
	{name: "without a word"},
	{name: "with exit code 7", code: 7},
	{name: "blocked, by nothing that it names", result: map[string]any{"result": "blocked", "summary": "Something is in the way."}},
}

func endNames() []string {
	names := make([]string, len(endings))
	for i, e := range endings {
		names[i] = e.name
	}
	return names
}

func (p *Play) agentEnds(r *role, n int) {
	e := endings[n%len(endings)]
	o := order{Do: "end", Code: e.code}
	result := e.result
	if e.ask > 0 {
		result = map[string]any{"result": "needs_input", "question": p.ask(e.ask - 1)}
	}
	if result != nil {
		o.Result, _ = json.Marshal(result)
	}
	p.order(r, o)
}
