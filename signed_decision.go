package fermata

import (
	"crypto/sha256"
	"encoding/json"
	"time"
)

// SignatureLasts is how long a person may take to sign a decision and to send it, counted from [Question.PrepareDecision].
const SignatureLasts = 10 * time.Minute

// decisionForm begins every decision that a passkey signs, and names the form of the rest.
const decisionForm = "fermata decision 1"

// Decision is what a person decides about a question, in the form that the person's passkey signs. It binds the person, what
// was asked, the action, the answer and the comment to each other: a signature of one decision fits no other.
type Decision struct {
	// Form is always the same text.
	Form        string `json:"form"`
	WorkspaceID string `json:"workspace_id"`
	QuestionID  string `json:"question_id"`
	// AskedHash is that of [Question.AskedHash].
	AskedHash string `json:"asked_hash"`
	// ActionHash is that of the action that was asked for, or of the edited one that the person approves instead.
	ActionHash string         `json:"action_hash,omitempty"`
	Answers    map[string]any `json:"answers"`
	Comment    string         `json:"comment,omitempty"`
	MemberID   string         `json:"member_id"`
	// At is when the server prepared the decision.
	At time.Time `json:"at"`
}

// Text returns the JSON of the decision: the bytes that are signed.
func (d Decision) Text() string {
	text, err := json.Marshal(d)
	if err != nil {
		// Answers are texts, numbers and lists of texts.
		panic("fermata: write a decision: " + err.Error())
	}
	return string(text)
}

// SignedDecision is a decision with the signature of the person's passkey. It stays with the vote or the resolution. Nobody
// who reads or writes the database, and not the server, can make one without the passkey.
type SignedDecision struct {
	// Decision is the text of a [Decision].
	Decision  string `json:"decision" doc:"the exact text whose SHA-256 is the challenge"`
	PasskeyID string `json:"passkey_id"`
	// RelyingParty is the host name for which the passkey was made.
	RelyingParty string `json:"rp_id"`
	// Credential is what the browser gave: a PublicKeyCredential with an AuthenticatorAssertionResponse (WebAuthn Level 3,
	// 5.1 and 5.2.2) in the form of toJSON.
	Credential json.RawMessage `json:"credential"`
}

// AnswerSignature is what a browser sends of a signed decision.
type AnswerSignature struct {
	Decision   string          `json:"decision" minLength:"1" maxLength:"100000" doc:"the decision as the server prepared it, byte for byte"`
	Credential json.RawMessage `json:"credential" doc:"what navigator.credentials.get gave, in the form of PublicKeyCredential.toJSON"`
}

// knownBy returns the caller as strongly known as the signature of the answer shows.
func (a *Answer) knownBy(c Caller) Caller {
	if a.Signed != nil {
		c.Assurance = AssurancePasskey
	}
	return c
}

// Challenge returns the bytes that the passkey signs as the challenge of WebAuthn: the SHA-256 of the decision.
func (s *SignedDecision) Challenge() []byte {
	sum := sha256.Sum256([]byte(s.Decision))
	return sum[:]
}

// AskedHash returns the SHA-256, in hex, of the words of the question: title, body, and for each item its key, prompt,
// header and options.
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
		// There are only texts in it.
		panic("fermata: write what a question asks: " + err.Error())
	}
	return hashBytes(text)
}

// MustBeSigned reports whether an answer to the question must be signed with a passkey.
func (q *Question) MustBeSigned() bool { return q.leastAssurance(false) == AssurancePasskey }

// PrepareDecision returns what the caller's passkey signs to give the answer. It refuses what [Question.Settle] would refuse.
// Now becomes the time of the decision.
func (q *Question) PrepareDecision(a Answer, c Caller, now time.Time) (Decision, error) {
	if q.Status == Answered || q.Status == Cancelled {
		return Decision{}, q.ClosedError()
	}
	// The signature will show that the person has a passkey.
	c.Assurance = AssurancePasskey
	r, err := q.unsigned(a, c, now)
	if err != nil {
		return Decision{}, err
	}
	return q.decision(&r, c.MemberID, now), nil
}

// decision returns what the member decides by a resolution.
func (q *Question) decision(r *Resolution, memberID string, at time.Time) Decision {
	return Decision{
		Form: decisionForm, WorkspaceID: q.WorkspaceID, QuestionID: q.ID, AskedHash: q.AskedHash(), ActionHash: r.ActionHashOr(q.ActionHash),
		Answers: r.Answers, Comment: r.Comment, MemberID: memberID, At: at.UTC(),
	}
}

// checkSignature refuses an answer that must be signed and is not, and one whose signature is for something else. The caller
// of [Question.Settle] has checked that the passkey signed the text.
func (q *Question) checkSignature(a *Answer, r *Resolution, c Caller, now time.Time) error {
	if r.Signed == nil {
		switch {
		case a.Signature != nil:
			return Invalid(Problem{Field: "signature", Message: "cannot be checked here: passkeys work in the browser only"})
		case !q.MustBeSigned():
			return nil
		}
		return Errorf(CodeNotEligible, "an answer to this question is signed with a passkey").
			WithHint("open the question in a browser and answer it there")
	}
	d, ok := q.matches(r.Signed, r, c.MemberID)
	if !ok {
		return Invalid(Problem{Field: "signature", Message: "is for another decision than this answer"}).WithHint("sign the answer again")
	}
	if age := now.Sub(d.At); age > SignatureLasts || age < -SignatureLasts {
		return Invalid(Problem{Field: "signature", Message: "is too old"}).WithHint("sign the answer again")
	}
	return nil
}

// SignedBy returns the decision that the member signed, or nil.
func (q *Question) SignedBy(memberID string) *SignedDecision {
	signed, _ := q.answerOf(memberID)
	return signed
}

// answerOf returns what the member answered and signed: the vote, or the answer that closed the question.
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

// CheckSigned refuses an answer that the member did not sign, and a signed decision that says something else than the
// question records. It does not check the signature itself.
func (q *Question) CheckSigned(memberID string) error {
	signed, r := q.answerOf(memberID)
	if signed == nil {
		return Errorf(CodeForbidden, "the answer was not signed with a passkey")
	}
	if _, ok := q.matches(signed, r, memberID); !ok {
		return Errorf(CodeForbidden, "the signature is for another decision than the one that is on record")
	}
	return nil
}

// matches reports whether a signed decision says what the resolution says, and returns it.
func (q *Question) matches(s *SignedDecision, r *Resolution, memberID string) (d Decision, ok bool) {
	err := json.Unmarshal([]byte(s.Decision), &d)
	return d, err == nil && s.Decision == q.decision(r, memberID, d.At).Text()
}
