package email

import (
	"context"
	"net/mail"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"github.com/fermata-hq/fermata/internal/notice"
)

// A person is told at most so often what became of replies, so that no two
// machines write to each other for ever.
const (
	tellBurst = 10
	tellEvery = 6 * time.Minute
	tellsKept = 10_000
)

// tell mails a person what became of a reply. The same reply makes the same
// Message-ID.
func (c *Channel) tell(ctx context.Context, r *reply, v notice.Verdict) error {
	if v.Words == "" {
		return nil
	}
	if !c.mayTell(r.from.Address) {
		c.log.WarnContext(ctx, "a person was not told what became of a reply: too many mails")
		return nil
	}
	l, err := c.writeVerdict(r, v)
	if err != nil {
		return err
	}
	msg, err := l.message(c.config)
	if err != nil {
		// An address that cannot be written to stays so.
		c.log.WarnContext(ctx, "a reply came from an address that cannot be written to", "error", err)
		return nil
	}
	err = c.smtp.send(ctx, msg)
	if isPermanent(err) {
		c.log.WarnContext(ctx, "a person could not be told what became of a reply", "error", err)
		return nil
	}
	return err
}

func (c *Channel) writeVerdict(r *reply, v notice.Verdict) (*letter, error) {
	subject, err := r.header.Subject()
	if err != nil || subject == "" {
		subject = "Your reply"
	}
	if !strings.HasPrefix(strings.ToLower(subject), "re:") {
		subject = "Re: " + subject
	}
	l := &letter{
		To: mail.Address{Address: r.from.Address}, Subject: cut(notice.OneLine(subject), longestSubject),
		Auto: "auto-replied", Delivery: r.delivery,
	}
	id, _ := r.header.MessageID()
	l.MessageID = c.id(toldID + digest(r.from.Address+" "+id+" "+r.token))
	if id != "" {
		l.InReplyTo = "<" + id + ">"
	}
	for _, ref := range []string{r.header.Get("References"), l.InReplyTo} {
		l.References = append(l.References, strings.Fields(ref)...)
	}
	if len(l.References) > longestThread {
		l.References = l.References[len(l.References)-longestThread:]
	}
	if !v.Counted && c.replyTo != "" {
		// It can be said again.
		secret, whole := cutOpenOnly(r.token)
		l.ReplyTo = c.replyAddress(token(secret, whole))
	}
	l.about(v.Question)
	open := ""
	if v.Question != nil && c.env.PublicURL != "" {
		open = strings.TrimRight(c.env.PublicURL, "/") + "/questions/" + v.Question.ID
	}
	return l, l.renderShort(v.Words, v.Question, open)
}

// longestThread is how many ids References holds.
const longestThread = 20

func (c *Channel) mayTell(address string) bool {
	bucket, ok := c.told[address]
	if !ok {
		if len(c.told) >= tellsKept {
			clear(c.told)
		}
		bucket = rate.NewLimiter(rate.Every(tellEvery), tellBurst)
		c.told[address] = bucket
	}
	return bucket.Allow()
}
