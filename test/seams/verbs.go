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

// shortTimeout is the time limit of questions that are meant to time out.
const shortTimeout = "1s"

// view is the state by which a verb is chosen.
type view struct {
	state   fermata.TaskState
	reason  string
	pending *fermata.Question
	// agent is true if the agent is running and listens.
	agent, deaf, leftChild bool
	// claude is true if the agent is Claude Code and its model may reply.
	claude bool
	// held is true if an answer can be taken back.
	held bool
	// timedOut is true if a timeout closed a question of the task, answered if a person did.
	timedOut, answered bool
	// worker is true if the worker runs.
	worker, rough bool
}

func (v view) isEnded() bool { return v.state.IsEnded() }
func (v view) isPaused() bool {
	return v.state == fermata.TaskDeferred && v.reason == fermata.ReasonPaused
}
func (v view) isStopped() bool { return v.isEnded() || v.isPaused() }

// verb is an act or event that a step can have.
type verb struct {
	name string
	// sentence is a sentence with a place for the task.
	sentence string
	variants []string
	// weight returns a weight for how well the verb fits. 0 means not at all.
	weight func(v view) int
	act    func(p *Play, r *playTask, n int)
	// onMachines marks events on the machines, which happen only in rough worlds.
	onMachines bool
}

func weightIf(holds bool, weight int) int {
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
		return verb{sentence: name + " %s"}, false
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
		name: "create", sentence: "A person creates %s", variants: []string{"ready", "ready", "put off for a second"},
		weight: func(v view) int { return weightIf(v.state == "", 100) },
		act:    (*Play).create,
	},
	{
		name: "message", sentence: "A person writes into the thread of %s", variants: []string{"alice", "bob"},
		weight: func(v view) int { return weightIf(v.state != "", 12) },
		act:    (*Play).message,
	},
	{
		name: "clarify", sentence: "A person asks back about the question of %s", variants: []string{"alice", "bob"},
		weight: func(v view) int { return weightIf(v.pending != nil, 6) },
		act:    (*Play).clarify,
	},
	{
		name: "answer", sentence: "A person answers the question of %s",
		variants: []string{"alice, yes", "bob, yes", "alice, no", "bob, no"},
		weight:   func(v view) int { return weightIf(v.pending != nil, 16) },
		act:      (*Play).answer,
	},
	{
		name: "answer-edited", sentence: "A person approves the action of %s with edits",
		weight: func(v view) int { return weightIf(v.pending != nil && v.pending.Type == fermata.Approval, 4) },
		act:    (*Play).answerEdited,
	},
	{
		name: "answer-to-undo", sentence: "alice answers the question of %s and may take it back for a second",
		weight: func(v view) int { return weightIf(v.pending != nil, 5) },
		act:    (*Play).answerToUndo,
	},
	{
		name: "undo", sentence: "alice takes back her answer to %s",
		weight: func(v view) int { return weightIf(v.held, 20) },
		act:    (*Play).undo,
	},
	{
		name: "late-answer", sentence: "alice answers the question of %s that time closed, and restarts the task",
		weight: func(v view) int { return weightIf(v.timedOut, 10) },
		act:    (*Play).lateAnswer,
	},
	{
		name: "answer-closed", sentence: "bob answers a question of %s that is closed",
		weight: func(v view) int { return weightIf(v.answered, 5) },
		act:    (*Play).answerClosed,
	},
	{
		name: "extend", sentence: "A person puts the deadline of the question of %s off",
		weight: func(v view) int { return weightIf(v.pending != nil && v.pending.Deadline != nil, 2) },
		act:    (*Play).extend,
	},
	{
		name: "withdraw", sentence: "A person cancels the question of %s",
		weight: func(v view) int { return weightIf(v.pending != nil, 3) },
		act:    (*Play).withdraw,
	},
	{
		name: "expire", sentence: "The deadline of the question of %s passes",
		weight: func(v view) int { return weightIf(v.pending != nil && v.pending.Deadline != nil, 8) },
		act:    (*Play).expire,
	},
	{
		name: "cancel", sentence: "A person cancels %s",
		weight: func(v view) int { return weightIf(v.state != "" && !v.isEnded(), 5) },
		act:    (*Play).cancel,
	},
	{
		name: "pause", sentence: "A person pauses %s",
		weight: func(v view) int { return weightIf(v.state != "" && !v.isStopped(), 7) },
		act:    (*Play).pause,
	},
	{
		name: "resume", sentence: "A person resumes %s (decide yourself, where a question is pending)",
		variants: []string{"without a word", "with words"},
		weight:   func(v view) int { return weightIf(v.pending != nil || v.state == fermata.TaskDeferred, 9) },
		act:      (*Play).resume,
	},
	{
		name: "reopen", sentence: "A person reopens %s",
		weight: func(v view) int { return weightIf(v.isEnded(), 12) },
		act:    (*Play).reopen,
	},
	{
		name: "defer", sentence: "A person puts %s off", variants: []string{"for a second", "for good"},
		weight: func(v view) int {
			return weightIf(v.state != "" && !v.isEnded() && v.state != fermata.TaskInProgress, 3)
		},
		act: (*Play).deferTask,
	},
	{
		name: "edit", sentence: "A person changes the text of %s",
		weight: func(v view) int { return weightIf(v.state != "", 2) },
		act:    (*Play).edit,
	},
	{
		name: "trespass", sentence: "Somebody who may not meddles with %s", variants: trespassNames(),
		weight: func(v view) int { return weightIf(v.state != "", 6) },
		act:    (*Play).trespass,
	},
}

