package engine_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store/storetest"
)

// TestWaitingIsActionable runs random programs of verbs on a few tasks. After
// each step the rows must be consistent: every waiting task has exactly one
// thing on which a person or the clock can act.
func TestWaitingIsActionable(t *testing.T) {
	t.Parallel()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		opts := storetest.SQLite(t)
		m := &machine{T: rt, world: newWorld(t, opts), closings: map[string]int{}}
		defer func() {
			m.world.checkTablesMatch()
			m.world.forged = true // it was just checked, and the database is closed
			_ = m.world.DB.Close()
		}()
		if rapid.Bool().Draw(rt, "policy") {
			m.world.setPolicy(func(p *fermata.Policy) { p.AutoConfidence, p.AskConfidence = ptr(80), ptr(50) })
		}
		m.people = []fermata.Caller{m.world.alice, m.world.Person("bob")}
		rt.Repeat(map[string]func(*rapid.T){
			"create": m.create, "create again": m.create, "claim": m.claim, "claim again": m.claim, "finish": m.finish, "finish again": m.finish,
			"heartbeat": m.heartbeat, "release": m.release, "ask": m.ask, "ask outside": m.askOutside, "answer": m.answer,
			"answer again": m.answer, "amend": m.amend, "say": m.say, "move": m.move, "patch": m.patch, "wait": m.wait,
			"": m.check,
		})
	})
	t.Logf("%d programs", n)
}

type machine struct {
	*rapid.T
	world  *world
	people []fermata.Caller
	tasks  []string
	asked  []string
	claims []*fermata.Claim
	keys   int
	// closings is the number of ends of each question in the events up to seen.
	closings map[string]int
	seen     int64
}

// checkError fails the program for an error that no caller should get.
func (m *machine) checkError(act string, err error) {
	switch fermata.CodeOf(err) {
	case fermata.CodeInternal, fermata.CodeUnavailable, fermata.CodeNotFound, fermata.CodeUnauthenticated:
		m.Fatalf("%s: %v", act, err)
	default:
		if err != nil {
			m.Logf("%s: refused: %v", act, err)
		}
	}
}

func (m *machine) pick(label string, ids []string) string {
	if len(ids) == 0 {
		m.Skip("nothing to pick")
	}
	return rapid.SampledFrom(ids).Draw(m.T, label)
}

func (m *machine) bool(label string) bool { return rapid.Bool().Draw(m.T, label) }

func (m *machine) choose(label string, of ...string) string {
	return rapid.SampledFrom(of).Draw(m.T, label)
}

func (m *machine) create(*rapid.T) {
	if len(m.tasks) >= 7 {
		m.Skip("enough tasks")
	}
	n := fermata.NewTask{Title: fmt.Sprint("t", len(m.tasks)), MaxAttempts: rapid.IntRange(1, 2).Draw(m.T, "attempts")}
	switch kind := m.choose("kind", "plain", "child", "dependent", "external", "single", "deferred"); {
	case kind == "child" && len(m.tasks) > 0:
		n.ParentID = m.pick("parent", m.tasks)
	case kind == "dependent" && len(m.tasks) > 0:
		n.BlockedBy = []string{m.pick("on", m.tasks), m.pick("and on", m.tasks)}
	case kind == "external", kind == "single":
		n.Runner, n.EndsWithAnswer = fermata.RunnerExternal, kind == "single"
	case kind == "deferred":
		now, err := m.world.Engine.Now(m.world.Context())
		m.checkError("now", err)
		n.DeferUntil = ptr(now.Add(3 * time.Minute))
	}
	t, err := m.world.Engine.CreateTask(m.world.Context(), m.world.agent, n)
	m.checkError("create", err)
	if err == nil {
		m.tasks = append(m.tasks, t.ID)
	}
}

func (m *machine) claim(*rapid.T) {
	c, err := m.world.Engine.Claim(m.world.Context(), m.world.agent, fermata.ClaimRequest{Worker: "w"})
	if err == engine.ErrNoTask { //nolint:errorlint // exactly this one
		return
	}
	m.checkError("claim", err)
	m.claims = append(m.claims, c)
}

func (m *machine) anyClaim() *fermata.Claim {
	if len(m.claims) == 0 {
		m.Skip("no claim")
	}
	return rapid.SampledFrom(m.claims).Draw(m.T, "run")
}

func (m *machine) question() fermata.Ask {
	typ := rapid.SampledFrom(fermata.QuestionTypes).Draw(m.T, "type")
	a := fermata.Ask{Type: typ, Question: "Go on?", Timeout: fermata.Timeout(m.choose("timeout", "5m", "10m", "never"))}
	ends := []string{"fail", "skip"}
	if typ != fermata.Approval && (typ == fermata.NonBlocking || m.bool("has default")) {
		a.Default, ends = "yes", append(ends, "default")
	}
	a.OnTimeout = fermata.TimeoutAction(m.choose("on timeout", ends...))
	if m.bool("confident") {
		a.Confidence = ptr(rapid.SampledFrom([]int{0, 60, 100}).Draw(m.T, "confidence"))
	}
	switch m.choose("key", "none", "none", "dedupe", "idempotency", "old idempotency") {
	case "dedupe":
		a.DedupeKey = "d"
	case "idempotency":
		m.keys++
		a.IdempotencyKey = fmt.Sprint("k", m.keys)
	case "old idempotency":
		a.IdempotencyKey = fmt.Sprint("k", m.keys)
	}
	if typ == fermata.Approval && m.bool("quorum") {
		a.Approvals = &fermata.Quorum{Required: 2}
	}
	return a
}

