package fermata

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// AnswerLinkLasts is for how long at most somebody answers by a link.
	AnswerLinkLasts = 14 * 24 * time.Hour
	// AnswerLinkPause is how long the page of a link waits between the answer
	// and its confirmation. Programs that open links do not wait.
	AnswerLinkPause = 2 * time.Second
	// AnswerLinkConfirm is how long a confirmation of an answer is good for.
	AnswerLinkConfirm = time.Hour
)

// answerLinkInText finds the address of a link in a text, also where the text
// stands in an address itself.
var answerLinkInText = regexp.MustCompile(`((?i:/|%2f|\\/|\\u002f)a(?i:/|%2f|\\/|\\u002f))[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{24}`)

// WithoutAnswerLinks returns the text without the secrets of answer links:
// whoever reads a secret can answer in the name of its member.
func WithoutAnswerLinks(text string) string {
	if !strings.Contains(text, ".") {
		return text
	}
	return answerLinkInText.ReplaceAllString(text, "${1}[removed]")
}

// LinkAnswers says what may be answered by a link that was sent to a person,
// without signing in.
type LinkAnswers string

// What may be answered by a link.
const (
	// LinkAnswersOff lets nothing be answered so.
	LinkAnswersOff LinkAnswers = "off"
	// LinkAnswersLow lets questions of low risk be answered so. It is the
	// default.
	LinkAnswersLow LinkAnswers = "low"
	// LinkAnswersMedium lets those of medium risk be answered so, too.
	LinkAnswersMedium LinkAnswers = "medium"
)

var linkAnswers = []string{string(LinkAnswersOff), string(LinkAnswersLow), string(LinkAnswersMedium)}

// AnswerLink lets one person answer one question without signing in. Whoever
// has it is known as a link holder, and no better.
type AnswerLink struct {
	Workspace, QuestionID, MemberID string
	ExpiresAt                       time.Time
	// Generation is how often the member's links were revoked. It is signed and
	// not written.
	Generation int64
}

// errBadAnswerLink is for an address that was not made here, or was revoked.
func errBadAnswerLink() error {
	return Errorf(CodeNotFound, "the link is not good: it was not copied whole, or it was revoked").
		WithHint("open the newest message, or sign in")
}

// ReadAnswerLink returns what a link says. It is not to be believed before it
// is [AnswerLink.CheckSignature].
func ReadAnswerLink(token string) (AnswerLink, error) {
	body, _, ok := strings.Cut(token, ".")
	raw, err := base64.RawURLEncoding.DecodeString(body)
	parts := strings.Split(string(raw), " ")
	if !ok || err != nil || len(parts) != 4 || len(token) > 500 {
		return AnswerLink{}, errBadAnswerLink()
	}
	until, err := strconv.ParseInt(parts[3], 36, 64)
	if err != nil {
		return AnswerLink{}, errBadAnswerLink()
	}
	return AnswerLink{Workspace: parts[0], QuestionID: parts[1], MemberID: parts[2], ExpiresAt: time.Unix(until, 0).UTC()}, nil
}

// Sign returns the link as it stands in an address. The same link is written
// in the same way each time.
func (l AnswerLink) Sign(key []byte) string {
	body := strings.Join([]string{l.Workspace, l.QuestionID, l.MemberID, strconv.FormatInt(l.ExpiresAt.Unix(), 36)}, " ")
	return base64.RawURLEncoding.EncodeToString([]byte(body)) + "." + l.seal(key, "link", body)
}

// CheckSignature reports whether the key signed the link as it is, with its
// generation.
func (l AnswerLink) CheckSignature(token string, key []byte) error {
	if len(key) == 0 || !hmac.Equal([]byte(l.Sign(key)), []byte(token)) {
		return errBadAnswerLink()
	}
	return nil
}

// Form returns what a form of the link's page carries: it binds what is sent
// to this link and to the action that was shown.
func (l AnswerLink) Form(key []byte, shown string) string { return l.seal(key, "form", shown) }

