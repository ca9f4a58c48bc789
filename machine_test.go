package fermata_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fermata-hq/fermata"
)

// model is the reference implementation of one task and its questions. It is
// written independently, with minutes and plain strings, and uses none of the
// rules under test.
type model struct {
	clock int
	state string
	// external means that no worker claims the task. single means that the task
	// ends with its question.
	external, single bool
	unread           int
	reason           string
	question         *modelQuestion
}

type modelQuestion struct {
	approval bool
	status   string // pending, answered, timed_out, cancelled
	by       string // human, policy, timeout, agent, system
	who      string
	value    string
	outcome  string

	deadline int // -1: none
	action   string
	levels   []modelLevel
	level    int
	fallback string // the default
	eligible map[string]bool

	required int
	majority bool
	votes    map[string]string

	lateBy, lateValue string
	restarted         bool

	held *modelHeld
}

// modelHeld is an answer that may be taken back until the minute until.
type modelHeld struct {
	who, value string
	until      int
}

// heldMinutes is how long the machine's policy holds answers, in minutes.
const heldMinutes = 3

type modelLevel struct {
	minutes int
	who     string
	action  string
}

// applyDue applies held answers and deadlines that are due to the question.
func (m *model) applyDue() {
	q := m.question
	if q == nil || q.status != "pending" {
		return
	}
	if h := q.held; h != nil && m.clock >= h.until {
		// A held answer was given before the deadline, so it counts even when
		// it is held until the deadline.
		q.held, q.status, q.by, q.who, q.value = nil, "answered", "human", h.who, h.value
		m.continueTask()
		return
	}
	if q.deadline < 0 {
		return
	}
	for m.clock >= q.deadline && q.action == "escalate" {
		l := q.levels[q.level]
		q.level++
		q.deadline += l.minutes
		q.action = l.action
		if q.eligible != nil {
			q.eligible[l.who] = true
		}
	}
	if m.clock < q.deadline {
		return
	}
	q.status, q.by, q.outcome = "timed_out", "timeout", q.action
	if q.action == "default" {
		q.value = q.fallback
	}
	m.continueTask()
}

// continueTask moves the task on after its question closed.
func (m *model) continueTask() {
	q, waits := m.question, m.state == "awaiting_input" || m.state == "awaiting_approval"
	m.unread++
	if !waits && m.state != "input_received" {
		return
	}
	switch {
	case q.outcome == "fail":
		m.end("failed", "question_timed_out")
	case q.outcome == "skip":
		m.end("skipped", "question_timed_out")
	case m.single && q.status == "cancelled":
		m.end("cancelled", "the question was withdrawn")
	case m.single:
		m.end("done", "")
	case waits && m.external:
		m.state = "in_progress"
	case waits:
		m.state = "input_received"
	}
}

func (m *model) end(state, reason string) { m.state, m.reason, m.unread = state, reason, 0 }

func (m *model) isEnded() bool {
	return m.state == "done" || m.state == "failed" || m.state == "skipped" || m.state == "cancelled"
}

// reopen makes an ended task continue.
func (m *model) reopen() {
	m.reason = ""
	switch {
	case m.external:
		m.state = "in_progress"
	case m.unread > 0:
		m.state = "input_received"
	default:
		m.state = "open"
	}
}

