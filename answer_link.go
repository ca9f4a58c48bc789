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
	"sync"
	"time"
)

const (
	// AnswerLinkLifetime is the longest time for which an answer link is valid.
	AnswerLinkLifetime = 14 * 24 * time.Hour
	// MinConfirmDelay is the time that must pass between an answer on the page
	// of a link and its confirmation. Programs that open links do not wait.
	MinConfirmDelay = 2 * time.Second
	// ConfirmLifetime is the time for which the confirmation of an answer is valid.
	ConfirmLifetime = time.Hour
)

// answerLinkPattern matches the address of an answer link in a text, even if the
// text is part of an address itself.
var answerLinkPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`((?i:/|%2f|\\/|\\u002f)a(?i:/|%2f|\\/|\\u002f))[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{24}`)
})

// RemoveAnswerLinks returns the text without the secrets of answer links.
// Anyone who reads a secret can answer in the name of its member.
func RemoveAnswerLinks(text string) string {
	if !strings.Contains(text, ".") {
		return text
	}
	return answerLinkPattern().ReplaceAllString(text, "${1}[removed]")
}

// LinkAnswers is the highest risk that a person may answer by a link without signing in.
type LinkAnswers string

// Settings for answers by a link.
const (
	// LinkAnswersOff allows no answers by a link.
	LinkAnswersOff LinkAnswers = "off"
	// LinkAnswersLow allows answers by a link to questions of low risk. It is the default.
	LinkAnswersLow LinkAnswers = "low"
	// LinkAnswersMedium allows answers by a link to questions of low and medium risk.
	LinkAnswersMedium LinkAnswers = "medium"
)

var linkAnswerSettings = []string{string(LinkAnswersOff), string(LinkAnswersLow), string(LinkAnswersMedium)}

// AnswerLink is the permission for one person to answer one question without
// signing in. A caller with it has the assurance link, and no stronger one.
type AnswerLink struct {
	Workspace, QuestionID, MemberID string
	ExpiresAt                       time.Time
	// Generation counts how often the member's links were revoked. It is signed
	// but not part of the address.
	Generation int64
}

// badAnswerLinkError returns the error for a link that is damaged, that this
// server did not sign, or that was revoked.
func badAnswerLinkError() error {
	return Errorf(CodeNotFound, "the link is not valid: it was not copied whole, or it was revoked").
		WithHint("open the newest message, or sign in")
}

// ReadAnswerLink returns the content of a link. Do not trust it before
// [AnswerLink.CheckSignature] accepts it.
func ReadAnswerLink(token string) (AnswerLink, error) {
	body, _, ok := strings.Cut(token, ".")
	raw, err := base64.RawURLEncoding.DecodeString(body)
	parts := strings.Split(string(raw), " ")
	if !ok || err != nil || len(parts) != 4 || len(token) > 500 {
		return AnswerLink{}, badAnswerLinkError()
	}
	until, err := strconv.ParseInt(parts[3], 36, 64)
	if err != nil {
		return AnswerLink{}, badAnswerLinkError()
	}
	return AnswerLink{Workspace: parts[0], QuestionID: parts[1], MemberID: parts[2], ExpiresAt: time.Unix(until, 0).UTC()}, nil
}

// Sign returns the token that goes into the address of the link. The same link
// always gives the same token.
func (l AnswerLink) Sign(key []byte) string {
	body := strings.Join([]string{l.Workspace, l.QuestionID, l.MemberID, strconv.FormatInt(l.ExpiresAt.Unix(), 36)}, " ")
	return base64.RawURLEncoding.EncodeToString([]byte(body)) + "." + l.computeMAC(key, "link", body)
}

// CheckSignature returns an error unless the key signed exactly this link, with
// its generation.
func (l AnswerLink) CheckSignature(token string, key []byte) error {
	if len(key) == 0 || !hmac.Equal([]byte(l.Sign(key)), []byte(token)) {
		return badAnswerLinkError()
	}
	return nil
}

// FormToken returns the token for a form on the page of the link. It binds the
// form to this link and to the content that the page showed.
func (l AnswerLink) FormToken(key []byte, content string) string {
	return l.computeMAC(key, "form", content)
}

