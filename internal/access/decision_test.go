package access_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/checkpoint"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/passkey"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
)

// coder is an agent that may only ask.
var coder = fermata.Caller{
	WorkspaceID: store.DefaultWorkspace, Kind: fermata.ActorAgent, TokenID: "tok_1", Scopes: []fermata.Scope{fermata.ScopeAsk},
}

const dropTable = `{"command":"drop table orders"}`

// askDangerous asks for the approval of a critical action.
func (w *world) askDangerous(approvals *fermata.Quorum) *fermata.Question {
	w.Helper()
	q, err := w.Engine.AskExternal(w.Context(), coder, "", "", fermata.Ask{
		Type: fermata.Approval, Question: "Drop the table?", Action: json.RawMessage(dropTable), Risk: fermata.RiskCritical, Approvals: approvals,
	})
	w.OK(err)
	return q
}

// preparedAnswer is a decision that the server prepared, and the answer for which it did.
type preparedAnswer struct {
	Decision string
	reply    string
	answer   map[string]any
}

// prepare makes the server prepare the decision for an answer.
func (b *browser) prepare(q *fermata.Question, answer map[string]any) preparedAnswer {
	b.w.Helper()
	body, err := json.Marshal(answer)
	b.w.OK(err)
	p := preparedAnswer{answer: answer}
	p.reply = b.must(http.StatusOK, "POST /v1/questions/"+q.ID+"/decision", string(body)).body
	b.w.OK(json.Unmarshal([]byte(p.reply), &p))
	return p
}

// signedBy returns the body of the answer with the signature of a passkey.
func (p preparedAnswer) signedBy(a *authenticator) string {
	a.t.Helper()
	var signature map[string]any
	a.must(json.Unmarshal([]byte(a.get(p.reply)), &signature))
	signature["decision"] = p.Decision
	p.answer["signature"] = signature
	body, err := json.Marshal(p.answer)
	a.must(err)
	return string(body)
}

func approval(q *fermata.Question) map[string]any {
	return map[string]any{"answer": "approve", "action_hash": q.ActionHash, "comment": "after the backup"}
}

// approve approves the question with a signature of the passkey.
func (b *browser) approve(q *fermata.Question, a *authenticator) {
	b.w.Helper()
	b.must(http.StatusOK, "POST /v1/questions/"+q.ID+"/answer", b.prepare(q, approval(q)).signedBy(a))
}

// use uses up the grant of a question.
func (w *world) use(id string) error {
	w.Helper()
	q, err := w.Engine.Question(w.Context(), admin, id)
	w.OK(err)
	g, ok := q.Grant()
	if !ok {
		w.Fatalf("%s gives no grant", id)
	}
	var key []byte
	w.OK(w.DB.Write(w.Context(), store.DefaultWorkspace, func(tx *store.Tx) (err error) {
		key, err = tx.GrantKey()
		return err
	}))
	_, err = w.Engine.VerifyGrant(w.Context(), coder, fermata.GrantCheck{Grant: g.Sign(key), Action: json.RawMessage(dropTable)})
	return err
}

func (w *world) audit() engine.AuditReport {
	w.Helper()
	report, err := w.Engine.VerifyAudit(w.Context(), admin)
	w.OK(err)
	return report
}