// answer returns the expected reply: now, before, vote, late, held or an error code.
func (m *model) answer(who, value string, restart, unseen, undo bool) string {
	m.applyDue()
	q := m.question
	switch {
	case who == "robot" || q.eligible != nil && !q.eligible[who]:
		return "not_eligible"
	case q.status == "answered" && q.by == "human" && q.who == who && q.value == value, q.status != "pending" && q.votes[who] == value:
		return "before"
	case q.status == "timed_out" && q.lateBy == who && q.lateValue == value && (!restart || q.restarted):
		return "before"
	case q.status == "answered" || q.status == "cancelled":
		return "question_closed"
	case q.held != nil && q.held.who == who && q.held.value == value:
		return "before"
	case q.held != nil:
		return "question_closed"
	case q.approval && value == "approve" && unseen:
		return "invalid_request"
	case q.status == "timed_out" && q.lateBy != "" && (q.lateBy != who || q.lateValue != value):
		return "question_closed"
	case q.status == "timed_out" && q.lateBy == "" && q.required > 1 && value == "approve":
		return "policy_violation"
	case q.status == "timed_out":
		q.lateBy, q.lateValue, q.restarted = who, value, restart
		if restart || !m.isEnded() {
			m.unread++
		}
		if restart && m.isEnded() {
			m.reopen()
		}
		return "late"
	}
	if undo && q.required == 1 {
		until := m.clock + heldMinutes
		if q.deadline >= 0 {
			until = min(until, q.deadline)
		}
		q.held = &modelHeld{who, value, until}
		return "held"
	}
	if q.required > 1 {
		switch q.votes[who] {
		case value:
			return "before"
		case "":
		default:
			return "invalid_request"
		}
		q.votes[who] = value
		yes, no := 0, 0
		for _, v := range q.votes {
			if v == "approve" {
				yes++
			} else {
				no++
			}
		}
		enough := no >= 1
		if q.majority {
			enough = no > q.required/2
		}
		if !enough && yes < q.required {
			return "vote"
		}
	}
	q.status, q.by, q.who, q.value = "answered", "human", who, value
	m.continueTask()
	return "now"
}

// machine runs the rules under test beside the model. It does what the layer
// above the rules does: it loads, expires due questions, applies one rule and
// moves the task.
type machine struct {
	task     *fermata.Task
	question *fermata.Question
	asked    int
	// first is the resolution at the moment when the question closed.
	first string
	model model
}

var outcomeNames = map[fermata.AnswerOutcome]string{
	fermata.AnswerCloses: "now", fermata.AnswerRepeats: "before", fermata.AnswerVotes: "vote", fermata.AnswerLate: "late",
	fermata.AnswerHeld: "held",
}

func (m *machine) now() time.Time { return noon.Add(time.Duration(m.model.clock) * time.Minute) }

func (m *machine) move(t *rapid.T, to fermata.TaskState) {
	t.Helper()
	if err := m.task.Move(to); err != nil {
		t.Fatalf("%v", err)
	}
}

func (m *machine) applyDue(t *rapid.T) {
	t.Helper()
	q := m.question
	if q == nil || !q.IsDecided(m.now()) {
		return
	}
	if q.IsReleaseDue(m.now()) {
		q.Release()
		m.continueTask(t)
		return
	}
	if q.Expire(m.now()) == fermata.ExpiredClosed {
		m.continueTask(t)
	}
}

// continueTask moves the task on after its question closed.
func (m *machine) continueTask(t *rapid.T) {
	t.Helper()
	m.task.Unread++
	to, reason := m.task.StateAfterQuestion(m.question, true)
	if to == m.task.State {
		return
	}
	m.task.Reason = reason
	m.move(t, to)
	if to.IsEnded() {
		m.task.Unread = 0
	}
}

