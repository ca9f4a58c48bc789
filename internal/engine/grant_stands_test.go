package engine_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/test/forgery"
)

// A grant that is signed with the workspace's key, but for which there is no approval, lets nothing run. So a person
// who reads the key in the database gains nothing.
func TestAForgedGrantOpensNothing(t *testing.T) {
	each(t, func(w *world) {
		a, bob := w.approveAction(""), w.Person("bob")
		_, pending := w.createSuspended(fermata.Ask{Question: "Run it?", Action: json.RawMessage(removeOld)})
		key := w.grantKey()
		genuine, err := fermata.OpenGrant(a.Grant, key)
		w.OK(err)
		for name, forge := range map[string]func(g *fermata.Grant){
			"a question that never was":  func(g *fermata.Grant) { g.QuestionID = "q_01hzzzzzzzzzzzzzzzzz" },
			"a question that is pending": func(g *fermata.Grant) { g.QuestionID, g.TaskID = pending.ID, pending.TaskID },
			"another task":               func(g *fermata.Grant) { g.TaskID = pending.TaskID },
			"another action":             func(g *fermata.Grant) { g.ActionHash = fermata.HashAction([]byte(`{"command":"rm -r /"}`)) },
			"another person":             func(g *fermata.Grant) { g.By = bob.Actor() },
			"a stronger sign-in":         func(g *fermata.Grant) { g.Assurance = fermata.AssurancePasskey },
			"a later end":                func(g *fermata.Grant) { g.ExpiresAt = g.ExpiresAt.Add(time.Hour) },
			"another workspace":          func(g *fermata.Grant) { g.WorkspaceID = "other" },
		} {
			g := genuine
			forge(&g)
			action := removeOld
			if name == "another action" {
				action = `{"command":"rm -r /"}`
			}
			if got := fermata.CodeOf(w.verify(g.Sign(key), action)); got != fermata.CodeForbidden {
				w.Errorf("%s: %q", name, got)
			}
		}
		w.OK(w.verify(a.Grant, removeOld))
	})
}

// A grant with one wrong character lets nothing run, and is not used up.
func TestAGrantOneCharacterOffOpensNothing(t *testing.T) {
	each(t, func(w *world) {
		a := w.approveAction("")
		head, tried := w.Head(), 0
		for forged := range forgery.OneOff(a.Grant) {
			tried++
			if got := fermata.CodeOf(w.verify(forged, removeOld)); got != fermata.CodeForbidden {
				w.Fatalf("%q: %q", forged, got)
			}
		}
		if tried < 1000 || w.Head() != head {
			w.Errorf("%d forgeries wrote %d events", tried, w.Head()-head)
		}
		w.OK(w.verify(a.Grant, removeOld))
	})
}

func (w *world) grantKey() (key []byte) {
	w.Helper()
	w.OK(w.DB.Write(w.Context(), store.DefaultWorkspace, func(tx *store.Tx) (err error) {
		key, err = tx.GrantKey()
		return err
	}))
	return key
}

// An action whose approver lost the right to approve does not run, neither by the grant nor through a gate.
func TestAGrantOfSomebodyWhoMayNoMoreOpensNothing(t *testing.T) {
	each(t, func(w *world) {
		a := w.approveAction("")
		call := bash("s1", "c1", "git push")
		v := w.gate(call, fermata.GateAsk)
		q := w.checkQuestion(v.QuestionID, fermata.Pending)
		_, err := w.approve(w.alice, q, fermata.Approve)
		w.OK(err)
		viewer, responder := fermata.RoleViewer, fermata.RoleResponder
		_, err = w.Engine.ChangeMember(w.Context(), admin, w.alice.MemberID, fermata.MemberChange{Role: &viewer})
		w.OK(err)
		w.Equal(fermata.CodeForbidden, fermata.CodeOf(w.verify(a.Grant, removeOld)))
		w.gate(call, fermata.GateAsk)
		_, err = w.Engine.ChangeMember(w.Context(), admin, w.alice.MemberID, fermata.MemberChange{Role: &responder})
		w.OK(err)
		w.OK(w.verify(a.Grant, removeOld))
	})
}

