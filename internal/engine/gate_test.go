package engine_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
)

// gate makes a call and checks the decision.
func (w *world) gate(call fermata.GateCall, want fermata.GateDecision) *fermata.GateReply {
	w.Helper()
	v, err := w.Engine.Gate(w.Context(), w.agent, call)
	w.OK(err)
	if v.Decision != want {
		w.Fatalf("decided %s (%s), want %s", v.Decision, v.Reason, want)
	}
	return v
}

func (w *world) rule(n fermata.NewGateRule) *fermata.GateRule {
	w.Helper()
	r, err := w.Engine.AddGateRule(w.Context(), admin, n)
	w.OK(err)
	return r
}

func bash(session, call, command string) fermata.GateCall {
	input, _ := json.Marshal(map[string]string{"command": command})
	return fermata.GateCall{SessionKey: session, CallID: call, Runner: "claude", Tool: "Bash", Input: input, Dir: "/work"}
}

func TestAnApprovedCallRunsOnce(t *testing.T) {
	each(t, func(w *world) {
		call := bash("s1", "c1", "git push")
		v := w.gate(call, fermata.GateAsk)
		w.Equal(v.QuestionID, w.gate(call, fermata.GateAsk).QuestionID)
		q := w.checkQuestion(v.QuestionID, fermata.Pending)
		w.Equal(`{"tool":"Bash","input":{"command":"git push"},"dir":"/work"}`, string(q.Action))
		_, err := w.approve(w.alice, q, fermata.Approve)
		w.OK(err)
		allowed := w.gate(call, fermata.GateAllow)
		w.Equal(fermata.ActorHuman, allowed.DecidedBy)
		again := w.gate(call, fermata.GateAsk)
		if again.QuestionID == v.QuestionID {
			w.Fatal("the approval was used twice")
		}
	})
}

func TestAnApprovalIsOfTheActionNotOfTheCall(t *testing.T) {
	each(t, func(w *world) {
		v := w.gate(bash("s1", "c1", "git push"), fermata.GateAsk)
		_, err := w.approve(w.alice, w.checkQuestion(v.QuestionID, fermata.Pending), fermata.Approve)
		w.OK(err)
		// The resumed agent makes the same call with a new call id.
		w.gate(bash("s1", "c2", "git push"), fermata.GateAllow)
		w.gate(bash("s1", "c3", "git push"), fermata.GateAsk)
	})
}

func TestAChangedInputVoidsTheApproval(t *testing.T) {
	each(t, func(w *world) {
		v := w.gate(bash("s1", "c1", "git push"), fermata.GateAsk)
		_, err := w.approve(w.alice, w.checkQuestion(v.QuestionID, fermata.Pending), fermata.Approve)
		w.OK(err)
		changed := w.gate(bash("s1", "c1", "git push --force"), fermata.GateAsk)
		w.Equal(false, changed.QuestionID == v.QuestionID)
		w.Equal(fermata.GateDeny, w.gate(bash("s1", "c2", "git push"), fermata.GateDeny).Decision)
		// While the changed call waits, a third change replaces it.
		third := w.gate(bash("s1", "c1", "git push --all"), fermata.GateAsk)
		w.checkQuestion(changed.QuestionID, fermata.Cancelled)
		w.checkQuestion(third.QuestionID, fermata.Pending)
	})
}

func TestARefusalNamesWhoRefused(t *testing.T) {
	each(t, func(w *world) {
		call := bash("s1", "c1", "git push")
		v := w.gate(call, fermata.GateAsk)
		_, err := w.approve(w.alice, w.checkQuestion(v.QuestionID, fermata.Pending), fermata.Reject)
		w.OK(err)
		if r := w.gate(call, fermata.GateDeny).Reason; !strings.Contains(r, "alice (human) rejected") {
			w.Fatal(r)
		}
		second := bash("s1", "c2", "git push")
		w.gate(second, fermata.GateAsk)
		w.Clock.Advance(time.Hour)
		late := w.gate(second, fermata.GateDeny)
		w.Equal(fermata.ActorTimeout, late.DecidedBy)
		if !strings.Contains(late.Reason, "no person did") {
			w.Fatal(late.Reason)
		}
	})
}