func (m *machine) ask(t *rapid.T) {
	m.applyDue(t)
	m.model.applyDue()
	if m.question != nil && m.question.Status == fermata.Pending || m.task.State != fermata.TaskInProgress {
		return // a rule of the store refuses a second pending question
	}
	minutes := rapid.IntRange(5, 60)
	a := fermata.Ask{Question: "Go on?"}
	mq := &modelQuestion{status: "pending", deadline: -1, action: "fail", required: 1, votes: map[string]string{}}
	if mq.approval = rapid.Bool().Draw(t, "approval"); mq.approval {
		a.Action = json.RawMessage(`{"command":"deploy"}`)
		if mq.required = rapid.IntRange(1, 3).Draw(t, "required"); mq.required > 1 {
			mq.majority = rapid.Bool().Draw(t, "majority")
			a.Approvals = &fermata.Quorum{Required: mq.required}
			if mq.majority {
				a.Approvals.Reject = "majority"
			}
		}
	} else {
		a.Options = []fermata.Option{{Value: "a"}, {Value: "b"}}
	}
	ends := []string{"skip", "fail"}
	if rapid.Bool().Draw(t, "has default") {
		mq.fallback = "a"
		if mq.approval {
			mq.fallback = "reject"
		}
		a.Default, ends = mq.fallback, append(ends, "default")
	}
	if rapid.Bool().Draw(t, "assigned") {
		a.Assignees, mq.eligible = []string{"ann", "bob"}, map[string]bool{"ann": true, "bob": true}
	}
	a.Timeout = fermata.Never
	end := rapid.SampledFrom(ends).Draw(t, "end")
	a.OnTimeout, mq.action = fermata.TimeoutAction(end), end
	if rapid.IntRange(0, 4).Draw(t, "never") > 0 {
		d := minutes.Draw(t, "timeout")
		a.Timeout, mq.deadline = fermata.Timeout(fmt.Sprintf("%dm", d)), m.model.clock+d
		levels := rapid.IntRange(0, 3).Draw(t, "levels")
		for i := range levels {
			l := modelLevel{minutes: minutes.Draw(t, "level"), who: rapid.SampledFrom([]string{"cid", "dan"}).Draw(t, "who"), action: "escalate"}
			if i == levels-1 {
				l.action = end
			}
			mq.levels = append(mq.levels, l)
			a.Escalation = append(a.Escalation, fermata.EscalationLevel{
				Assignees: []string{l.who}, Timeout: fermata.Timeout(fmt.Sprintf("%dm", l.minutes)), OnTimeout: fermata.TimeoutAction(l.action),
			})
			a.OnTimeout, mq.action = fermata.Escalate, "escalate"
		}
	}
	m.asked++
	q, err := a.Open(fmt.Sprintf("q_%d", m.asked), m.task, agent, fermata.DefaultPolicy(), m.now())
	if err != nil {
		t.Fatalf("%v", err)
	}
	m.question, m.model.question, m.first = q, mq, ""
	m.move(t, q.Type.AwaitingState())
	m.model.state = "awaiting_input"
	if mq.approval {
		m.model.state = "awaiting_approval"
	}
}

func (m *machine) answer(t *rapid.T) {
	if m.question == nil {
		return
	}
	m.applyDue(t)
	who := rapid.SampledFrom([]string{"ann", "bob", "cid", "dan", "robot"}).Draw(t, "who")
	values := []string{"a", "b"}
	if m.question.Type == fermata.Approval {
		values = []string{"approve", "reject"}
	}
	a := fermata.Answer{Answer: rapid.SampledFrom(values).Draw(t, "value"), Restart: rapid.Bool().Draw(t, "restart")}
	unseen := rapid.IntRange(0, 9).Draw(t, "unseen") == 0
	if m.question.Type == fermata.Approval && !unseen {
		a.ActionHash = m.question.ActionHash
	}
	c := person(who)
	if who == "robot" {
		c.Kind, c.TokenID, c.Scopes = fermata.ActorAgent, "tok_robot", fermata.Scopes
	}
	a.Undo = rapid.Bool().Draw(t, "undo")
	want := m.model.answer(who, a.Answer.(string), a.Restart, unseen, a.Undo)
	settled, err := m.applyAnswer(a, c)
	got := string(fermata.CodeOf(err))
	if err == nil {
		got = outcomeNames[settled]
	}
	if got != want {
		t.Fatalf("%s answers %v: %s, want %s (%v)", who, a.Answer, got, want, err)
	}
	switch {
	case err != nil:
	case settled == fermata.AnswerCloses:
		m.continueTask(t)
	case settled == fermata.AnswerLate:
		if a.Restart || !m.task.State.IsEnded() {
			m.task.Unread++
		}
		if a.Restart && m.task.State.IsEnded() {
			m.move(t, m.task.ReadyState())
		}
	}
}

// applyAnswer applies the answer, and holds it if the answer asks for that.
func (m *machine) applyAnswer(a fermata.Answer, c fermata.Caller) (fermata.AnswerOutcome, error) {
	if !a.Undo {
		return m.question.ApplyAnswer(a, c, m.now())
	}
	p := fermata.DefaultPolicy()
	p.UndoSeconds = ptr(heldMinutes * 60)
	return m.question.Hold(a, c, p, m.now())
}

