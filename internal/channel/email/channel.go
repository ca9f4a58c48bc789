package email

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"golang.org/x/time/rate"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// Channel sends mails and reads the replies.
type Channel struct {
	*config
	env notice.Env
	log *slog.Logger
	// tellLimiters limits the mails about replies, per person. toldEnds holds
	// the keys of the ends that people were told about (see [Channel.endKey]).
	// Only Listen uses them.
	tellLimiters map[string]*rate.Limiter
	toldEnds     map[string]bool
	now          func() time.Time
}

// Open creates a channel from its settings. It connects to nothing.
func Open(raw json.RawMessage, env notice.Env) (*Channel, error) {
	c, err := readSettings(raw)
	if err != nil {
		return nil, err
	}
	log := env.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Channel{config: c, env: env, log: log, tellLimiters: map[string]*rate.Limiter{}, toldEnds: map[string]bool{}, now: time.Now}, nil
}

// mailRef is the data by which the channel finds a mail later.
type mailRef struct {
	MessageID  string   `json:"message_id"`
	References []string `json:"references,omitempty"`
	Subject    string   `json:"subject"`
	To         string   `json:"to"`
	// Ended identifies the end that the person was told about.
	Ended string `json:"ended,omitempty"`
}

// Send sends the mail of a notice. A repeated mail is identical and has the
// same Message-ID.
func (c *Channel) Send(ctx context.Context, n *notice.Notice) (notice.SentMessage, error) {
	if n.To.Email == "" {
		return notice.SentMessage{}, notice.Permanent(fermata.Errorf(fermata.CodeInvalidRequest, "%s has no mail address", n.To.Handle).
			WithHint("an admin sets one at the member"))
	}
	l, err := c.compose(n)
	if err != nil {
		return notice.SentMessage{}, err
	}
	return c.deliver(ctx, l)
}

// Update sends a short mail into the same thread when the question has ended,
// because a sent mail cannot be changed. It sends nothing to a person who
// answered by mail, because the confirmation has told that person. It also
// sends nothing if before says that a mail about this end was sent.
func (c *Channel) Update(ctx context.Context, n *notice.Notice, before notice.SentMessage) (notice.SentMessage, error) {
	if n.Outcome == nil {
		return before, nil
	}
	var ref mailRef
	if err := json.Unmarshal(before.Ref, &ref); err != nil {
		return before, notice.Permanent(fermata.Internal("read where a mail went", err))
	}
	ended := string(n.Outcome.Status) + "." + formatStamp(n.Outcome.At)
	if ref.Ended == ended || answeredByMail(n) {
		return before, nil
	}
	l, err := c.composeOutcome(n, ref)
	if err != nil {
		return before, err
	}
	if _, err := c.deliver(ctx, l); err != nil {
		return before, err
	}
	ref.Ended = ended
	after := before
	if after.Ref, err = json.Marshal(ref); err != nil {
		return before, err
	}
	after.Content = l.content()
	return after, nil
}

// answeredByMail reports whether the recipient closed the question by a reply.
func answeredByMail(n *notice.Notice) bool {
	if n.Question == nil || n.Question.Resolution == nil {
		return false
	}
	r := n.Question.Resolution
	return r.AnsweredBy != nil && r.AnsweredBy.ID != "" && r.AnsweredBy.ID == n.To.Member && r.Channel == Kind
}

// deliver stores the words of a letter, and sends it over the mail server.
func (c *Channel) deliver(ctx context.Context, l *letter) (notice.SentMessage, error) {
	msg, err := l.message(c.config)
	if err != nil {
		return notice.SentMessage{}, notice.Permanent(err)
	}
	if err := c.storeWords(ctx, l); err != nil {
		return notice.SentMessage{}, err
	}
	if err := c.smtp.send(ctx, msg); err != nil {
		return notice.SentMessage{}, err
	}
	ref, err := json.Marshal(mailRef{MessageID: l.MessageID, References: l.References, Subject: l.Subject, To: l.To.Address})
	return notice.SentMessage{Ref: ref, Content: l.content()}, err
}