// SentFrom reports whether a form came from the page of this link.
func (l AnswerLink) SentFrom(form string, key []byte, shown string) bool {
	return hmac.Equal([]byte(l.Form(key, shown)), []byte(form))
}

// ConfirmLater returns what the confirmation of an answer carries. It binds
// the answer to this link, to what was shown, and to the instant.
func (l AnswerLink) ConfirmLater(key []byte, shown, answer string, now time.Time) string {
	at := strconv.FormatInt(now.UnixMilli(), 36)
	return at + "." + l.seal(key, "confirm "+at, shown+"\n"+Digest(answer))
}

// Confirms reports why a confirmation does not count: it is of another answer,
// it comes sooner than a person reads, or it is old.
func (l AnswerLink) Confirms(token string, key []byte, shown, answer string, now time.Time) error {
	millis, _, _ := strings.Cut(token, ".")
	from, err := strconv.ParseInt(millis, 36, 64)
	if err != nil {
		return errNotConfirmed("look at your answer and confirm it")
	}
	at := time.UnixMilli(from)
	switch age := now.Sub(at); {
	case !hmac.Equal([]byte(l.ConfirmLater(key, shown, answer, at)), []byte(token)):
		return errNotConfirmed("look at your answer and confirm it")
	case age < AnswerLinkPause:
		return errNotConfirmed("that was quicker than a person reads; wait for the button and press it once more")
	case age > AnswerLinkConfirm:
		return errNotConfirmed("the page was open for too long; confirm your answer once more")
	}
	return nil
}

func errNotConfirmed(what string) error {
	return Errorf(CodeForbidden, "nothing was sent yet").WithHint("%s", what)
}

// seal signs a text for one use. No grant begins like this, which the same key
// signs.
func (l AnswerLink) seal(key []byte, use, text string) string {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "answer %s\n%s\n%s\n%s\n%d\n%s", use, l.Workspace, l.QuestionID, l.MemberID, l.Generation, text)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:18])
}

// CheckLink reports why the question is not answered by a link: its risk, or
// the policy. It says nothing of the person.
func (p Policy) CheckLink(q *Question) error {
	most := p.LinkAnswers
	if most == "" {
		most = LinkAnswersLow
	}
	switch {
	case most == LinkAnswersOff:
		return Errorf(CodeNotEligible, "nothing is answered by a link here").WithHint("sign in and answer there")
	case slices.Index(risks, string(q.Risk)) > slices.Index(risks, string(most)):
		return Errorf(CodeNotEligible, "a question of %s risk is not answered by a link", q.Risk).WithHint("sign in and answer there")
	case !AssuranceLink.AtLeast(q.LeastAssurance) && q.LeastAssurance != "":
		return Errorf(CodeNotEligible, "a question of %s risk needs %s, a link is not enough", q.Risk, q.LeastAssurance).WithHint("sign in and answer there")
	}
	return nil
}

// MayHoldLink refuses a link to the member who asked: the asker would read it
// and answer the own question.
func (q *Question) MayHoldLink(m *Member) error {
	if q.AskedBy.Kind == ActorHuman && q.AskedBy.ID == m.ID {
		return Errorf(CodeNotEligible, "the member %s asked this question, so a link does not answer it", m.Handle).
			WithHint("sign in and answer there")
	}
	return nil
}

// ByLink returns the member as one who answers the question by a link.
func (m *Member) ByLink(workspace string, q *Question) Caller {
	c := m.Caller()
	c.WorkspaceID, c.Assurance = workspace, AssuranceLink
	// The policy has opened what is beyond a low risk: [Policy.CheckLink].
	c.Outside = q.Risk == RiskLow
	return c
}

// PicksDanger reports whether one of the answers picks an option that is
// marked as dangerous.
func (q *Question) PicksDanger(answers map[string]any) bool { return q.picksDanger(answers) }
