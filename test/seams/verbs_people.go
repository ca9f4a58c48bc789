package seams

import (
	"context"
	"encoding/json"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

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
		name: "trespass", sentence: "Somebody who may not changes %s", variants: trespassNames(),
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