// undo takes a held answer back.
func (m *machine) undo(t *rapid.T) {
	if m.question == nil {
		return
	}
	m.applyDue(t)
	m.model.applyDue()
	who := rapid.SampledFrom([]string{"ann", "ann", "bob"}).Draw(t, "who")
	mq, want := m.model.question, fermata.Code("")
	switch {
	case mq.status != "pending":
		want = fermata.CodeQuestionClosed
	case mq.held == nil:
		want = fermata.CodeIllegalTransition
	case mq.held.who != who:
		want = fermata.CodeNotEligible
	default:
		mq.held = nil
	}
	if err := m.question.Undo(person(who)); fermata.CodeOf(err) != want {
		t.Fatalf("%s takes the answer back: %v, want %q", who, err, want)
	}
}

func (m *machine) cancel(t *rapid.T) {
	if m.question == nil {
		return
	}
	m.applyDue(t)
	m.model.applyDue()
	by := rapid.SampledFrom([]fermata.Actor{agent, person("ann").Actor(), fermata.SystemActor}).Draw(t, "by")
	want := m.model.question.status == "pending"
	if want {
		m.model.question.status, m.model.question.by, m.model.question.held = "cancelled", string(by.Kind), nil
		m.model.continueTask()
	}
	got, err := m.question.Cancel(by, "", m.now())
	closed := m.model.question.status != "cancelled"
	if got != want || closed != (fermata.CodeOf(err) == fermata.CodeQuestionClosed) {
		t.Fatalf("cancelled %v, want %v (%v)", got, want, err)
	}
	if got {
		m.continueTask(t)
	}
}

func (m *machine) extend(t *rapid.T) {
	if m.question == nil {
		return
	}
	m.applyDue(t)
	m.model.applyDue()
	by := rapid.IntRange(-10, 60).Draw(t, "by")
	mq := m.model.question
	want := mq.status == "pending" && mq.deadline >= 0 && by > 0
	if want {
		mq.deadline += by
	}
	if err := m.question.Extend(time.Duration(by)*time.Minute, fermata.DefaultPolicy(), m.now()); (err == nil) != want {
		t.Fatalf("extend by %d minutes: %v, want it to go: %v", by, err, want)
	}
}

// message posts a person's message to the task. The question stays open.
func (m *machine) message(t *rapid.T) {
	m.applyDue(t)
	m.model.applyDue()
	m.model.unread++
	switch m.model.state {
	case "awaiting_input", "awaiting_approval":
		if !m.model.external {
			m.model.state = "input_received"
		}
	case "open":
		m.model.state = "input_received"
	}
	m.task.Unread++
	if to, moves := m.task.StateAfterMessage(); moves {
		m.move(t, to)
	}
}

// work acts as a worker. It claims the task, or ends its run while its question is pending.
func (m *machine) work(t *rapid.T) {
	m.applyDue(t)
	m.model.applyDue()
	pending := m.question != nil && m.question.Status == fermata.Pending
	switch {
	case m.task.State.IsClaimable():
		m.move(t, fermata.TaskInProgress)
		m.task.Unread, m.model.unread, m.model.state = 0, 0, "in_progress"
	case m.task.State == fermata.TaskInProgress && pending:
		m.move(t, m.question.Type.AwaitingState())
		m.model.state = map[bool]string{false: "awaiting_input", true: "awaiting_approval"}[m.model.question.approval]
	case m.task.State.IsEnded():
		m.move(t, m.task.ReadyState())
		m.model.reopen()
	}
}

func (m *machine) cancelTask(t *rapid.T) {
	m.applyDue(t)
	m.model.applyDue()
	if m.task.State.IsEnded() {
		return
	}
	m.move(t, fermata.TaskCancelled)
	m.task.Unread = 0
	m.model.end("cancelled", "")
	if m.question == nil || m.question.Status != fermata.Pending {
		return
	}
	if _, err := m.question.Cancel(fermata.SystemActor, "the task was cancelled", m.now()); err != nil {
		t.Fatalf("%v", err)
	}
	m.model.question.status, m.model.question.by, m.model.question.held = "cancelled", "system", nil
}

