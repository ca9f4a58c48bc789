package email

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/fermata-hq/fermata/internal/notice"
)

// Listen pauses before it connects again to a mailbox that it could not read. The pause doubles from minReconnectDelay
// to maxReconnectDelay, and each pause is randomized.
const (
	minReconnectDelay = time.Second
	maxReconnectDelay = 5 * time.Minute
)

// Listen reads replies until ctx ends. It connects again as often as needed.
func (c *Channel) Listen(ctx context.Context, hear notice.InboundHandler) error {
	if c.imap == nil {
		<-ctx.Done()
		return nil
	}
	if !c.Vouches() {
		c.log.WarnContext(ctx, "replies by mail decide questions of low risk only, because no mail server vouches for who wrote them",
			"remedy", "name it: --mail-authserv-id, or authserv_id of the channel")
	}
	waits := backoff.NewExponentialBackOff()
	waits.InitialInterval, waits.MaxInterval, waits.Multiplier = minReconnectDelay, maxReconnectDelay, 2
	for {
		began := time.Now()
		err := c.listenOnce(ctx, hear)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // an error after the end of ctx is expected
		}
		if time.Since(began) > maxReconnectDelay {
			waits.Reset()
		}
		delay := waits.NextBackOff()
		c.log.WarnContext(ctx, "the mailbox of the channel cannot be read, trying again", "in", delay, "error", err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(delay):
		}
	}
}

// listenOnce reads replies over one connection.
func (c *Channel) listenOnce(ctx context.Context, hear notice.InboundHandler) error {
	box, err := c.openMailbox(ctx)
	if err != nil {
		return err
	}
	defer box.close()
	for {
		pos, err := c.readNewMails(ctx, box, hear)
		if err != nil {
			return err
		}
		wait := c.poll
		if box.supportsIdle && len(pos.Retry) == 0 {
			wait = idleTimeout
		}
		if err := box.wait(ctx, pos.waitTime(wait)); err != nil {
			return err
		}
	}
}

// readNewMails reads the mails that came since the last call, and returns the new position in the mailbox.
func (c *Channel) readNewMails(ctx context.Context, box *mailbox, hear notice.InboundHandler) (*mailboxPosition, error) {
	pos, err := c.loadPosition(ctx, box.validity)
	if err != nil {
		return nil, err
	}
	uids, err := box.find(pos)
	if err != nil {
		return nil, err
	}
	if pos.isNew {
		uids = pos.start(uids, box.next)
		if err := c.storePosition(ctx, pos); err != nil {
			return nil, err
		}
	}
	for start := 0; start < len(uids); start += fetchBatchSize {
		mails, err := box.headers(uids[start:min(start+fetchBatchSize, len(uids))])
		if err != nil {
			return nil, err
		}
		for _, m := range mails {
			done, err := c.processMail(ctx, box, m, pos, hear)
			if err != nil {
				return nil, err
			}
			pos.advance(m.uid, done)
		}
		if err := c.storePosition(ctx, pos); err != nil {
			return nil, err
		}
	}
	return pos, c.sendPending(ctx, pos)
}

// processMail processes one mail. done is false if the mail must be processed again.
func (c *Channel) processMail(ctx context.Context, box *mailbox, m incomingMail, pos *mailboxPosition, hear notice.InboundHandler) (done bool, err error) {
	r, err := c.readHeader(m.header)
	if err != nil || !r.isOurs() {
		// The mailbox may have other uses, so mails that are not ours stay unchanged.
		return true, nil //nolint:nilerr // a mail that cannot be read is no reply to Fermata
	}
	log := c.log.With("message", r.id(m.header), "delivery", r.delivery)
	if why := r.automaticReason(); why != "" {
		log.InfoContext(ctx, "a mail was not read as an answer", "because", "it is "+why)
		return true, c.fileMail(box, m)
	}
	if pos.hasSeen(r.id(m.header)) {
		return true, c.fileMail(box, m)
	}
	text, err := box.text(m.uid)
	if err != nil {
		return false, err
	}
	sent, err := c.sentWords(ctx, r.delivery)
	if err != nil {
		return false, err
	}
	verdict, err := hear(ctx, c.inbound(r, m, text, sent))
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if err != nil {
		log.WarnContext(ctx, "a reply could not be taken yet", "error", err)
		return false, nil
	}
	if err := c.tellSender(ctx, r, verdict, pos); err != nil {
		log.WarnContext(ctx, "a person could not be told what became of a reply", "error", err)
		if pos.attempts(m.uid) < maxTellAttempts {
			return false, nil
		}
		pos.addPending(c.newPendingMessage(r, verdict))
	}
	pos.remember(r.id(m.header))
	pos.advance(m.uid, true)
	// Store the position after each mail, because the other mails of this round may take long, or never end.
	return true, errors.Join(c.fileMail(box, m), c.storePosition(ctx, pos))
}

// inbound turns a reply into an Inbound. sent are the words of the mail that it replies to.
func (c *Channel) inbound(r *reply, m incomingMail, body splitReply, sent wordSet) *notice.Inbound {
	secret, whole := cutOpenOnly(r.token)
	local, _, _ := strings.Cut(r.from.Address, "@")
	text, signature, unknown := body.read(sent, r.from.Name+" "+strings.ReplaceAll(local, ".", " "))
	in := &notice.Inbound{
		ID: r.id(m.header), Reply: secret, Delivery: r.delivery, Text: text, Signature: signature, At: m.at,
		From: notice.Identity{Kind: Kind, ID: r.from.Address, Name: r.from.Name},
	}
	// A mail server vouches only for a domain. Only the secret shows that the person received the mail.
	switch p, why := c.verifySender(r); {
	case p == forged:
		in.From.DenialReason = "your mail server did not vouch that the mail comes from " + r.from.Address + " (" + why + ")"
		in.From.Remedy = c.remedy(r)
	case secret == "":
		in.From.DenialReason = "the mail does not hold what binds it to the question"
		in.From.Remedy = "reply to the mail with the question itself"
	case !whole:
		in.From.DenialReason = "the mail could not show all of what will run"
	case body.doubt != "":
		in.From.DenialReason, in.From.Remedy = body.doubt, body.remedy
	case unknown:
		in.From.DenialReason, in.From.Remedy = unknownDoubt, quoteRemedy
	default:
		in.From.Email = r.from.Address
	}
	return in
}

// fileMail marks a mail as processed.
func (c *Channel) fileMail(box *mailbox, m incomingMail) error { return box.fileMail(m.uid, c.moveTo) }