// IsFormToken reports whether a form was sent from the page of this link with this content.
func (l AnswerLink) IsFormToken(form string, key []byte, content string) bool {
	return hmac.Equal([]byte(l.FormToken(key, content)), []byte(form))
}

// ConfirmationToken returns the token for the confirmation of an answer. It binds
// the answer to this link, to the content that the page showed, and to the
// instant now.
func (l AnswerLink) ConfirmationToken(key []byte, content, answer string, now time.Time) string {
	at := strconv.FormatInt(now.UnixMilli(), 36)
	return at + "." + l.computeMAC(key, "confirm "+at, content+"\n"+Digest(answer))
}

// CheckConfirmation returns nil if the confirmation is valid. It returns an error if the
// confirmation is for another answer, comes sooner than [MinConfirmDelay], or
// is older than [ConfirmLifetime].
func (l AnswerLink) CheckConfirmation(token string, key []byte, content, answer string, now time.Time) error {
	millis, _, _ := strings.Cut(token, ".")
	signedMillis, err := strconv.ParseInt(millis, 36, 64)
	if err != nil {
		return notConfirmedError("look at your answer and confirm it")
	}
	at := time.UnixMilli(signedMillis)
	switch age := now.Sub(at); {
	case !hmac.Equal([]byte(l.ConfirmationToken(key, content, answer, at)), []byte(token)):
		return notConfirmedError("look at your answer and confirm it")
	case age < MinConfirmDelay:
		return notConfirmedError("that was quicker than a person reads; wait for the button and press it once more")
	case age > ConfirmLifetime:
		return notConfirmedError("the page was open for too long; confirm your answer once more")
	}
	return nil
}

func notConfirmedError(hint string) error {
	return Errorf(CodeForbidden, "nothing was sent yet").WithHint("%s", hint)
}

// computeMAC signs a text for one use. The same key signs grants, and no signed text
// of a grant begins like this one.
func (l AnswerLink) computeMAC(key []byte, use, text string) string {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "answer %s\n%s\n%s\n%s\n%d\n%s", use, l.Workspace, l.QuestionID, l.MemberID, l.Generation, text)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:18])
}

// CheckLink returns an error if the question may not be answered by a link,
// because of its risk or the policy. It does not check the person.
func (p Policy) CheckLink(q *Question) error {
	maxRisk := p.LinkAnswers
	if maxRisk == "" {
		maxRisk = LinkAnswersLow
	}
	switch {
	case maxRisk == LinkAnswersOff:
		return Errorf(CodeNotEligible, "the policy allows no answers by link").WithHint("sign in and answer there")
	case slices.Index(risks, string(q.Risk)) > slices.Index(risks, string(maxRisk)):
		return Errorf(CodeNotEligible, "the policy allows no answer by link to a question of %s risk", q.Risk).WithHint("sign in and answer there")
	case !AssuranceLink.AtLeast(q.LeastAssurance) && q.LeastAssurance != "":
		return Errorf(CodeNotEligible, "a question of %s risk requires the sign-in %s: a link is not enough", q.Risk, q.LeastAssurance).WithHint("sign in and answer there")
	}
	return nil
}

// CheckMayHoldLink refuses a link for the member who asked. The asker could read the
// link and answer their own question.
func (q *Question) CheckMayHoldLink(m *Member) error {
	if q.AskedBy.Kind == ActorHuman && q.AskedBy.ID == m.ID {
		return Errorf(CodeNotEligible, "the member %s asked this question, so a link does not answer it", m.Handle).
			WithHint("sign in and answer there")
	}
	return nil
}

// LinkCaller returns the member as a caller who answers the question by a link.
func (m *Member) LinkCaller(workspace string, q *Question) Caller {
	c := m.Caller()
	c.WorkspaceID, c.Assurance = workspace, AssuranceLink
	// For a risk above low, the policy has already allowed the link; see
	// [Policy.CheckLink].
	c.WithoutSignIn = q.Risk == RiskLow
	return c
}
