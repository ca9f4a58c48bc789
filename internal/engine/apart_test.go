package engine_test

import (
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

// secondAgent returns the caller with another agent's token.
func (w *world) secondAgent() fermata.Caller {
	c := w.agent
	c.TokenID, c.Name = "tok_second", "second"
	return c
}

// TestLinkIsNoStrongerThanItsMaker: a link gives all rights of a member, so
// only a caller with all these rights may create one.
func TestLinkIsNoStrongerThanItsMaker(t *testing.T) {
	each(t, func(w *world) {
		for _, scopes := range [][]fermata.Scope{{fermata.ScopeRead}, {fermata.ScopeAsk}, {fermata.ScopeWork}, {fermata.ScopeAnswer}} {
			weak := w.alice
			weak.TokenID, weak.Scopes = "tok_weak", scopes
			for _, typed := range []string{"", "alice", weak.MemberID} {
				_, err := w.Engine.MakeLink(w.Context(), weak, typed)
				w.CheckRefused(err, fermata.CodeForbidden)
			}
		}
		_, err := w.Engine.MakeLink(w.Context(), w.signIn("alice", engine.Browser{}).Caller, "")
		w.OK(err)
		all := w.alice
		all.Scopes = []fermata.Scope{fermata.ScopeRead, fermata.ScopeAsk, fermata.ScopeAnswer, fermata.ScopeWork}
		_, err = w.Engine.MakeLink(w.Context(), all, "")
		w.OK(err)
	})
}

// TestFencingTokenIsTheHoldersAlone: the token is random, and only the reply to
// the claim contains it.
func TestFencingTokenIsTheHoldersAlone(t *testing.T) {
	each(t, func(w *world) {
		seen := map[int64]bool{}
		task := w.task(fermata.NewTask{MaxAttempts: 5})
		for attempt := range 4 {
			c := w.claimTask(task.ID)
			if c.Run.Attempt != attempt+1 || c.Run.Token < 1<<40 || c.Run.Token >= 1<<53 || seen[c.Run.Token] {
				w.Fatalf("run %d has the token %d", c.Run.Attempt, c.Run.Token)
			}
			seen[c.Run.Token] = true
			run, err := w.Engine.Run(w.Context(), w.agent, c.Run.ID)
			w.OK(err)
			w.Equal(int64(0), run.Token)
			for _, guess := range []int64{0, 1, int64(c.Run.Attempt), c.Run.Token + 1} {
				_, err = w.Engine.Finish(w.Context(), w.secondAgent(), c.Run.ID, fermata.Finish{Token: guess, Result: fermata.ResultCompleted})
				w.CheckRefused(err, fermata.CodeStaleRun)
			}
			_, err = w.Engine.Release(w.Context(), w.agent, c.Run.ID, c.Run.Token)
			w.OK(err)
		}
		runs, err := w.Engine.Runs(w.Context(), admin, task.ID)
		w.OK(err)
		for i, run := range runs {
			w.Equal(i+1, run.Attempt)
			w.Equal(int64(0), run.Token)
		}
		entries, _, err := w.Engine.Timeline(w.Context(), admin, engine.TimelineFilter{TaskID: task.ID})
		w.OK(err)
		for _, entry := range entries {
			if entry.Run != nil {
				w.Equal(int64(0), entry.Run.Token)
			}
		}
	})
}

// TestReplayAsksTheRoleAgain: a caller that lost the right to a call does not
// get its reply by sending the idempotency key again.
func TestReplayAsksTheRoleAgain(t *testing.T) {
	each(t, func(w *world) {
		task := w.task(fermata.NewTask{Project: "secret"})
		q := w.ask(task.ID, fermata.Ask{Question: "Which?"})
		bob := w.Person("bob")
		create := fermata.NewTask{Title: "x", Project: "secret"}
		bob.Scopes = []fermata.Scope{fermata.ScopeAsk, fermata.ScopeAnswer}
		calls := map[string]func(key string) error{
			"create": func(key string) error {
				_, err := w.Engine.CreateTask(engine.WithIdempotency(w.Context(), key, "f"), bob, create)
				return err
			},
			"message": func(key string) error {
				_, err := w.Engine.PostMessage(engine.WithIdempotency(w.Context(), key, "f"), bob, task.ID, "hello")
				return err
			},
			"answer": func(key string) error {
				_, err := w.Engine.Answer(engine.WithIdempotency(w.Context(), key, "f"), bob, q.ID, fermata.Answer{Answer: "a"})
				return err
			},
		}
		for name, call := range calls {
			w.OK(call(name))
			w.OK(call(name))
		}
		bob.Projects = map[string]fermata.Role{"secret": fermata.RoleViewer}
		for name, call := range calls {
			w.CheckRefused(call(name), fermata.CodeForbidden)
		}
	})
}

// TestKeyOfAnotherAgent: an idempotency key belongs to its asker. Another agent with the same key gets neither the
// question nor a hint that it exists, and cannot take the key first.
func TestKeyOfAnotherAgent(t *testing.T) {
	each(t, func(w *world) {
		a := fermata.Ask{Question: "Which?", IdempotencyKey: "k"}
		q, err := w.Engine.AskExternal(w.Context(), w.agent, "secret", "", a)
		w.OK(err)
		again, err := w.Engine.AskExternal(w.Context(), w.agent, "secret", "", a)
		w.OK(err)
		w.Equal(q.ID, again.ID)
		other, err := w.Engine.AskExternal(w.Context(), w.secondAgent(), "web", "", a)
		w.OK(err)
		if other.ID == q.ID {
			w.Error("an agent is given the question of another one")
		}
		same, err := w.Engine.AskExternal(w.Context(), w.secondAgent(), "web", "", a)
		w.OK(err)
		w.Equal(other.ID, same.ID)
		a.Question = "Who?"
		_, err = w.Engine.AskExternal(w.Context(), w.secondAgent(), "web", "", a)
		w.CheckRefused(err, fermata.CodeIdempotencyConflict)
	})
}

// TestAnApprovalIsForOneDesk: if the agents of two people name the same session, an approval for one of them does not
// let the other one run.
func TestAnApprovalIsForOneDesk(t *testing.T) {
	each(t, func(w *world) {
		bob := w.Person("bob")
		alice := w.alice
		for _, c := range []*fermata.Caller{&alice, &bob} {
			c.Scopes = []fermata.Scope{fermata.ScopeAsk, fermata.ScopeAnswer, fermata.ScopeWork}
		}
		call := fermata.GateCall{SessionKey: "claude:1", Tool: "Bash", Input: []byte(`{"command":"make deploy"}`), Runner: "claude", CallID: "c1"}
		first, err := w.Engine.Gate(w.Context(), alice, call)
		w.OK(err)
		q, err := w.Engine.Question(w.Context(), alice, first.QuestionID)
		w.OK(err)
		_, err = w.approve(alice, q, fermata.Approve)
		w.OK(err)
		other, err := w.Engine.Gate(w.Context(), bob, call)
		w.OK(err)
		if other.Decision != fermata.GateAsk || other.TaskID == first.TaskID {
			w.Errorf("bob's call got %+v", other)
		}
		byTask := call
		byTask.SessionKey, byTask.TaskID = "", first.TaskID
		_, err = w.Engine.Gate(w.Context(), bob, byTask)
		w.CheckRefused(err, fermata.CodeForbidden)
		w.Equal("", w.grantSeenBy(bob, first.TaskID))
		if w.grantSeenBy(alice, first.TaskID) == "" {
			w.Error("alice is not handed her own grant")
		}
		again, err := w.Engine.Gate(w.Context(), alice, byTask)
		w.OK(err)
		w.Equal(fermata.GateAllow, again.Decision)
	})
}

// grantSeenBy returns the grant of a task's only question, as the caller reads it.
func (w *world) grantSeenBy(c fermata.Caller, task string) string {
	w.Helper()
	rc, err := w.Engine.ResumeContext(w.Context(), c, task)
	w.OK(err)
	w.Equal(1, len(rc.Questions))
	return rc.Questions[0].Grant
}

// TestAnAgentTakesNoDeskOver: an agent that names the session of a person gets neither the calls that people approve
// for that person, nor the questions.
func TestAnAgentTakesNoDeskOver(t *testing.T) {
	each(t, func(w *world) {
		alice := w.alice
		alice.Scopes = []fermata.Scope{fermata.ScopeAsk, fermata.ScopeAnswer, fermata.ScopeWork}
		theirs, err := w.Engine.AskExternal(w.Context(), w.secondAgent(), "", "claude:1", fermata.Ask{Question: "Hi?"})
		w.OK(err)
		_, err = w.Engine.CancelQuestion(w.Context(), w.secondAgent(), theirs.ID, "")
		w.OK(err)
		call := fermata.GateCall{SessionKey: "claude:1", Tool: "Bash", Input: []byte(`{"command":"make deploy"}`), Runner: "claude", CallID: "c1"}
		v, err := w.Engine.Gate(w.Context(), alice, call)
		w.OK(err)
		asked, err := w.Engine.AskExternal(w.Context(), alice, "", "claude:1", fermata.Ask{Question: "Which?", Type: fermata.NonBlocking, Default: "a"})
		w.OK(err)
		if v.TaskID == theirs.TaskID || asked.TaskID != v.TaskID {
			w.Fatalf("the desk's questions are in the tasks %s and %s, the agent's is %s", v.TaskID, asked.TaskID, theirs.TaskID)
		}
		q, err := w.Engine.Question(w.Context(), alice, v.QuestionID)
		w.OK(err)
		_, err = w.approve(w.alice, q, fermata.Approve)
		w.OK(err)
		other, err := w.Engine.Gate(w.Context(), w.secondAgent(), call)
		w.OK(err)
		w.Equal(fermata.GateAsk, other.Decision)
		own, err := w.Engine.Gate(w.Context(), alice, call)
		w.OK(err)
		w.Equal(fermata.GateAllow, own.Decision)
	})
}

// TestAnAllowRuleIsForOneSession: a rule that allows calls in a session does not apply to another agent that names
// the key of this session. A rule that denies does apply.
func TestAnAllowRuleIsForOneSession(t *testing.T) {
	each(t, func(w *world) {
		desk := w.alice
		desk.Scopes = []fermata.Scope{fermata.ScopeAsk}
		rule := func(tool string, decision fermata.GateDecision) (*fermata.GateRule, error) {
			return w.Engine.AddGateRule(w.Context(), w.alice, fermata.NewGateRule{Tool: tool, Decision: decision, SessionKey: "claude:1"})
		}
		decision := func(c fermata.Caller, tool string) fermata.GateDecision {
			v, err := w.Engine.Gate(w.Context(), c, fermata.GateCall{SessionKey: "claude:1", Tool: tool, Input: []byte(`{}`), Runner: "claude", CallID: "c1"})
			w.OK(err)
			return v.Decision
		}
		_, err := rule("Bash", fermata.GateAllow)
		w.CheckRefused(err, fermata.CodeNotFound)
		_, err = rule("Write", fermata.GateDeny)
		w.OK(err)

		w.Equal(fermata.GateAsk, decision(w.agent, "Bash"))
		made, err := rule("Bash", fermata.GateAllow)
		w.OK(err)
		w.Equal(w.agent.Actor(), *made.SessionOwner)
		w.Equal(fermata.GateAllow, decision(w.agent, "Bash"))
		for _, other := range []fermata.Caller{w.secondAgent(), desk} {
			w.Equal(fermata.GateAsk, decision(other, "Bash"))
			w.Equal(fermata.GateDeny, decision(other, "Write"))
		}
		_, err = rule("Read", fermata.GateAllow)
		w.CheckRefused(err, fermata.CodeInvalidRequest)
	})
}

// TestSessionIsItsAgents: another agent that knows or guesses the key of a
// session gets a task of its own.
func TestSessionIsItsAgents(t *testing.T) {
	each(t, func(w *world) {
		n := fermata.NewTask{Title: "s", Project: "secret", Runner: fermata.RunnerExternal, SessionKey: "claude:1"}
		own, err := w.Engine.CreateTask(w.Context(), w.agent, n)
		w.OK(err)
		same, err := w.Engine.CreateTask(w.Context(), w.agent, n)
		w.OK(err)
		w.Equal(own.ID, same.ID)

		n.Project = "web"
		other, err := w.Engine.CreateTask(w.Context(), w.secondAgent(), n)
		w.OK(err)
		q, err := w.Engine.AskExternal(w.Context(), w.secondAgent(), "web", "claude:1", fermata.Ask{Question: "Which?"})
		w.OK(err)
		call := fermata.GateCall{SessionKey: "claude:1", Project: "web", Tool: "Bash", Input: []byte(`{"command":"make"}`), Runner: "claude", CallID: "c1"}
		v, err := w.Engine.Gate(w.Context(), w.secondAgent(), call)
		w.OK(err)
		for _, id := range []string{other.ID, q.TaskID, v.TaskID} {
			if id == own.ID {
				w.Error("an agent joined the session of another one")
			}
			w.Equal(other.ID, id)
		}
	})
}
