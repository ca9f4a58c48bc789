package fermata

import (
	"crypto/sha256"
	"encoding/json"
	"time"
)

// SignatureLifetime is the time for signing and sending a decision, counted from [Question.PrepareDecision].
const SignatureLifetime = 10 * time.Minute

// decisionForm is the first field of every decision that a passkey signs. It names the form of the decision.
const decisionForm = "fermata decision 1"

// Decision is a person's decision about a question, in the form that the person's passkey signs. It binds the person,
// the question's words, the action, the answer and the comment to each other. So a signature of one decision is not
// valid for another.
type Decision struct {
	// Form is always the same text.
	Form        string `json:"form"`
	WorkspaceID string `json:"workspace_id"`
	QuestionID  string `json:"question_id"`
	// AskedHash is the [Question.AskedHash].
	AskedHash string `json:"asked_hash"`
	// ActionHash is the hash of the action in the question, or of the edited action that the person approves instead.
	ActionHash string         `json:"action_hash,omitempty"`
	Answers    map[string]any `json:"answers"`
	Comment    string         `json:"comment,omitempty"`
	MemberID   string         `json:"member_id"`
	// At is the instant at which the server prepared the decision.
	At time.Time `json:"at"`
}

// Text returns the JSON of the decision, which is the text that is signed.
func (d Decision) Text() string {
	text, err := json.Marshal(d)
	if err != nil {
		// This cannot happen, because answers are texts, numbers, booleans and lists of texts.
		panic("fermata: write a decision: " + err.Error())
	}
	return string(text)
}

// SignedDecision is a decision with the signature of the person's passkey. It stays with the vote or the resolution.
// Without the passkey, neither the server nor a person who reads or writes the database can create one.
type SignedDecision struct {
	// Decision is the text of a [Decision].
	Decision  string `json:"decision" doc:"the exact text whose SHA-256 is the challenge"`
	PasskeyID string `json:"passkey_id"`
	// RelyingParty is the host name for which the passkey was created.
	RelyingParty string `json:"rp_id"`
	// Credential comes from the browser. It is a PublicKeyCredential with an AuthenticatorAssertionResponse (WebAuthn
	// Level 3, 5.1 and 5.2.2), in the form of toJSON.
	Credential json.RawMessage `json:"credential"`
}

// AnswerSignature is the part of a signed decision that a browser sends.
type AnswerSignature struct {
	Decision   string          `json:"decision" minLength:"1" maxLength:"100000" doc:"the decision as the server prepared it, byte for byte"`
	Credential json.RawMessage `json:"credential" doc:"what navigator.credentials.get gave, in the form of PublicKeyCredential.toJSON"`
}

// withSignedAssurance returns the caller with the assurance that the signature of the answer proves.
func (a *Answer) withSignedAssurance(c Caller) Caller {
	if a.Signed != nil {
		c.Assurance = AssurancePasskey
	}
	return c
}

// Challenge returns the WebAuthn challenge that the passkey signs: the SHA-256 of the decision.
func (s *SignedDecision) Challenge() []byte {
	sum := sha256.Sum256([]byte(s.Decision))
	return sum[:]
}

// AskedHash returns the SHA-256, in hex, of the question's words: the title, the body, and for each item its key,
// prompt, header and options.
func (q *Question) AskedHash() string {
	type option struct {
		Value, Label, Description string
	}
	type item struct {
		Key, Prompt, Header string
		Options             []option
	}
	asked := struct {
		Title, Body string
		Items       []item
	}{Title: q.Title, Body: q.Body}
	for _, it := range q.Items {
		words := item{Key: it.Key, Prompt: it.Prompt, Header: it.Header}
		for _, o := range it.Options {
			words.Options = append(words.Options, option{o.Value, o.Label, o.Description})
		}
		asked.Items = append(asked.Items, words)
	}
	text, err := json.Marshal(asked)
	if err != nil {
		// This cannot happen, because there are only texts.
		panic("fermata: write what a question asks: " + err.Error())
	}
	return hashBytes(text)
}