// A passkey signs the decision itself. The signature supports the grant, and is verified in the audit and the
// receipt.
func TestAPasskeySignsADecision(t *testing.T) {
	each(t, withPasskeys, func(w *world) {
		a, b := w.addMemberWithPasskey("ann"), w.localBrowser()
		// A sign-in by link has a lower assurance than one by passkey. The signature makes up for it.
		b.signIn("ann")
		q := w.askDangerous(nil)
		if r := b.must(http.StatusOK, "GET /v1/questions/"+q.ID, ""); !strings.Contains(r.body, `"needs_signature":true`) {
			w.Errorf("%s", r.body)
		}
		unsigned, err := json.Marshal(approval(q))
		w.OK(err)
		b.must(http.StatusForbidden, "POST /v1/questions/"+q.ID+"/answer", string(unsigned))
		body := b.prepare(q, approval(q)).signedBy(a)
		if r := b.must(http.StatusOK, "POST /v1/questions/"+q.ID+"/answer", body); !strings.Contains(r.body, `"assurance":"passkey"`) {
			w.Errorf("%s", r.body)
		}
		// A browser whose connection broke sends the answer again.
		b.must(http.StatusOK, "POST /v1/questions/"+q.ID+"/answer", body)
		if report := w.audit(); !report.OK || report.Signed != 1 {
			w.Errorf("%+v", report)
		}

		r := w.receipt(b, q)
		if r.ClosedEvent == 0 || r.AskedEvent == 0 || r.Resolution.Comment != "after the backup" || len(r.PublicKeys) != 1 {
			w.Errorf("%+v", r)
		}
		w.OK(passkey.VerifyReceipt(r))
		for name, change := range map[string]func(r *fermata.DecisionReceipt){
			"the answer":   func(r *fermata.DecisionReceipt) { r.Resolution.Answers = map[string]any{"answer": "reject"} },
			"the comment":  func(r *fermata.DecisionReceipt) { r.Resolution.Comment = "" },
			"the person":   func(r *fermata.DecisionReceipt) { r.Resolution.AnsweredBy.ID = "mem_other" },
			"the question": func(r *fermata.DecisionReceipt) { r.Title = "Drop nothing?" },
			"the action":   func(r *fermata.DecisionReceipt) { r.Action = json.RawMessage(`{"command":"drop"}`) },
			"the hash":     func(r *fermata.DecisionReceipt) { r.ActionHash = fermata.HashAction([]byte("{}")) },
			"the key":      func(r *fermata.DecisionReceipt) { r.PublicKeys = nil },
		} {
			changed := w.receipt(b, q)
			change(&changed)
			if passkey.VerifyReceipt(changed) == nil {
				w.Errorf("a receipt with another %s is taken", name)
			}
		}
		w.OK(w.use(q.ID))
	})
}

// receipt reads and verifies the receipt of a question, as its recipient does.
func (w *world) receipt(b *browser, q *fermata.Question) fermata.DecisionReceipt {
	w.Helper()
	var signed fermata.SignedReceipt
	w.OK(json.Unmarshal([]byte(b.must(http.StatusOK, "GET /v1/questions/"+q.ID+"/receipt", "").body), &signed))
	if _, err := checkpoint.OpenReceipt([]byte(strings.Replace(signed.Note, "Drop", "Keep", 1)), w.publicKey); err == nil {
		w.Error("a changed receipt is taken")
	}
	r, err := checkpoint.OpenReceipt([]byte(signed.Note), w.publicKey)
	w.OK(err)
	return r
}

// If two people decide, a signature is not needed, but a signature that a person gives is stored with the vote.
func TestAVoteIsSigned(t *testing.T) {
	each(t, withPasskeys, func(w *world) {
		a, ann := w.addMemberWithPasskey("ann"), w.localBrowser()
		ann.signIn("ann")
		w.AddMember(engine.NewMember{Handle: "bob"})
		bob := w.localBrowser()
		bob.signIn("bob")
		q := w.askDangerous(&fermata.Quorum{Required: 2})
		ann.approve(q, a)
		unsigned, err := json.Marshal(approval(q))
		w.OK(err)
		bob.must(http.StatusOK, "POST /v1/questions/"+q.ID+"/answer", string(unsigned))
		if report := w.audit(); !report.OK || report.Signed != 1 {
			w.Errorf("%+v", report)
		}
		r := w.receipt(ann, q)
		w.OK(passkey.VerifyReceipt(r))
		r.Votes[0].Value = fermata.Reject
		if passkey.VerifyReceipt(r) == nil {
			w.Error("a changed vote is taken")
		}
		w.OK(w.use(q.ID))
	})
}