func (m *machine) finish(*rapid.T) {
	c := m.anyClaim()
	f := fermata.Finish{Token: c.Run.Token, Result: fermata.Result(m.choose("result", "completed", "failed", "blocked", "needs_input", "needs_input"))}
	if f.Result == fermata.ResultNeedsInput && m.bool("asks") {
		f.Question = ptr(m.question())
	}
	if f.Result == fermata.ResultBlocked && m.bool("names") {
		f.BlockedBy = []string{m.pick("on", m.tasks)}
	}
	t, err := m.world.Engine.Finish(m.world.Context(), m.world.agent, c.Run.ID, f)
	m.checkError("finish "+string(f.Result), err)
	if err == nil && t.PendingQuestionID != "" {
		m.asked = append(m.asked, t.PendingQuestionID)
	}
}

func (m *machine) heartbeat(*rapid.T) {
	c := m.anyClaim()
	_, err := m.world.Engine.Heartbeat(m.world.Context(), m.world.agent, c.Run.ID, fermata.Heartbeat{Token: c.Run.Token})
	m.checkError("heartbeat", err)
}

func (m *machine) release(*rapid.T) {
	c := m.anyClaim()
	_, err := m.world.Engine.Release(m.world.Context(), m.world.agent, c.Run.ID, c.Run.Token)
	m.checkError("release", err)
}

func (m *machine) ask(*rapid.T) {
	q, err := m.world.Engine.Ask(m.world.Context(), m.world.agent, m.pick("task", m.tasks), m.question())
	m.checkError("ask", err)
	if err == nil {
		m.asked = append(m.asked, q.ID)
	}
}

func (m *machine) askOutside(*rapid.T) {
	if len(m.tasks) >= 7 {
		m.Skip("enough tasks")
	}
	q, err := m.world.Engine.AskExternal(m.world.Context(), m.world.agent, "", m.choose("session", "", "s1"), m.question())
	m.checkError("ask outside", err)
	if err != nil {
		return
	}
	m.asked = append(m.asked, q.ID)
	if !slices.Contains(m.tasks, q.TaskID) {
		m.tasks = append(m.tasks, q.TaskID)
	}
}

func (m *machine) person() fermata.Caller { return rapid.SampledFrom(m.people).Draw(m.T, "person") }

func (m *machine) answer(*rapid.T) {
	id := m.pick("question", m.asked)
	a := fermata.Answer{Answer: m.choose("value", "yes", "no", "approve", "reject"), Restart: m.bool("restart"), Undo: m.bool("undo")}
	_, err := m.world.Engine.Answer(m.world.Context(), m.person(), id, a)
	m.checkError("answer", err)
}

func (m *machine) amend(*rapid.T) {
	id, ctx, e := m.pick("question", m.asked), m.world.Context(), m.world.Engine
	var err error
	switch verb := m.choose("verb", "clarify", "cancel", "extend", "undo", "undo", "assign", "comment", "snooze"); verb {
	case "undo":
		_, err = e.Undo(ctx, m.person(), id)
	case "assign":
		_, err = e.Assign(ctx, m.person(), id, fermata.Assignment{Assignees: []string{m.choose("to", "alice", "bob")}, Note: m.choose("note", "", "look")})
	case "comment":
		_, err = e.Comment(ctx, m.person(), id, "hm")
	case "snooze":
		_, err = e.Snooze(ctx, m.person(), id, fermata.Snooze{For: fermata.Timeout(m.choose("for", "1m", ""))})
	case "clarify":
		_, err = e.Clarify(ctx, m.person(), id, "why?")
	case "cancel":
		_, err = e.CancelQuestion(ctx, m.world.agent, id, "")
	default:
		_, err = e.ExtendQuestion(ctx, m.person(), id, "5m")
	}
	m.checkError("amend", err)
}

func (m *machine) say(*rapid.T) {
	by := m.world.agent
	if m.bool("a person") {
		by = m.person()
	}
	_, err := m.world.Engine.PostMessage(m.world.Context(), by, m.pick("task", m.tasks), "hello")
	m.checkError("say", err)
}

// move does one of the things that people do to a task.
func (m *machine) move(*rapid.T) {
	id, ctx, e := m.pick("task", m.tasks), m.world.Context(), m.world.Engine
	var err error
	verb := m.choose("verb", "cancel", "defer", "defer for good", "reopen", "resume", "finish external")
	switch verb {
	case "cancel":
		_, err = e.CancelTask(ctx, m.person(), id, "")
	case "defer":
		var now time.Time
		now, err = e.Now(ctx)
		m.checkError("now", err)
		_, err = e.DeferTask(ctx, m.person(), id, ptr(now.Add(3*time.Minute)))
	case "defer for good":
		_, err = e.DeferTask(ctx, m.person(), id, nil)
	case "reopen":
		_, err = e.ReopenTask(ctx, m.person(), id)
	case "resume":
		_, err = e.ResumeTask(ctx, m.person(), id, "")
	case "finish external":
		_, err = e.FinishExternal(ctx, m.world.agent, id, completed)
	}
	m.checkError(verb, err)
}

func (m *machine) patch(*rapid.T) {
	on := []string{}
	if m.bool("depends") {
		on = append(on, m.pick("on", m.tasks))
	}
	_, err := m.world.Engine.UpdateTask(m.world.Context(), m.person(), m.pick("task", m.tasks), fermata.TaskPatch{BlockedBy: &on})
	m.checkError("patch", err)
}

func (m *machine) wait(*rapid.T) {
	m.world.Clock.Advance(time.Duration(rapid.SampledFrom([]int{3, 30, 61, 300}).Draw(m.T, "seconds")) * time.Second)
	if m.bool("sweep") {
		_, err := m.world.Engine.Sweep(m.world.Context())
		m.checkError("sweep", err)
		m.checkSwept()
	}
}