func TestAnAllowedCallWritesNothing(t *testing.T) {
	each(t, func(w *world) {
		w.rule(fermata.NewGateRule{Tool: "Bash", Args: map[string]string{"command": "git status*"}, Decision: fermata.GateAllow})
		before := w.Head()
		w.gate(bash("s1", "c1", "git status --short"), fermata.GateAllow)
		w.Equal(before, w.Head())
		w.gate(bash("s1", "c2", "git status; rm -rf /"), fermata.GateAsk)
	})
}

func TestUsesAreCounted(t *testing.T) {
	each(t, func(w *world) {
		r := w.rule(fermata.NewGateRule{Tool: "Bash", Decision: fermata.GateAllow, Uses: 2, ExpiresIn: "1h"})
		w.gate(bash("s1", "c1", "a"), fermata.GateAllow)
		w.gate(bash("s1", "c2", "b"), fermata.GateAllow)
		w.gate(bash("s1", "c3", "c"), fermata.GateAsk)
		rules, err := w.Engine.GateRules(w.Context(), w.agent)
		w.OK(err)
		w.Equal(2, rules[0].Used)
		_, err = w.Engine.RemoveGateRule(w.Context(), w.agent, r.ID)
		w.Equal(fermata.CodeForbidden, fermata.CodeOf(err))
		_, err = w.Engine.RemoveGateRule(w.Context(), admin, r.ID)
		w.OK(err)
	})
}

// The built-in rules give their risk to approvals, too.
func TestAnApprovalHasTheRiskOfTheRulesThatAreAlwaysThere(t *testing.T) {
	each(t, func(w *world) {
		for _, action := range []string{
			`{"tool":"Write","input":{"file_path":".gitattributes"}}`, `{"tool":"write_file","arguments":{"file_path":"/w/.mcp.json"}}`,
			`{"command":"git config core.fsmonitor ./x"}`,
			// If the action has several forms, the program that runs it may
			// read any of them.
			`{"tool":"Write","input":{"file_path":"/w/a"},"arguments":{"file_path":"/w/.git/hooks/pre-commit"}}`,
			`{"tool":"Bash","input":{"command":"ls"},"command":"git config core.fsmonitor ./x"}`, `{"tool":"Read","command":["git","config","a.b","c"]}`,
		} {
			_, q := w.createSuspended(fermata.Ask{Type: fermata.Approval, Title: "Run?", Risk: fermata.RiskLow, Action: []byte(action)})
			w.Equal(fermata.RiskHigh, q.Risk)
		}
	})
}

// An agent that asks for the approval of a call directly cannot avoid the risk
// that the rules give to the call.
func TestAnApprovalHasTheRiskOfTheRules(t *testing.T) {
	each(t, func(w *world) {
		w.rule(fermata.NewGateRule{Tool: "Bash", Args: map[string]string{"command": "git push*"}, Decision: fermata.GateAsk, Risk: fermata.RiskCritical})
		w.rule(fermata.NewGateRule{Tool: "*", Decision: fermata.GateAsk, Risk: fermata.RiskHigh})
		w.rule(fermata.NewGateRule{Tool: "Bash", Args: map[string]string{"command": "git push origin"}, Decision: fermata.GateAsk, Risk: fermata.RiskLow})
		for action, want := range map[string]fermata.Risk{
			`{"tool":"Bash","input":{"command":"git push origin"}}`:            fermata.RiskCritical,
			`{"tool":"Bash","input":{"command":"git push origin"},"dir":"/x"}`: fermata.RiskCritical,
			`{"tool":"Edit","input":{}}`:                                       fermata.RiskHigh,
			`{"tool":"Bash","arguments":{"command":"git push origin"}}`:        fermata.RiskCritical,
			`{"tool":"Bash","input":{"command":"git push origin"},"x":1}`:      fermata.RiskCritical,
			`{"command":"git push origin"}`:                                    fermata.RiskCritical,
			`{"command":["git","push","origin"]}`:                              fermata.RiskCritical,
			`{"deploy":"shop"}`:                                                fermata.RiskMedium,
		} {
			_, q := w.createSuspended(fermata.Ask{Type: fermata.Approval, Title: "Run?", Risk: fermata.RiskLow, Action: []byte(action)})
			w.Equal(want, q.Risk)
			if want == fermata.RiskCritical {
				w.Equal(fermata.AssurancePasskey, q.LeastAssurance)
			}
		}
		v := w.gate(bash("s9", "c1", "git push origin"), fermata.GateAsk)
		w.Equal(fermata.RiskCritical, w.checkQuestion(v.QuestionID, fermata.Pending).Risk)
	})
}