// A decision counts only if a passkey of the person signed it, on a page of this server, for exactly this answer.
func TestAForgedDecision(t *testing.T) {
	each(t, withPasskeys, func(w *world) {
		good, other := w.addMemberWithPasskey("ann"), w.addMemberWithPasskey("bob")
		b := w.localBrowser()
		b.signIn("ann")
		q, elsewhere := w.askDangerous(nil), w.askDangerous(nil)
		refused := func(name, body string) {
			w.Helper()
			if r := b.call("POST /v1/questions/"+q.ID+"/answer", body); r.status != http.StatusBadRequest && r.status != http.StatusForbidden && r.status != http.StatusUnauthorized {
				w.Errorf("%s: %d %s", name, r.status, r.body)
			}
			if got, err := w.Engine.Question(w.Context(), admin, q.ID); err != nil || got.Status != fermata.Pending {
				w.Fatalf("%s decided: %v %v", name, got, err)
			}
		}
		for name, change := range map[string]func(a *authenticator){
			"another page":              func(a *authenticator) { a.origin = "https://evil.example" },
			"another site":              func(a *authenticator) { a.rp = "evil.example" },
			"a person who is not known": func(a *authenticator) { a.flags = present },
			"nobody there":              func(a *authenticator) { a.flags = verified },
			"another key":               func(a *authenticator) { a.key = other.key },
			"another member":            func(a *authenticator) { a.handle = other.handle },
			"another member's passkey":  func(a *authenticator) { *a = *other },
			"an unknown passkey":        func(a *authenticator) { a.id = []byte("none") },
		} {
			a := *good
			change(&a)
			refused(name, b.prepare(q, approval(q)).signedBy(&a))
		}
		// One field of the signed decision or of the answer is changed.
		for name, forge := range map[string][2]string{
			"another answer":    {`"answer":"approve"`, `"answer":"reject"`},
			"another comment":   {`"comment":"after the backup"`, `"comment":"now"`},
			"another decision":  {`after the backup\"`, `after the fire\"`},
			"an edited action":  {`"answer":"approve"`, `"answer":"approve","action":{"command":"drop database"}`},
			"no credential":     {`"credential":{`, `"other":{`},
			"another signature": {`"signature":"M`, `"signature":"N`},
			"another challenge": {`"clientDataJSON":"`, `"clientDataJSON":"A`},
		} {
			body := b.prepare(q, approval(q)).signedBy(good)
			forged := strings.Replace(body, forge[0], forge[1], 1)
			if forged == body {
				w.Fatalf("%s: nothing is forged in %s", name, body)
			}
			refused(name, forged)
		}
		refused("the decision of another question", b.prepare(elsewhere, approval(elsewhere)).signedBy(good))
		for _, signature := range []string{`{}`, `{"decision":"{}","credential":{}}`, `{"decision":"{}","credential":"x"}`, `{"decision":"{}","credential":null}`} {
			refused(signature, `{"answer":"approve","action_hash":"`+q.ActionHash+`","signature":`+signature+`}`)
		}
		old := b.prepare(q, approval(q)).signedBy(good)
		w.Clock.Advance(fermata.SignatureLifetime + time.Second)
		refused("an old one", old)
		body := b.prepare(q, approval(q)).signedBy(good)
		b.must(http.StatusOK, "POST /v1/questions/"+q.ID+"/answer", body)
	})
}