// If the present policy requires a stronger sign-in than the approval had, the present policy counts.
func TestAGrantMeetsThePolicyOfToday(t *testing.T) {
	each(t, func(w *world) {
		a := w.approveAction("")
		p, err := w.Engine.Policy(w.Context(), admin)
		w.OK(err)
		p.LeastAssurance = map[fermata.Risk]fermata.Assurance{}
		for _, risk := range []fermata.Risk{fermata.RiskLow, fermata.RiskMedium, fermata.RiskHigh, fermata.RiskCritical} {
			p.LeastAssurance[risk] = fermata.AssurancePasskey
		}
		_, err = w.Engine.SetPolicy(w.Context(), admin, p)
		w.OK(err)
		w.Equal(fermata.CodeForbidden, fermata.CodeOf(w.verify(a.Grant, removeOld)))
	})
}

// The present risk counts: that of the project, and that of the rules for the action.
func TestAGrantMeetsTheRiskOfToday(t *testing.T) {
	each(t, func(w *world) {
		project, action := w.approveAction(""), w.approveAction("")
		p, err := w.Engine.Policy(w.Context(), admin)
		w.OK(err)
		p.LeastAssurance = map[fermata.Risk]fermata.Assurance{fermata.RiskCritical: fermata.AssurancePasskey}
		before := p
		p.ProjectRisk = map[string]fermata.Risk{fermata.DefaultProject: fermata.RiskCritical}
		_, err = w.Engine.SetPolicy(w.Context(), admin, p)
		w.OK(err)
		w.Equal(fermata.CodeForbidden, fermata.CodeOf(w.verify(project.Grant, removeOld)))
		_, err = w.Engine.SetPolicy(w.Context(), admin, before)
		w.OK(err)
		w.OK(w.verify(project.Grant, removeOld))
		w.rule(fermata.NewGateRule{Tool: "*", Args: map[string]string{"command": "rm *"}, Decision: fermata.GateAsk, Risk: fermata.RiskCritical})
		w.Equal(fermata.CodeForbidden, fermata.CodeOf(w.verify(action.Grant, removeOld)))
	})
}

// A rule that denies the action takes precedence over an earlier approval.
func TestAGrantMeetsTheRulesOfToday(t *testing.T) {
	each(t, func(w *world) {
		a := w.approveAction("")
		w.rule(fermata.NewGateRule{Tool: "*", Args: map[string]string{"command": "rm *"}, Decision: fermata.GateDeny})
		w.Equal(fermata.CodeForbidden, fermata.CodeOf(w.verify(a.Grant, removeOld)))
	})
}

// People are not asked about an action that a rule denies, because an approval would be useless. If a run ends with
// such a question, they are asked, and the grant is refused.
func TestAnActionThatARuleDeniesIsNotAsked(t *testing.T) {
	each(t, func(w *world) {
		deny := w.rule(fermata.NewGateRule{Tool: "*", Args: map[string]string{"command": "rm *"}, Decision: fermata.GateDeny})
		ask := fermata.Ask{Question: "Run it?", Type: fermata.Approval, Action: json.RawMessage(removeOld)}
		_, err := w.Engine.AskExternal(w.Context(), w.agent, "", "", ask)
		w.Equal(fermata.CodePolicyViolation, fermata.CodeOf(err))
		if !strings.Contains(err.Error(), deny.ID) {
			w.Errorf("the refusal names no rule: %v", err)
		}
		_, err = w.Engine.Ask(w.Context(), w.agent, w.task(fermata.NewTask{Priority: ptr(4)}).ID, ask)
		w.Equal(fermata.CodePolicyViolation, fermata.CodeOf(err))
		w.Equal(fermata.CodeForbidden, fermata.CodeOf(w.verify(w.approveAction("").Grant, removeOld)))
	})
}

// If two people had to approve, both must still have the right to.
func TestAGrantOfTwoNeedsBothStill(t *testing.T) {
	each(t, func(w *world) {
		bob := w.Person("bob")
		task, q := w.createSuspended(fermata.Ask{
			Question: "Run it?", Action: json.RawMessage(removeOld), Approvals: &fermata.Quorum{Required: 2},
		})
		for _, c := range []fermata.Caller{w.alice, bob} {
			_, err := w.approve(c, q, fermata.Approve)
			w.OK(err)
		}
		grant := w.claimTask(task.ID).Context.Questions[0].Grant
		viewer := fermata.RoleViewer
		_, err := w.Engine.ChangeMember(w.Context(), admin, w.alice.MemberID, fermata.MemberChange{Role: &viewer})
		w.OK(err)
		w.Equal(fermata.CodeForbidden, fermata.CodeOf(w.verify(grant, removeOld)))
	})
}
