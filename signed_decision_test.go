package fermata_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
)

// sign returns the answer as a browser sends it after the person's passkey has signed it.
func sign(t *testing.T, q *fermata.Question, a fermata.Answer, c fermata.Caller, at time.Time) fermata.Answer {
	t.Helper()
	d, err := q.PrepareDecision(a, c, at)
	if err != nil {
		t.Fatal(err)
	}
	a.Signed = &fermata.SignedDecision{Decision: d.Text(), PasskeyID: "pk_1"}
	return a
}

func criticalQuestion(t *testing.T, change func(a *fermata.Ask)) *fermata.Question {
	t.Helper()
	a := decode[fermata.Ask](t, deploy)
	a.Risk = fermata.RiskCritical
	if change != nil {
		change(&a)
	}
	return openQuestion(t, a)
}

var approveDeploy = fermata.Answer{Answer: "approve", ActionHash: deployHash, Comment: "go"}

// TestASignedAnswerDecides checks that a person with a weaker session can decide a critical question, because the
// signature proves the passkey.
func TestASignedAnswerDecides(t *testing.T) {
	t.Parallel()
	q, ann := criticalQuestion(t, nil), person("ann")
	ann.Assurance = fermata.AssuranceSession
	applyAnswer(t, q, sign(t, q, approveDeploy, ann, later), ann, fermata.AnswerCloses)
	if q.Resolution.Assurance != fermata.AssurancePasskey || q.Resolution.Signed == nil {
		t.Errorf("%+v", q.Resolution)
	}
	if err := q.CheckSigned(ann.MemberID); err != nil {
		t.Error(err)
	}
	// The same answer may come twice after a broken connection.
	applyAnswer(t, q, approveDeploy, withPasskey(ann), fermata.AnswerRepeats)
}

func withPasskey(c fermata.Caller) fermata.Caller {
	c.Assurance = fermata.AssurancePasskey
	return c
}

func TestAnAnswerThatNeedsASignature(t *testing.T) {
	t.Parallel()
	ann := withPasskey(person("ann"))
	wantRefused(t, criticalQuestion(t, nil), approveDeploy, ann, fermata.CodeNotEligible)
	// A signature that was sent but could not be checked does not count.
	q := criticalQuestion(t, nil)
	unchecked := approveDeploy
	unchecked.Signature = &fermata.AnswerSignature{Decision: "{}", Credential: json.RawMessage("{}")}
	wantRefused(t, q, unchecked, ann, fermata.CodeInvalidRequest, "signature")
	// An approval by two people needs no signature.
	two := criticalQuestion(t, func(a *fermata.Ask) { a.Approvals = &fermata.Quorum{Required: 2} })
	applyAnswer(t, two, approveDeploy, ann, fermata.AnswerVotes)
	// An answer that a passkey signed cannot be taken back.
	if got := fermata.DefaultPolicy().UndoTime(q); got != 0 {
		t.Errorf("it is held for %s", got)
	}
}

// TestASignatureOfAnotherDecision checks that a signature is valid for one decision only: of that person, about that
// question, with those words, and within some minutes.
func TestASignatureOfAnotherDecision(t *testing.T) {
	t.Parallel()
	ann, bob := person("ann"), person("bob")
	edited := approveDeploy
	edited.Action = json.RawMessage(`{"command":"deploy --force"}`)
	reject := fermata.Answer{Answer: "reject", Comment: "go"}
	other := approveDeploy
	other.Comment = "go now"
	for name, forge := range map[string]func(q *fermata.Question, a fermata.Answer) (fermata.Answer, fermata.Caller){
		"another answer": func(_ *fermata.Question, a fermata.Answer) (fermata.Answer, fermata.Caller) {
			return withSignature(reject, a.Signed), ann
		},
		"another comment": func(_ *fermata.Question, a fermata.Answer) (fermata.Answer, fermata.Caller) {
			return withSignature(other, a.Signed), ann
		},
		"an edited action": func(_ *fermata.Question, a fermata.Answer) (fermata.Answer, fermata.Caller) {
			return withSignature(edited, a.Signed), ann
		},
		"another person": func(_ *fermata.Question, a fermata.Answer) (fermata.Answer, fermata.Caller) { return a, bob },
		"another question": func(q *fermata.Question, a fermata.Answer) (fermata.Answer, fermata.Caller) {
			q.ID = "q_other"
			return a, ann
		},
		"another workspace": func(q *fermata.Question, a fermata.Answer) (fermata.Answer, fermata.Caller) {
			q.WorkspaceID = "other"
			return a, ann
		},
		"other words": func(q *fermata.Question, a fermata.Answer) (fermata.Answer, fermata.Caller) {
			q.Items[0].Prompt = "Deploy the shop?"
			return a, ann
		},
		"another body": func(q *fermata.Question, a fermata.Answer) (fermata.Answer, fermata.Caller) {
			q.Body = "It is tested."
			return a, ann
		},
		"a later form": func(_ *fermata.Question, a fermata.Answer) (fermata.Answer, fermata.Caller) {
			a.Signed = &fermata.SignedDecision{Decision: a.Signed.Decision + " "}
			return a, ann
		},
		"no decision": func(_ *fermata.Question, a fermata.Answer) (fermata.Answer, fermata.Caller) {
			a.Signed = &fermata.SignedDecision{Decision: "yes"}
			return a, ann
		},
		"an old one": func(q *fermata.Question, _ fermata.Answer) (fermata.Answer, fermata.Caller) {
			return sign(t, q, approveDeploy, ann, later.Add(-fermata.SignatureLifetime-time.Second)), ann
		},
		"one of the future": func(q *fermata.Question, _ fermata.Answer) (fermata.Answer, fermata.Caller) {
			return sign(t, q, approveDeploy, ann, later.Add(fermata.SignatureLifetime+time.Second)), ann
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := criticalQuestion(t, nil)
			a, c := forge(q, sign(t, q, approveDeploy, ann, later))
			wantRefused(t, q, a, c, fermata.CodeInvalidRequest, "signature")
		})
	}
}