func (p *Play) create(r *playTask, n int) {
	title := p.w.newWord()
	task := fermata.NewTask{Title: title, Body: "Do as you are told.", MaxAttempts: 20}
	if n%3 == 2 {
		task.DeferUntil = new(time.Now().Add(time.Second))
	}
	p.recordAct(p.w.alice, "create", r, func(ctx context.Context) error {
		t, err := p.w.alice.CreateTask(ctx, task)
		if err != nil {
			return err
		}
		p.w.setTitle(title, t.ID)
		p.c.record(func() {
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

func (p *Play) message(r *playTask, n int) {
	who, text, run := p.someone(n), p.w.newWord(), p.listeningRun(r)
	p.recordAct(who, "message", r, func(ctx context.Context) error {
		if _, err := who.PostMessage(ctx, r.id, text); err != nil {
			return err
		}
		p.recordWord(&Word{Kind: wordMessage, Who: who.name, Task: r.id, Text: text, Run: run})
		return nil
	})
}

func (p *Play) clarify(r *playTask, n int) {
	q := p.question(r)
	if q == nil {
		return
	}
	who, text, run := p.someone(n), p.w.newWord(), p.listeningRun(r)
	p.recordAct(who, "clarify", r, func(ctx context.Context) error {
		if _, err := who.Clarify(ctx, q.ID, text); err != nil {
			return err
		}
		p.recordWord(&Word{Kind: wordMessage, Who: who.name, Task: r.id, Text: text, Run: run})
		return nil
	})
}

// answerTo returns an answer with a unique text, and the text.
func (p *Play) answerTo(q *fermata.Question, yes bool) (fermata.Answer, string) {
	text := p.w.newWord()
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
func (p *Play) submit(r *playTask, who *person, q *fermata.Question, a fermata.Answer, text, step string) {
	run := p.listeningRun(r)
	p.recordAct(who, step, r, func(ctx context.Context) error {
		got, err := who.Answer(ctx, q.ID, a)
		if err != nil {
			return err
		}
		w := &Word{Kind: wordAnswer, Who: who.name, Task: r.id, Text: text, Question: q.ID, Run: run}
		switch {
		case got.HeldAnswer != nil:
			w.Run, w.Held = "", true
			p.c.record(func() { r.heldQuestion, r.heldWord = q.ID, w })
			p.recordWord(w)
		case got.Status == fermata.Answered:
			p.recordWord(w)
		case got.Status == fermata.Pending:
			p.c.record(func() { p.c.Votes = append(p.c.Votes, Vote{who.name, r.id, q.ID, text}) })
		default: // a late answer
		}
		return nil
	})
}

func (p *Play) answer(r *playTask, n int) {
	q := p.question(r)
	if q == nil {
		return
	}
	a, text := p.answerTo(q, n%4 < 2)
	p.submit(r, p.someone(n), q, a, text, "answer")
}

func (p *Play) answerEdited(r *playTask, _ int) {
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

func (p *Play) answerToUndo(r *playTask, _ int) {
	q := p.question(r)
	if q == nil {
		return
	}
	a, text := p.answerTo(q, true)
	a.Undo = true
	p.submit(r, p.w.alice, q, a, text, "answer to undo")
}

func (p *Play) undo(r *playTask, _ int) {
	question, word := p.heldAnswer(r)
	if question == "" {
		return
	}
	p.recordAct(p.w.alice, "undo", r, func(ctx context.Context) error {
		if _, err := p.w.alice.Undo(ctx, question); err != nil {
			return err
		}
		p.c.record(func() { word.Undone = true })
		return nil
	})
	p.c.record(func() { r.heldQuestion, r.heldWord = "", nil })
}

// heldAnswer returns the question for which alice can take her answer back, and the answer.
func (p *Play) heldAnswer(r *playTask) (question string, word *Word) {
	p.c.record(func() { question, word = r.heldQuestion, r.heldWord })
	return question, word
}

func (p *Play) lateAnswer(r *playTask, _ int) {
	q := latestQuestion(p.questions(r), fermata.TimedOut)
	if q == nil || len(q.Resolution.LateAnswers) > 0 {
		return
	}
	a, text := p.answerTo(q, true)
	a.Restart = true
	p.recordAct(p.w.alice, "late answer", r, func(ctx context.Context) error {
		if _, err := p.w.alice.Answer(ctx, q.ID, a); err != nil {
			return err
		}
		p.recordWord(&Word{Kind: wordAnswer, Who: "alice", Task: r.id, Text: text, Question: q.ID})
		return nil
	})
}

// answerClosed gives an answer that comes too late. The server must refuse it.
func (p *Play) answerClosed(r *playTask, _ int) {
	q := latestQuestion(p.questions(r), fermata.Answered)
	if q == nil || q.Approvals != nil {
		return
	}
	// The same decision again would be accepted, so the answer is the opposite one.
	a, text := p.answerTo(q, q.Resolution.Answer == fermata.Reject)
	p.submit(r, p.w.bob, q, a, text, "answer of a closed question")
}

func (p *Play) extend(r *playTask, _ int) {
	if q := p.question(r); q != nil {
		p.recordAct(p.w.alice, "extend", r, func(ctx context.Context) error {
			_, err := p.w.alice.Extend(ctx, q.ID, "10m")
			return err
		})
	}
}

func (p *Play) withdraw(r *playTask, _ int) {
	if q := p.question(r); q != nil {
		p.recordAct(p.w.alice, "withdraw", r, func(ctx context.Context) error {
			_, err := p.w.alice.CancelQuestion(ctx, q.ID, "")
			return err
		})
	}
}

// expire waits for a deadline that is near. It does not wait for a distant deadline, which a person has moved, nor for
// one that a person moves meanwhile.
func (p *Play) expire(r *playTask, _ int) {
	q := p.question(r)
	if q == nil || q.Deadline == nil || time.Until(*q.Deadline) > 10*time.Second {
		return
	}
	passed := func() bool {
		return p.w.ledger.status(r.id, q.ID) != fermata.Pending || p.w.ledger.isExtended(r.id, q.ID)
	}
	if !p.w.awaitCondition(p.ctx, p.w.pace.restTimeout, passed) {
		p.c.recordStuck("question %s of task %c is pending %s after its deadline", q.ID, r.letter, time.Since(*q.Deadline))
	}
}

func (p *Play) cancel(r *playTask, n int) {
	w := &Word{Kind: wordMessage, Who: "alice", Task: r.id}
	if n%2 == 1 {
		w.Text = p.w.newWord()
	}
	p.recordAct(p.w.alice, "cancel", r, func(ctx context.Context) error {
		t, err := p.w.alice.CancelTask(ctx, r.id, w.Text)
		if err != nil {
			return err
		}
		if w.Text != "" {
			p.recordWord(w)
		}
		if t.State == fermata.TaskCancelled {
			p.recordStop(r, "cancel")
		}
		return nil
	})
}

func (p *Play) pause(r *playTask, _ int) {
	p.recordAct(p.w.alice, "pause", r, func(ctx context.Context) error {
		if _, err := p.w.alice.PauseTask(ctx, r.id); err != nil {
			return err
		}
		p.recordStop(r, "pause")
		return nil
	})
}

func (p *Play) recordStop(r *playTask, how string) {
	p.c.record(func() { p.c.Stops = append(p.c.Stops, Stop{Task: r.id, How: how, Acked: time.Now()}) })
}

func (p *Play) resume(r *playTask, n int) {
	w := &Word{Kind: wordMessage, Who: "alice", Task: r.id, Began: time.Now(), Run: p.listeningRun(r)}
	if n%2 == 1 {
		w.Text = p.w.newWord()
	}
	if t, err := p.w.admin.Task(p.ctx, r.id); err == nil && t.IsAsking() {
		w.Kind, w.Question = wordDecision, t.PendingQuestionID
	}
	p.recordAct(p.w.alice, "resume", r, func(ctx context.Context) error {
		_, err := p.w.alice.ResumeTask(ctx, r.id, w.Text)
		if err == nil && (w.Text != "" || w.Question != "") {
			p.recordWord(w)
		}
		return err
	})
}

func (p *Play) reopen(r *playTask, _ int) {
	p.recordAct(p.w.alice, "reopen", r, func(ctx context.Context) error {
		_, err := p.w.alice.ReopenTask(ctx, r.id)
		return err
	})
}

func (p *Play) deferTask(r *playTask, n int) {
	var until *time.Time
	if n%2 == 0 {
		until = new(time.Now().Add(time.Second))
	}
	p.recordAct(p.w.alice, "defer", r, func(ctx context.Context) error {
		_, err := p.w.alice.DeferTask(ctx, r.id, until)
		return err
	})
}

func (p *Play) edit(r *playTask, _ int) {
	p.recordAct(p.w.alice, "edit", r, func(ctx context.Context) error {
		_, err := p.w.alice.UpdateTask(ctx, r.id, fermata.TaskPatch{Body: new("Do as you are told. " + p.w.newWord())})
		return err
	})
}

// questions returns the questions of the task.
func (p *Play) questions(r *playTask) []*fermata.Question {
	all, _, err := p.w.admin.Questions(p.ctx, client.QuestionQuery{TaskID: r.id, Limit: 100})
	if err != nil {
		return nil
	}
	return all
}

// latestQuestion returns the newest question with the status, or nil.
func latestQuestion(all []*fermata.Question, status fermata.QuestionStatus) *fermata.Question {
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
		name: "kill-worker", sentence: "The worker is killed", onMachines: true,
		weight: func(v view) int { return weightIf(v.rough && v.worker, 5) },
		act:    (*Play).killWorker,
	},
	{
		name: "stop-worker", sentence: "The worker is told to stop", onMachines: true,
		weight: func(v view) int { return weightIf(v.rough && v.worker && !v.deaf, 3) },
		act:    (*Play).stopWorker,
	},
	{
		name: "start-worker", sentence: "A worker starts", onMachines: true,
		weight: func(v view) int { return weightIf(v.rough && !v.worker, 25) },
		act: func(p *Play, _ *playTask, _ int) {
			if p.w.worker == nil {
				p.w.startWorker()
			}
		},
	},
	{
		name: "kill-server", sentence: "The server is killed and starts again", onMachines: true,
		weight: func(v view) int { return weightIf(v.rough, 5) },
		act:    func(p *Play, _ *playTask, _ int) { p.w.restartServer((*process.Child).Kill) },
	},
	{
		name: "restart-server", sentence: "The server is told to stop and starts again", onMachines: true,
		weight: func(v view) int { return weightIf(v.rough, 3) },
		act:    func(p *Play, _ *playTask, _ int) { p.w.restartServer((*process.Child).Stop) },
	},
}

func (p *Play) killWorker(*playTask, int) {
	if p.w.worker == nil {
		return
	}
	p.w.disturbed.Add(1)
	p.w.worker.Kill()
	p.w.worker = nil
	p.w.workers.Add(1)
}

// stopWorker asks the worker to stop. A worker that has only just started is ended by the signal itself.
func (p *Play) stopWorker(*playTask, int) {
	if p.w.worker == nil {
		return
	}
	p.w.disturbed.Add(1)
	p.w.worker.Signal(syscall.SIGTERM)
	if !patience.Until(p.w.worker.HasEnded) {
		p.c.recordStuck("the worker does not end")
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
	w.balancer.SetServers(w.server)
}

// agentVerbs are the acts of agents.
var agentVerbs = []verb{
	{
		name: "agent-prints", sentence: "The agent of %s prints a line",
		weight: func(v view) int { return weightIf(v.agent, 2) },
		act:    func(p *Play, r *playTask, _ int) { p.sendOrder(r, order{Do: "print", Text: "I work."}) },
	},
	{
		name: "agent-says", sentence: "The agent of %s writes into the thread",
		weight: func(v view) int { return weightIf(v.agent, 2) },
		act: func(p *Play, r *playTask, _ int) {
			p.sendOrder(r, order{Do: "call", Method: "POST", Path: "/v1/tasks/" + r.id + "/messages", Body: map[string]any{"body": "I work."}})
		},
	},
	{
		name: "agent-asks", sentence: "The agent of %s asks and works on", variants: askNames,
		weight: func(v view) int { return weightIf(v.agent && v.pending == nil, 6) },
		act:    (*Play).agentAsks,
	},
	{
		name: "agent-gates", sentence: "The agent of %s asks for leave to run a command", variants: []string{"the first", "the second"},
		weight: func(v view) int { return weightIf(v.agent, 6) },
		act:    (*Play).agentGates,
	},
	{
		name: "agent-looks", sentence: "The agent of %s asks for leave that a rule gives",
		weight: func(v view) int { return weightIf(v.agent, 4) },
		act:    (*Play).agentLooks,
	},
	{
		name: "late-gate", sentence: "A gate is asked in the name of %s, which was stopped",
		weight: func(v view) int { return weightIf(v.isStopped(), 8) },
		act:    (*Play).lateGate,
	},
	{
		name: "agent-deaf", sentence: "The agent of %s ignores SIGTERM from now on",
		weight: func(v view) int { return weightIf(v.agent && !v.deaf, 4) },
		act:    (*Play).agentDeaf,
	},
	{
		name: "agent-child", sentence: "The agent of %s starts a program in a session of its own",
		weight: func(v view) int { return weightIf(v.agent && !v.leftChild && !v.rough, 2) },
		act:    (*Play).agentChild,
	},
	{
		name: "agent-ends", sentence: "The agent of %s ends", variants: endNames(),
		weight: func(v view) int { return weightIf(v.agent, 26) },
		act:    (*Play).agentEnds,
	},
}

// Kinds of questions that agents ask.
var askNames = []string{"a text", "a text within a second, or the task fails", "a text within a second, or the default counts", "an approval of an action", "an approval by two people"}

func (p *Play) ask(n int) map[string]any {
	switch n % len(askNames) {
	case 1:
		return map[string]any{"question": "What now?", "timeout": shortTimeout, "on_timeout": "fail"}
	case 2:
		return map[string]any{"question": "What now?", "timeout": shortTimeout, "on_timeout": "default", "default": "as you like"}
	case 3:
		return map[string]any{"type": "approval", "question": "May I?", "timeout": "never", "action": map[string]any{"command": "make it " + p.w.newWord()}}
	case 4:
		return map[string]any{"type": "approval", "question": "May I?", "timeout": "never", "approvals": map[string]any{"required": 2}}
	default:
		return map[string]any{"question": "What now?", "timeout": "never"}
	}
}

func (p *Play) agentAsks(r *playTask, n int) {
	p.sendOrder(r, order{Do: "call", Method: "POST", Path: "/v1/tasks/" + r.id + "/questions", Body: p.ask(n)})
}

func (p *Play) agentGates(r *playTask, n int) {
	p.gate(r, "Bash", map[string]any{"command": fmt.Sprintf("echo %d", n%2)})
}

func (p *Play) agentLooks(r *playTask, _ int) { p.gate(r, freeTool, map[string]any{}) }

// gate makes the agent ask for permission.
func (p *Play) gate(r *playTask, tool string, input any) {
	l := p.agent(r)
	if l == nil {
		return
	}
	g := Gate{Task: r.id, Run: l.Run, Tool: tool, Began: time.Now(), Stopped: p.describeStop(r, l.Run)}
	body := map[string]any{"task_id": r.id, "run_id": l.Run, "tool": tool, "input": input, "runner": "command"}
	got, err := p.sendOrderTo(l, order{Do: "call", Method: "POST", Path: "/v1/gates", Body: body})
	if err != nil || got.Status >= 400 || json.Unmarshal(got.Body, &g.Verdict) != nil {
		return
	}
	p.recordGate(r, g)
}

func (p *Play) recordGate(r *playTask, g Gate) {
	g.End = time.Now()
	if g.Stopped != p.describeStop(r, g.Run) {
		g.Stopped = ""
	}
	p.c.record(func() { p.c.Gates = append(p.c.Gates, g) })
}

// describeStop describes how the task or the given run was stopped, or returns "" if it was not.
func (p *Play) describeStop(r *playTask, run string) string {
	t := p.w.ledger.entryOf(r.id)
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

func (p *Play) lateGate(r *playTask, _ int) {
	g := Gate{Task: r.id, Tool: freeTool, Began: time.Now(), Stopped: p.describeStop(r, "")}
	p.recordAct(p.w.agents, "late gate", r, func(ctx context.Context) error {
		v, err := p.w.agents.Gate(ctx, fermata.GateCall{TaskID: r.id, Tool: freeTool, Input: json.RawMessage("{}"), Runner: "command"})
		if err == nil {
			g.Verdict = *v
			p.recordGate(r, g)
		}
		return err
	})
}

func (p *Play) agentDeaf(r *playTask, _ int) {
	if l := p.agent(r); l != nil {
		if _, err := p.sendOrderTo(l, order{Do: "deaf"}); err == nil {
			l.update(func() { l.deaf = true })
		}
	}
}

func (p *Play) agentChild(r *playTask, _ int) {
	if l := p.agent(r); l != nil {
		if _, err := p.sendOrderTo(l, order{Do: "child"}); err == nil {
			l.update(func() { l.leftChild = true })
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

func (p *Play) agentEnds(r *playTask, n int) {
	e := endings[n%len(endings)]
	o := order{Do: "end", Code: e.code}
	result := e.result
	if e.ask > 0 {
		result = map[string]any{"result": "needs_input", "question": p.ask(e.ask - 1)}
	}
	if result != nil {
		o.Result, _ = json.Marshal(result)
	}
	p.sendOrder(r, o)
}
