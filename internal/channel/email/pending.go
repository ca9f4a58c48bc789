package email

import (
	"context"
	"fmt"
	"net/mail"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// pendingMessage is a message that tells a person what became of a reply, and that was not sent yet.
type pendingMessage struct {
	To string `json:"to"`
	// ID is the Message-ID that the mail will have. References are the ids of its thread.
	ID         string   `json:"id"`
	References []string `json:"references,omitempty"`
	Subject    string   `json:"subject"`
	Words      string   `json:"words"`
	// Open is the address of the question's page.
	Open string `json:"open,omitempty"`
}

const (
	// maxPending is how many messages are pending at most. maxPendingPerPerson is the limit for one person. Messages to
	// a person with the same subject, words and page count once.
	maxPending          = 2000
	maxPendingPerPerson = 100
)

func (c *Channel) newPendingMessage(r *reply, v notice.Verdict) pendingMessage {
	l := c.newResponse(r)
	return pendingMessage{
		To: r.from.Address, ID: l.MessageID, References: l.References, Subject: l.Subject,
		Words: fermata.Truncate(v.Words, notice.LongestText), Open: c.pageURL(v.Question),
	}
}

// addPending adds a message to send later. It replaces an equal one. If there are too many messages, it drops an old
// one.
func (pos *mailboxPosition) addPending(o pendingMessage) {
	same := func(other pendingMessage) bool {
		return other.To == o.To && other.Subject == o.Subject && other.Words == o.Words && other.Open == o.Open
	}
	pos.Pending = append(slices.DeleteFunc(pos.Pending, same), o)
	if messages := pos.pendingFor(o.To); len(messages) > maxPendingPerPerson {
		pos.dropPending(messages[0])
	}
	if len(pos.Pending) > maxPending {
		pos.dropPending(pos.oldestPending())
	}
}

// dropPending drops a pending message, and counts it. The next mail to the person says how many messages were dropped.
func (pos *mailboxPosition) dropPending(o pendingMessage) {
	if pos.Dropped == nil {
		pos.Dropped = map[string]int{}
	}
	pos.Dropped[o.To]++
	pos.removePending([]pendingMessage{o})
}

// oldestPending returns the oldest message to a person who has more than one. So each person has at least one message
// left. The mail with it says how many were dropped.
func (pos *mailboxPosition) oldestPending() pendingMessage {
	count := map[string]int{}
	for _, o := range pos.Pending {
		count[o.To]++
	}
	for _, o := range pos.Pending {
		if count[o.To] > 1 {
			return o
		}
	}
	return pos.Pending[0]
}

// pendingFor lists the pending messages to one person.
func (pos *mailboxPosition) pendingFor(address string) []pendingMessage {
	var messages []pendingMessage
	for _, o := range pos.Pending {
		if o.To == address {
			messages = append(messages, o)
		}
	}
	return messages
}

// removePending removes the messages that were sent.
func (pos *mailboxPosition) removePending(sent []pendingMessage) {
	pos.Pending = slices.DeleteFunc(pos.Pending, func(o pendingMessage) bool {
		return slices.ContainsFunc(sent, func(t pendingMessage) bool { return t.ID == o.ID })
	})
}

// sendPending mails the pending messages to every person whose limit allows another mail.
func (c *Channel) sendPending(ctx context.Context, pos *mailboxPosition) error {
	var people []string
	for _, o := range pos.Pending {
		if !slices.Contains(people, o.To) {
			people = append(people, o.To)
		}
	}
	for _, address := range people {
		if _, allowed := c.allowTell(address); !allowed {
			continue
		}
		messages := pos.pendingFor(address)
		if err := c.mailSummary(ctx, messages, pos.Dropped[address]); err != nil {
			c.log.WarnContext(ctx, "a person could not be told yet what became of replies", "replies", len(messages), "error", err)
			continue
		}
		pos.removePending(messages)
		delete(pos.Dropped, address)
		if err := c.storePosition(ctx, pos); err != nil {
			return err
		}
	}
	return nil
}

// mailSummary mails what became of several replies of one person. The mail names each reply by its subject and its
// question's page. dropped is how many more replies there were.
func (c *Channel) mailSummary(ctx context.Context, all []pendingMessage, dropped int) error {
	last := all[len(all)-1]
	l := &letter{
		To: mail.Address{Address: last.To}, Subject: last.Subject, Auto: "auto-replied",
		MessageID: last.ID, References: last.References,
	}
	if n := len(last.References); n > 0 {
		l.InReplyTo = last.References[n-1]
	}
	head := fmt.Sprintf("What became of %d more replies of yours:", len(all))
	if len(all) == 1 {
		head = "What became of one more reply of yours:"
	}
	p := page{Subject: l.Subject, Preheader: head, Head: head}
	var text strings.Builder
	text.WriteString(head)
	for _, o := range all {
		p.List = append(p.List, entry{Title: o.Subject, Deadline: o.Words, URL: o.Open})
		fmt.Fprintf(&text, "\n\n│ %s\n%s", o.Subject, o.Words)
		if o.Open != "" {
			text.WriteString("\nOpen: " + o.Open)
		}
	}
	if dropped > 0 {
		more := fmt.Sprintf("And %d more replies of yours did not count. See your inbox in Fermata for what is still open.", dropped)
		p.List = append(p.List, entry{Title: more})
		text.WriteString("\n\n" + more)
	}
	p.Text = text.String()
	if err := l.fill(p); err != nil {
		return err
	}
	return c.sendLetter(ctx, l)
}

// waitTime returns how long to wait for new mail: maxWait, but at most pendingCheckInterval while messages are pending.
func (pos *mailboxPosition) waitTime(maxWait time.Duration) time.Duration {
	if len(pos.Pending) > 0 {
		return min(maxWait, pendingCheckInterval)
	}
	return maxWait
}

// pendingCheckInterval is the interval at which the channel checks whether pending messages may be sent.
const pendingCheckInterval = time.Minute