func withSignature(a fermata.Answer, s *fermata.SignedDecision) fermata.Answer {
	a.Signed = s
	return a
}

// TestWhereASignatureStays checks that votes, held answers and late answers keep their signature.
func TestWhereASignatureStays(t *testing.T) {
	t.Parallel()
	ann, bob := person("ann"), person("bob")
	two := criticalQuestion(t, func(a *fermata.Ask) { a.Approvals = &fermata.Quorum{Required: 2} })
	applyAnswer(t, two, sign(t, two, approveDeploy, ann, later), ann, fermata.AnswerVotes)
	applyAnswer(t, two, sign(t, two, approveDeploy, bob, later), bob, fermata.AnswerCloses)
	for _, c := range []fermata.Caller{ann, bob} {
		if err := two.CheckSigned(c.MemberID); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
	two.Votes[0].Value = fermata.Reject
	if two.CheckSigned(ann.MemberID) == nil {
		t.Error("a changed vote is not seen")
	}

	held := criticalQuestion(t, func(a *fermata.Ask) { a.Risk = fermata.RiskMedium })
	a := sign(t, held, approveDeploy, ann, later)
	if got, err := held.Hold(a, ann, fermata.DefaultPolicy(), later); err != nil || got != fermata.AnswerHeld {
		t.Fatal(got, err)
	}
	held.Release()
	if err := held.CheckSigned(ann.MemberID); err != nil {
		t.Error(err)
	}

	late := criticalQuestion(t, nil)
	late.Expire(anHourLater)
	wantRefused(t, late, approveDeploy, withPasskey(ann), fermata.CodeNotEligible)
	applyAnswer(t, late, sign(t, late, approveDeploy, ann, later), ann, fermata.AnswerLate)
	if late.Resolution.LateAnswers[0].Signed == nil {
		t.Error("a late answer lost its signature")
	}
}

// TestALateAnswerEditsNothing checks that a late answer cannot edit the action. No action runs after a late answer,
// so the edit would be lost.
func TestALateAnswerEditsNothing(t *testing.T) {
	t.Parallel()
	q, ann := criticalQuestion(t, func(a *fermata.Ask) { a.Risk = fermata.RiskMedium }), person("ann")
	q.Expire(anHourLater)
	edited := approveDeploy
	edited.Action = json.RawMessage(`{"command":"deploy --force"}`)
	wantRefused(t, q, edited, ann, fermata.CodeInvalidRequest, "action")
}

// TestAGrantStandsOnTheSignature checks that a grant can be used only after its signature was checked, if the policy
// requires a signature.
func TestAGrantStandsOnTheSignature(t *testing.T) {
	t.Parallel()
	q, ann := criticalQuestion(t, nil), person("ann")
	applyAnswer(t, q, sign(t, q, approveDeploy, ann, later), ann, fermata.AnswerCloses)
	g, ok := q.Grant()
	if !ok {
		t.Fatal("there is no grant")
	}
	consent := fermata.Consent{
		Question: q, Policy: fermata.DefaultPolicy(),
		Members: map[string]*fermata.Member{ann.MemberID: {ID: ann.MemberID, Handle: "ann", Role: fermata.RoleResponder}},
	}
	wantError(t, g.CheckConsent(consent), fermata.CodeForbidden)
	consent.Signed = map[string]bool{ann.MemberID: true}
	if err := g.CheckConsent(consent); err != nil {
		t.Error(err)
	}
}

// TestTheQuestionOfAReceipt checks that a receipt contains everything that is needed to verify its own signature and
// those of passkeys.
func TestTheQuestionOfAReceipt(t *testing.T) {
	t.Parallel()
	q, ann := criticalQuestion(t, nil), person("ann")
	if _, err := q.Receipt(later); fermata.CodeOf(err) != fermata.CodeIllegalTransition {
		t.Errorf("an open question: %v", err)
	}
	applyAnswer(t, q, sign(t, q, approveDeploy, ann, later), ann, fermata.AnswerCloses)
	r, err := q.Receipt(later)
	if err != nil {
		t.Fatal(err)
	}
	read := throughJSON(t, r)
	if err := read.Question().CheckSigned(ann.MemberID); err != nil {
		t.Error(err)
	}
	if got := read.Question().Signers(); len(got) != 1 || got[0] != ann.MemberID {
		t.Errorf("signed by %q", got)
	}
}
