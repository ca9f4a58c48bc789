package engine_test

import (
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

// TestRulesOfAProject: an operator in another project who may only read in this
// one can neither add nor remove a rule here, whatever the scope names.
func TestRulesOfAProject(t *testing.T) {
	each(t, func(w *world) {
		task := w.task(fermata.NewTask{Project: "secret"})
		_, err := w.Engine.CreateTask(w.Context(), w.agent, fermata.NewTask{
			Title: "s", Project: "secret", Runner: fermata.RunnerExternal, SessionKey: "claude:1",
		})
		w.OK(err)
		bob := w.Person("bob")
		bob.Projects = map[string]fermata.Role{"secret": fermata.RoleViewer}
		allow := func(change func(*fermata.NewGateRule)) fermata.NewGateRule {
			n := fermata.NewGateRule{Tool: "*", Decision: fermata.GateAllow}
			change(&n)
			return n
		}
		for _, n := range []fermata.NewGateRule{
			allow(func(n *fermata.NewGateRule) { n.Project = "secret" }),
			allow(func(n *fermata.NewGateRule) { n.TaskID = task.ID }),
			allow(func(n *fermata.NewGateRule) { n.SessionKey = "claude:1" }),
			allow(func(*fermata.NewGateRule) {}),
		} {
			_, err := w.Engine.AddGateRule(w.Context(), bob, n)
			w.CheckRefused(err, fermata.CodeForbidden)
			r, err := w.Engine.AddGateRule(w.Context(), admin, n)
			w.OK(err)
			_, err = w.Engine.RemoveGateRule(w.Context(), bob, r.ID)
			w.CheckRefused(err, fermata.CodeForbidden)
		}
		_, err = w.Engine.AddGateRule(w.Context(), bob, allow(func(n *fermata.NewGateRule) { n.Project = "web" }))
		w.OK(err)

		// The opposite case: a person who is operator in one project may add rules there.
		cid := w.Person("cid")
		cid.Role, cid.Projects = fermata.RoleViewer, map[string]fermata.Role{"web": fermata.RoleOperator}
		_, err = w.Engine.AddGateRule(w.Context(), cid, allow(func(n *fermata.NewGateRule) { n.Project = "web" }))
		w.OK(err)
		_, err = w.Engine.AddGateRule(w.Context(), cid, allow(func(n *fermata.NewGateRule) { n.Project = "shop" }))
		w.CheckRefused(err, fermata.CodeForbidden)
	})
}

// A rule for a session works only in the project of the session's tasks when it was added, even if the agent of the
// session creates a task in another project.
func TestARuleOfASessionStaysInItsProject(t *testing.T) {
	each(t, func(w *world) {
		cid := w.Person("cid")
		cid.Role, cid.Projects = fermata.RoleViewer, map[string]fermata.Role{"web": fermata.RoleOperator}
		in := func(project string) *fermata.Task {
			task, err := w.Engine.CreateTask(w.Context(), w.agent, fermata.NewTask{
				Title: "s", Project: project, Runner: fermata.RunnerExternal, SessionKey: "claude:1",
			})
			w.OK(err)
			return task
		}
		decision := func(task *fermata.Task) fermata.GateDecision {
			v, err := w.Engine.Gate(w.Context(), w.agent, fermata.GateCall{TaskID: task.ID, Tool: "Bash", Input: []byte(`{"command":"make"}`), DryRun: true})
			w.OK(err)
			return v.Decision
		}
		web := in("web")
		_, err := w.Engine.AddGateRule(w.Context(), cid, fermata.NewGateRule{Tool: "*", Decision: fermata.GateAllow, SessionKey: "claude:1"})
		w.OK(err)
		w.Equal(fermata.GateAllow, decision(web))
		_, err = w.Engine.FinishExternal(w.Context(), w.agent, web.ID, fermata.Finish{Result: fermata.ResultCompleted})
		w.OK(err)
		w.Equal(fermata.GateAsk, decision(in("secret")))
		_, err = w.Engine.AddGateRule(w.Context(), cid, fermata.NewGateRule{Tool: "*", Decision: fermata.GateAllow, SessionKey: "claude:1"})
		w.CheckRefused(err, fermata.CodeForbidden)
	})
}

// A rule for a session in a hidden project is refused like one for an unknown session.
func TestARuleForAHiddenSessionTellsNothing(t *testing.T) {
	each(t, func(w *world) {
		cid := w.Person("cid")
		cid.Role, cid.Projects = fermata.RoleNone, map[string]fermata.Role{"web": fermata.RoleOperator}
		_, err := w.Engine.CreateTask(w.Context(), w.agent, fermata.NewTask{Title: "s", Project: "secret", Runner: fermata.RunnerExternal, SessionKey: "claude:1"})
		w.OK(err)
		refusal := func(key string) string {
			_, err := w.Engine.AddGateRule(w.Context(), cid, fermata.NewGateRule{Tool: "*", Decision: fermata.GateDeny, SessionKey: key})
			w.CheckRefused(err, fermata.CodeForbidden)
			return err.Error()
		}
		w.Equal(refusal("claude:none"), refusal("claude:1"))
	})
}

// TestViewersGateNothing: a person who may only read in a project can open no
// approvals there, claim none of its tasks and use none of its grants.
func TestViewersGateNothing(t *testing.T) {
	each(t, func(w *world) {
		bob := w.Person("bob")
		bob.Scopes = []fermata.Scope{fermata.ScopeAsk, fermata.ScopeWork}
		bob.Projects = map[string]fermata.Role{"secret": fermata.RoleViewer}
		task := w.task(fermata.NewTask{Project: "secret"})
		call := fermata.GateCall{Tool: "Bash", Input: []byte(`{"command":"make"}`), Runner: "claude", CallID: "c1"}
		byTask, bySession := call, call
		byTask.TaskID = task.ID
		bySession.SessionKey, bySession.Project = "claude:9", "secret"
		for _, call := range []fermata.GateCall{byTask, bySession} {
			_, err := w.Engine.Gate(w.Context(), bob, call)
			w.CheckRefused(err, fermata.CodeForbidden)
		}
		_, err := w.Engine.Claim(w.Context(), bob, fermata.ClaimRequest{Worker: "w1"})
		w.CheckRefused(err, fermata.CodeForbidden)
		c := w.claimTask(task.ID)
		_, err = w.Engine.Heartbeat(w.Context(), bob, c.Run.ID, fermata.Heartbeat{Token: c.Run.Token})
		w.CheckRefused(err, fermata.CodeForbidden)
	})
}

// TestReadingWritesNothing: a token that only reads cannot change anything of
// its member; a browser session of a viewer can.
func TestReadingWritesNothing(t *testing.T) {
	each(t, func(w *world) {
		browser := w.signIn("alice", engine.Browser{})
		q := w.ask(w.task(fermata.NewTask{}).ID, format)
		reader := w.alice
		reader.TokenID, reader.Scopes = "tok_r", []fermata.Scope{fermata.ScopeRead}
		name := "Alice"
		calls := map[string]func(c fermata.Caller) error{
			"snooze": func(c fermata.Caller) error {
				_, err := w.Engine.Snooze(w.Context(), c, q.ID, fermata.Snooze{})
				return err
			},
			"notifications": func(c fermata.Caller) error { _, err := w.Engine.MarkNotificationsRead(w.Context(), c, 1); return err },
			"view": func(c fermata.Caller) error {
				_, err := w.Engine.SaveView(w.Context(), c, fermata.SavedView{Name: "v", Query: "type=approval"})
				return err
			},
			"name": func(c fermata.Caller) error {
				_, err := w.Engine.ChangeMember(w.Context(), c, "alice", fermata.MemberChange{Name: &name})
				return err
			},
			"links": func(c fermata.Caller) error { return w.Engine.RevokeAnswerLinks(w.Context(), c, "alice") },
		}
		for what, call := range calls {
			if err := call(reader); fermata.CodeOf(err) != fermata.CodeForbidden {
				w.Errorf("%s with the scope read: %v", what, err)
			}
			if err := call(browser.Caller); err != nil {
				w.Errorf("%s in a browser: %v", what, err)
			}
		}
		w.CheckRefused(w.Engine.EndSession(w.Context(), reader, browser.Session.ID), fermata.CodeForbidden)
		_, err := w.Engine.EndSessionsOf(w.Context(), reader, "alice")
		w.CheckRefused(err, fermata.CodeForbidden)
		w.OK(w.Engine.EndSession(w.Context(), browser.Caller, browser.Session.ID))
	})
}