// check compares the machine with the model after every command.
func (m *machine) check(t *rapid.T) {
	m.model.applyDue()
	m.applyDue(t)
	got := []any{string(m.task.State), m.task.Reason, m.task.Unread}
	if diff := cmp.Diff([]any{m.model.state, m.model.reason, m.model.unread}, got); diff != "" {
		t.Fatalf("the task's state, reason and unread (-want +got):\n%s", diff)
	}
	if m.question == nil {
		return
	}
	// Every stored value goes through the database's format.
	m.question = reload(t, m.question)
	q, mq := m.question, m.model.question
	if string(q.Status) != mq.status || q.EscalationLevel != mq.level || len(q.Votes) != len(mq.votes) {
		t.Fatalf("%s at level %d with %d votes, want %s at %d with %d", q.Status, q.EscalationLevel, len(q.Votes), mq.status, mq.level, len(mq.votes))
	}
	if mq.deadline >= 0 && !q.Deadline.Equal(noon.Add(time.Duration(mq.deadline)*time.Minute)) {
		t.Fatalf("the deadline is %s, want minute %d", q.Deadline, mq.deadline)
	}
	if (q.HeldAnswer == nil) != (mq.held == nil) || mq.held != nil && (q.HeldAnswer.By.Name != mq.held.who || q.HeldAnswer.Answer != mq.held.value ||
		!q.HeldAnswer.ReleaseAt.Equal(noon.Add(time.Duration(mq.held.until)*time.Minute))) {
		t.Fatalf("holds %+v, want %+v", q.HeldAnswer, mq.held)
	}
	r := q.Resolution
	if (r == nil) != (mq.status == "pending") {
		t.Fatalf("%s with the resolution %+v", q.Status, r)
	}
	if r == nil {
		return
	}
	who := ""
	if r.AnsweredBy != nil && r.Status == fermata.Answered {
		who = r.AnsweredBy.Name
	}
	value, _ := r.Answer.(string)
	got = []any{string(r.Status), string(r.DecidedBy), who, value, string(r.Outcome), len(r.LateAnswers)}
	if diff := cmp.Diff([]any{mq.status, mq.by, mq.who, mq.value, mq.outcome, map[bool]int{true: 0, false: 1}[mq.lateBy == ""]}, got); diff != "" {
		t.Fatalf("the resolution (-want +got):\n%s", diff)
	}
	if r.DecidedBy == fermata.ActorTimeout && (r.AnsweredBy != nil || r.IsApproved() || r.At.After(m.now())) {
		t.Fatalf("time decided, and it looks like a person: %+v", r)
	}
	kept := *r
	kept.LateAnswers = nil
	data, err := json.Marshal(kept)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if m.first == "" {
		m.first = string(data)
	}
	if m.first != string(data) {
		t.Fatalf("the resolution changed:\n%s\n%s", m.first, data)
	}
}

// reload returns the question as the next write loads it.
func reload(t *rapid.T, q *fermata.Question) *fermata.Question {
	t.Helper()
	back := throughJSON(t, q)
	back.Fingerprint, back.HandedTo, back.Version = q.Fingerprint, q.HandedTo, q.Version
	return back
}

// TestMachine runs random sequences of commands on one task. It checks that
// every question has at most one resolution, that only late answers change a
// resolution, and that a resolution names the right decider.
func TestMachine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := &machine{task: runningTask()}
		m.model.state = "in_progress"
		if m.model.external = rapid.Bool().Draw(t, "external"); m.model.external {
			m.model.single = rapid.Bool().Draw(t, "single")
			m.task.Runner, m.task.EndsWithAnswer = fermata.RunnerExternal, m.model.single
		}
		t.Repeat(map[string]func(*rapid.T){
			"ask":     m.ask,
			"answer":  m.answer,
			"again":   m.answer,
			"undo":    m.undo,
			"cancel":  m.cancel,
			"extend":  m.extend,
			"message": m.message,
			"work":    m.work,
			"end":     m.cancelTask,
			"wait":    func(t *rapid.T) { m.model.clock += rapid.IntRange(1, 40).Draw(t, "minutes") },
			"":        m.check,
		})
	})
}
