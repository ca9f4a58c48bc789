package email

import (
	"net/mail"
	"strings"
	"unicode/utf8"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// longestSubject is how many characters a subject has at most. Mail programs
// cut longer ones anyway.
const longestSubject = 120

// compose creates the mail of a notice.
func (c *Channel) compose(n *notice.Notice) (*letter, error) {
	l := &letter{
		To: mail.Address{Name: cleanName(n.To.Name), Address: n.To.Email}, Subject: subject(n),
		MessageID: c.id(n.Delivery), Auto: "auto-generated", Delivery: n.Delivery,
	}
	view := *n
	isWhole := isActionWhole(n)
	if !isWhole {
		// Nobody may decide without seeing the whole action.
		view.Decide, view.Answer = false, ""
	}
	if n.Question != nil {
		c.thread(l, n, isWhole)
	}
	return l, l.render(&view, c.replyTo != "" && view.Decide, c.env.PublicURL)
}

// thread puts the mail into the thread of its question. It writes the secret
// into the headers that a reply repeats.
func (c *Channel) thread(l *letter, n *notice.Notice, whole bool) {
	l.addQuestion(n.Question)
	member := n.To.Member
	if member == "" {
		member = digest(strings.ToLower(n.To.Email))
	}
	l.References = []string{c.id(questionID + n.Question.ID + "." + member)}
	t := formatToken(n.Reply, whole)
	if t != "" {
		l.References = append(l.References, c.id(replyID+t))
	}
	l.InReplyTo = l.References[0]
	if c.replyTo != "" {
		l.ReplyTo = c.replyAddress(t)
	}
}

// composeOutcome creates the short mail that says how a question ended.
func (c *Channel) composeOutcome(n *notice.Notice, ref mailRef) (*letter, error) {
	local := strings.Trim(ref.MessageID, "<>")
	local, _, _ = strings.Cut(local, "@")
	l := &letter{
		To: mail.Address{Name: cleanName(n.To.Name), Address: ref.To}, Subject: "Re: " + ref.Subject,
		MessageID: c.id(local + "." + string(n.Outcome.Status) + "." + formatStamp(n.Outcome.At)),
		InReplyTo: ref.MessageID, References: append(append([]string{}, ref.References...), ref.MessageID),
		Auto: "auto-generated", Delivery: n.Delivery,
	}
	l.addQuestion(n.Question)
	return l, l.renderShort(outcomeText(n), n.Question, n.Open)
}

func outcomeText(n *notice.Notice) string {
	return makeSentence("This question was " + notice.OneLine(n.Outcome.Words))
}

// subject returns one line with the subject of a mail.
func subject(n *notice.Notice) string {
	s := notice.Headline(n)
	if s == "" {
		s = "Fermata"
	}
	return fermata.Truncate(s, longestSubject)
}

// cleanName returns a name in a form that a header can hold.
func cleanName(s string) string { return fermata.Truncate(notice.OneLine(s), 60) }

// makeSentence makes s a sentence, with a capital letter at the beginning and a full stop at the end.
func makeSentence(s string) string {
	if s == "" {
		return s
	}
	first, n := utf8.DecodeRuneInString(s)
	s = strings.ToUpper(string(first)) + s[n:]
	if !strings.ContainsAny(s[len(s)-1:], ".!?") {
		s += "."
	}
	return s
}