// MustBeSigned reports whether an answer to the question must be signed with a passkey.
func (q *Question) MustBeSigned() bool { return q.requiredAssurance(false) == AssurancePasskey }

// PrepareDecision returns the decision that the caller's passkey must sign to give the answer. It refuses an answer
// that is not valid, or that the caller may not give. The instant now becomes the time of the decision.
func (q *Question) PrepareDecision(a Answer, c Caller, now time.Time) (Decision, error) {
	if q.Status == Answered || q.Status == Cancelled {
		return Decision{}, q.ClosedError()
	}
	// The signature will prove that the person has a passkey.
	c.Assurance = AssurancePasskey
	r, err := q.resolveUnsigned(a, c, now)
	if err != nil {
		return Decision{}, err
	}
	return q.decision(&r, c.MemberID, now), nil
}

// decision returns the member's decision for a resolution.
func (q *Question) decision(r *Resolution, memberID string, at time.Time) Decision {
	return Decision{
		Form: decisionForm, WorkspaceID: q.WorkspaceID, QuestionID: q.ID, AskedHash: q.AskedHash(), ActionHash: r.ActionHashOr(q.ActionHash),
		Answers: r.Answers, Comment: r.Comment, MemberID: memberID, At: at.UTC(),
	}
}

// checkSignature refuses an answer without a required signature, and an answer whose signature is for another
// decision. The caller of [Question.ApplyAnswer] must have checked that the passkey signed the text.
func (q *Question) checkSignature(a *Answer, r *Resolution, c Caller, now time.Time) error {
	if r.Signed == nil {
		switch {
		case a.Signature != nil:
			return Invalid(Problem{Field: "signature", Message: "cannot be checked here: passkeys work in the browser only"})
		case !q.MustBeSigned():
			return nil
		}
		return Errorf(CodeNotEligible, "an answer to this question must be signed with a passkey").
			WithHint("open the question in a browser and answer it there")
	}
	d, ok := q.matchDecision(r.Signed, r, c.MemberID)
	if !ok {
		return Invalid(Problem{Field: "signature", Message: "is for another decision than this answer"}).WithHint("sign the answer again")
	}
	if age := now.Sub(d.At); age > SignatureLifetime || age < -SignatureLifetime {
		return Invalid(Problem{Field: "signature", Message: "is too old"}).WithHint("sign the answer again")
	}
	return nil
}

// SignedDecisionOf returns the decision that the member signed, or nil.
func (q *Question) SignedDecisionOf(memberID string) *SignedDecision {
	signed, _ := q.answerOf(memberID)
	return signed
}

// answerOf returns the member's signed decision and answer. The answer is the member's vote, or the answer that
// closed the question.
func (q *Question) answerOf(memberID string) (*SignedDecision, *Resolution) {
	for _, v := range q.Votes {
		if v.By.ID == memberID {
			return v.Signed, &Resolution{Answers: map[string]any{q.Items[0].Key: v.Value}, Comment: v.Comment}
		}
	}
	if r := q.Resolution; r != nil && r.AnsweredBy != nil && r.AnsweredBy.ID == memberID {
		return r.Signed, r
	}
	return nil, nil
}

// CheckSigned returns an error if the member did not sign the answer, or if the signed decision differs from the
// record of the question. It does not check the signature itself.
func (q *Question) CheckSigned(memberID string) error {
	signed, r := q.answerOf(memberID)
	if signed == nil {
		return Errorf(CodeForbidden, "the answer was not signed with a passkey")
	}
	if _, ok := q.matchDecision(signed, r, memberID); !ok {
		return Errorf(CodeForbidden, "the signature is for another decision than the one that is on record")
	}
	return nil
}

// matchDecision reports whether a signed decision agrees with the resolution, and returns the decision.
func (q *Question) matchDecision(s *SignedDecision, r *Resolution, memberID string) (d Decision, ok bool) {
	err := json.Unmarshal([]byte(s.Decision), &d)
	return d, err == nil && s.Decision == q.decision(r, memberID, d.At).Text()
}
