package email

import (
	"context"
	"fmt"
	"net/mail"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// Mails about single replies are limited for each person, so that two machines
// do not write to each other forever. Messages beyond the limit become pending,
// and are sent later in one mail.
const (
	tellBurst      = 10
	tellInterval   = 6 * time.Minute
	maxTellEntries = 10_000
)

// tellSender mails a person what became of a reply. If the person has reached the
// limit, the message becomes pending. The mail about the same reply always has
// the same Message-ID.
func (c *Channel) tellSender(ctx context.Context, r *reply, v notice.Verdict, pos *mailboxPosition) error {
	if v.Words == "" {
		return nil
	}
	end := c.endKey(r, v)
	left, allowed := tellBurst, true
	if end == "" {
		left, allowed = c.allowTell(r.from.Address)
	}
	if !allowed {
		pos.addPending(c.newPendingMessage(r, v))
		return nil
	}
	if left == 0 {
		v.Words += "\n\n" + limitWords()
	}
	l, err := c.composeVerdict(r, v)
	if err != nil {
		return err
	}
	if err := c.sendLetter(ctx, l); err != nil {
		return err
	}
	if end != "" {
		c.toldEnds[end] = true
	}
	return nil
}

// limitWords returns the text that announces the limit. The last mail before
// the limit contains it.
func limitWords() string {
	return fmt.Sprintf("For now, this is the last mail about a single reply of yours. Fermata collects what becomes of your next replies and mails it "+
		"every %d minutes. An answer that counts is still confirmed at once, and so is the end of a question.", int(tellInterval.Minutes()))
}

// endKey returns a key for the end that a verdict reports: the reply counted,
// or the question is closed. The first mail to a person about an end does not
// count against the limit. A question has few ends, so two machines cannot use
// this forever. The key is empty for any other verdict, and for an end that the
// person was told about before.
func (c *Channel) endKey(r *reply, v notice.Verdict) string {
	if v.Question == nil || !v.Counted && v.Code != fermata.CodeQuestionClosed {
		return ""
	}
	end := fmt.Sprintf("%s %s %t %s", r.from.Address, v.Question.ID, v.Counted, v.Question.Status)
	if len(c.toldEnds) >= maxTellEntries {
		clear(c.toldEnds)
	}
	if c.toldEnds[end] {
		return ""
	}
	return end
}

// sendLetter sends a mail about replies. If the server refuses it for good, sendLetter logs
// that and returns nil.
func (c *Channel) sendLetter(ctx context.Context, l *letter) error {
	msg, err := l.message(c.config)
	if err != nil {
		// A bad address stays bad, so no retry helps.
		c.log.WarnContext(ctx, "a reply came from an address that cannot be written to", "error", err)
		return nil
	}
	if err := c.storeWords(ctx, l); err != nil {
		return err
	}
	err = c.smtp.send(ctx, msg)
	if isPermanent(err) {
		c.log.WarnContext(ctx, "a person could not be told what became of a reply", "error", err)
		return nil
	}
	return err
}

func (c *Channel) composeVerdict(r *reply, v notice.Verdict) (*letter, error) {
	l := c.newResponse(r)
	if !v.Counted && c.replyTo != "" {
		// The person can answer again.
		secret, whole := cutOpenOnly(r.token)
		l.ReplyTo = c.replyAddress(formatToken(secret, whole))
	}
	l.addQuestion(v.Question)
	return l, l.renderShort(v.Words, v.Question, c.pageURL(v.Question))
}

// pageURL returns the address of a question's page, or "" if there is none.
func (c *Channel) pageURL(q *fermata.Question) string {
	if q == nil || c.env.PublicURL == "" {
		return ""
	}
	return strings.TrimRight(c.env.PublicURL, "/") + "/questions/" + q.ID
}

// newResponse begins a mail in answer to a reply.
func (c *Channel) newResponse(r *reply) *letter {
	l := &letter{
		To: mail.Address{Address: r.from.Address}, Subject: r.responseSubject(), Auto: "auto-replied", Delivery: r.delivery,
	}
	id, _ := r.header.MessageID()
	l.MessageID = c.id(responseID + digest(r.from.Address+" "+id+" "+r.token))
	if id != "" {
		l.InReplyTo = "<" + id + ">"
	}
	for _, ref := range []string{r.header.Get("References"), l.InReplyTo} {
		l.References = append(l.References, strings.Fields(ref)...)
	}
	if len(l.References) > longestThread {
		l.References = l.References[len(l.References)-longestThread:]
	}
	return l
}

// responseSubject returns the subject of a mail in answer to the reply.
func (r *reply) responseSubject() string {
	subject, err := r.header.Subject()
	if err != nil || subject == "" {
		subject = "Your reply"
	}
	if !strings.HasPrefix(strings.ToLower(subject), "re:") {
		subject = "Re: " + subject
	}
	return fermata.Truncate(notice.OneLine(subject), longestSubject)
}

// longestThread is how many ids References holds.
const longestThread = 20

// allowTell reports whether a person may be mailed now, and counts the mail
// against the limit. remaining is how many mails remain after it.
func (c *Channel) allowTell(address string) (remaining int, allowed bool) {
	bucket, ok := c.tellLimiters[address]
	if !ok {
		if len(c.tellLimiters) >= maxTellEntries {
			clear(c.tellLimiters)
		}
		bucket = rate.NewLimiter(rate.Every(tellInterval), tellBurst)
		c.tellLimiters[address] = bucket
	}
	allowed = bucket.AllowN(c.now(), 1)
	return int(bucket.TokensAt(c.now())), allowed
}
