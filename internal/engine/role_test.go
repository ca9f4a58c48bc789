package engine_test

import (
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

// TestRoleInAProject: a viewer who is responder in one project may write and
// answer there, and nowhere else.
func TestRoleInAProject(t *testing.T) {
	each(t, func(w *world) {
		w.AddMember(engine.NewMember{
			Handle: "cid", Role: fermata.RoleViewer, Projects: map[string]fermata.Role{"web": fermata.RoleResponder},
		})
		cid := w.signIn("cid", engine.Browser{}).Caller
		for project, may := range map[string]bool{"web": true, "default": false, "shop": false} {
			code := func(err error, want fermata.Code) {
				w.Helper()
				if may {
					want = ""
				}
				w.CheckRefused(err, want)
			}
			task := w.task(fermata.NewTask{Project: project})
			q := w.ask(task.ID, format)
			_, err := w.Engine.CreateTask(w.Context(), cid, fermata.NewTask{Title: "t", Project: project})
			code(err, fermata.CodeForbidden)
			_, err = w.Engine.AskExternal(w.Context(), cid, project, "", fermata.Ask{Question: "a?"})
			code(err, fermata.CodeForbidden)
			_, err = w.Engine.AskExternal(w.Context(), w.agent, project, "session-of-"+project, fermata.Ask{Type: fermata.NonBlocking, Question: "a?", Default: "x"})
			w.OK(err)
			own, err := w.Engine.AskExternal(w.Context(), cid, "web", "session-of-"+project, fermata.Ask{Question: "b?"})
			w.OK(err)
			w.Equal("web", own.Project) // an agent's session is not a person's
			_, err = w.Engine.PostMessage(w.Context(), cid, task.ID, "hello")
			code(err, fermata.CodeForbidden)
			code(w.Engine.ReportProgress(w.Context(), cid, task.ID, fermata.Progress{Message: "m"}), fermata.CodeForbidden)
			_, err = w.Engine.Answer(w.Context(), cid, q.ID, fermata.Answer{Answer: "toml"})
			code(err, fermata.CodeNotEligible)
			_, err = w.Engine.CancelTask(w.Context(), cid, task.ID, "")
			code(err, fermata.CodeForbidden)
			if !may {
				_, err = w.Engine.CancelQuestion(w.Context(), cid, q.ID, "")
				code(err, fermata.CodeForbidden)
				_, err = w.Engine.Ask(w.Context(), cid, task.ID, format)
				code(err, fermata.CodeForbidden)
			}
			_, err = w.Engine.Task(w.Context(), cid, task.ID)
			w.OK(err)
		}
	})
}

// TestQuorumCountsWhoMay: people who are disabled, or viewers in the project,
// do not count for the quorum.
func TestQuorumCountsWhoMay(t *testing.T) {
	each(t, func(w *world) {
		for _, handle := range []string{"bob", "cid"} {
			w.Person(handle)
		}
		task := w.task(fermata.NewTask{Project: "web"})
		three := fermata.Ask{Type: fermata.Approval, Question: "run?", Approvals: &fermata.Quorum{Required: 3}}
		q := w.ask(task.ID, three)
		_, err := w.Engine.CancelQuestion(w.Context(), w.agent, q.ID, "")
		w.OK(err)
		for _, ch := range []fermata.MemberChange{{Disabled: ptr(true)}, {Disabled: ptr(false), Projects: map[string]fermata.Role{"web": fermata.RoleViewer}}} {
			_, err = w.Engine.ChangeMember(w.Context(), admin, "cid", ch)
			w.OK(err)
			_, err = w.Engine.Ask(w.Context(), w.agent, task.ID, three)
			w.CheckRefused(err, fermata.CodeQuorumUnreachable)
		}
	})
}

// TestRiskEndsAtTheBrowser: the policy's assurance for a risk is checked when a
// person answers, and stored with the answer.
func TestRiskEndsAtTheBrowser(t *testing.T) {
	each(t, func(w *world) {
		w.setPolicy(func(p *fermata.Policy) {
			p.LeastAssurance = map[fermata.Risk]fermata.Assurance{fermata.RiskHigh: fermata.AssuranceSession}
		})
		ask := fermata.Ask{Type: fermata.Approval, Question: "run?", Risk: fermata.RiskHigh}
		q := w.ask(w.task(fermata.NewTask{}).ID, ask)
		w.Equal(fermata.AssuranceSession, q.LeastAssurance)
		_, err := w.approve(w.alice, q, fermata.Approve)
		w.CheckRefused(err, fermata.CodeNotEligible)
		w.checkQuestion(q.ID, fermata.Pending)
		q, err = w.approve(w.signIn("alice", engine.Browser{}).Caller, q, fermata.Approve)
		w.OK(err)
		w.Equal(fermata.AssuranceSession, q.Resolution.Assurance)
	})
}