// The server itself cannot forge an approval: a decision that the person's passkey did not sign lets nothing run, and
// the audit finds it.
func TestTheServerForgesNoDecision(t *testing.T) {
	each(t, withPasskeys, func(w *world) {
		a, b := w.addMemberWithPasskey("ann"), w.localBrowser()
		b.signIn("ann")
		session := b.prepare(w.askDangerous(nil), map[string]any{"answer": "reject"})
		ann := w.caller("ann")
		forged := w.askDangerous(nil)
		d, err := forged.PrepareDecision(fermata.Answer{Answer: "approve", ActionHash: forged.ActionHash}, ann, w.Clock.Now())
		w.OK(err)
		var made struct{ Credential json.RawMessage }
		w.OK(json.Unmarshal([]byte(a.get(session.reply)), &made))
		keys, err := w.Engine.Passkeys(w.Context(), ann)
		w.OK(err)
		// This is a valid signature of ann's passkey, but for another decision.
		answer := fermata.Answer{Answer: "approve", ActionHash: forged.ActionHash, Signed: &fermata.SignedDecision{
			Decision: d.Text(), PasskeyID: keys[0].ID, RelyingParty: "localhost", Credential: made.Credential,
		}}
		if _, err := w.Engine.Answer(w.Context(), ann, forged.ID, answer); err != nil {
			w.Fatal(err)
		}
		if err := w.use(forged.ID); fermata.CodeOf(err) != fermata.CodeForbidden {
			w.Errorf("the grant: %v", err)
		}
		if report := w.audit(); report.OK || !strings.Contains(report.Problem, "did not sign") {
			w.Errorf("%+v", report)
		}
		if passkey.VerifyReceipt(w.receipt(b, forged)) == nil {
			w.Error("the receipt is taken")
		}
	})
}

// If the text of a question is edited after a passkey signed the answer, both the event and the signature alone show
// it.
func TestTheWordsOfASignedDecisionStay(t *testing.T) {
	each(t, withPasskeys, func(w *world) {
		a, b := w.addMemberWithPasskey("ann"), w.localBrowser()
		b.signIn("ann")
		q := w.askDangerous(nil)
		b.approve(q, a)
		storetest.Exec(w, w.Options, `UPDATE questions SET asked = replace(asked, 'Drop the table?', 'Keep the table?')`)
		edited, err := w.Engine.Question(w.Context(), w.caller("ann"), q.ID)
		w.OK(err)
		if err := edited.CheckSigned(edited.Resolution.AnsweredBy.ID); err == nil || !strings.Contains(err.Error(), "the signature is for another decision") {
			w.Errorf("the signature: %v", err)
		}
		if report := w.audit(); report.OK || !strings.Contains(report.Problem, "another text, asker or rule") {
			w.Errorf("%+v", report)
		}
		if err := w.use(q.ID); fermata.CodeOf(err) != fermata.CodePolicyViolation {
			w.Errorf("the grant: %v", err)
		}
	})
}

// An approval counts only while its owner still has the passkey.
func TestARemovedPasskeyOpensNothing(t *testing.T) {
	each(t, withPasskeys, func(w *world) {
		a, b := w.addMemberWithPasskey("ann"), w.localBrowser()
		b.signIn("ann")
		q := w.askDangerous(nil)
		b.approve(q, a)
		keys, err := w.Engine.Passkeys(w.Context(), w.caller("ann"))
		w.OK(err)
		w.OK(w.Engine.RemovePasskey(w.Context(), admin, keys[0].ID))
		if err := w.use(q.ID); fermata.CodeOf(err) != fermata.CodeForbidden {
			w.Errorf("the grant: %v", err)
		}
		if report := w.audit(); !report.OK || report.Signed != 1 {
			w.Errorf("%+v", report)
		}
		late := w.askDangerous(nil)
		if r := b.call("POST /v1/questions/"+late.ID+"/decision", `{"answer":"reject"}`); r.status != http.StatusForbidden || !strings.Contains(r.body, "add a passkey") {
			w.Errorf("%d %s", r.status, r.body)
		}
	})
}

// caller returns a member as the caller of the engine.
func (w *world) caller(handle string) fermata.Caller {
	w.Helper()
	var m *fermata.Member
	all, err := w.Engine.Members(w.Context(), admin)
	w.OK(err)
	for _, one := range all {
		if one.Handle == handle {
			m = one
		}
	}
	c := m.Caller()
	c.WorkspaceID, c.Scopes, c.Assurance = store.DefaultWorkspace, []fermata.Scope{fermata.ScopeAnswer, fermata.ScopeRead}, fermata.AssuranceSession
	return c
}
