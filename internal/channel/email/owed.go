package email

import (
	"context"
	"fmt"
	"net/mail"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata/internal/notice"
)

// owed is a message about a reply that a person has not received yet.
type owed struct {
	To string `json:"to"`
	// ID is the Message-ID of that message. References are the ids of its thread.
	ID         string   `json:"id"`
	References []string `json:"references,omitempty"`
	Subject    string   `json:"subject"`
	Words      string   `json:"words"`
	// Open is the address of the question's page.
	Open string `json:"open,omitempty"`
}

const (
	// mostOwed is how many messages are gathered at most. mostOwedTo is how many for one person. Messages of the same
	// thread with the same words are gathered once.
	mostOwed   = 2000
	mostOwedTo = 100
)

func (c *Channel) owed(r *reply, v notice.Verdict) owed {
	l := c.answerTo(r)
	return owed{
		To: r.from.Address, ID: l.MessageID, References: l.References, Subject: l.Subject,
		Words: cut(v.Words, notice.LongestText), Open: c.pageOf(v.Question),
	}
}

// owe stores what to tell a person later.
func (at *place) owe(o owed) {
	same := func(other owed) bool {
		return other.To == o.To && other.Subject == o.Subject && other.Words == o.Words && other.Open == o.Open
	}
	at.Owed = append(slices.DeleteFunc(at.Owed, same), o)
	if mine := at.owedTo(o.To); len(mine) > mostOwedTo {
		at.leaveOut(mine[0])
	}
	if len(at.Owed) > mostOwed {
		at.leaveOut(at.oldestOwed())
	}
}

// leaveOut drops a gathered message, and counts it for the next mail.
func (at *place) leaveOut(o owed) {
	if at.LeftOut == nil {
		at.LeftOut = map[string]int{}
	}
	at.LeftOut[o.To]++
	at.pay([]owed{o})
}

// oldestOwed returns the oldest message to a person with more than one. So every person keeps at least one mail, which
// says how many were left out.
func (at *place) oldestOwed() owed {
	count := map[string]int{}
	for _, o := range at.Owed {
		count[o.To]++
	}
	for _, o := range at.Owed {
		if count[o.To] > 1 {
			return o
		}
	}
	return at.Owed[0]
}

// owedTo lists the gathered messages to one person.
func (at *place) owedTo(address string) []owed {
	var mine []owed
	for _, o := range at.Owed {
		if o.To == address {
			mine = append(mine, o)
		}
	}
	return mine
}

// pay removes the messages that were sent.
func (at *place) pay(told []owed) {
	at.Owed = slices.DeleteFunc(at.Owed, func(o owed) bool {
		return slices.ContainsFunc(told, func(t owed) bool { return t.ID == o.ID })
	})
}

// payAll mails the gathered messages to every person who may be mailed again.
func (c *Channel) payAll(ctx context.Context, at *place) error {
	var people []string
	for _, o := range at.Owed {
		if !slices.Contains(people, o.To) {
			people = append(people, o.To)
		}
	}
	for _, address := range people {
		if _, may := c.mayTell(address); !may {
			continue
		}
		mine := at.owedTo(address)
		if err := c.gather(ctx, mine, at.LeftOut[address]); err != nil {
			c.log.WarnContext(ctx, "a person could not be told yet what became of replies", "replies", len(mine), "error", err)
			continue
		}
		at.pay(mine)
		delete(at.LeftOut, address)
		if err := c.storePlace(ctx, at); err != nil {
			return err
		}
	}
	return nil
}

// gather mails what became of several replies of one person. The mail names each reply by its subject and its
// question's page. leftOut is how many more replies there were.
func (c *Channel) gather(ctx context.Context, all []owed, leftOut int) error {
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
	if leftOut > 0 {
		more := fmt.Sprintf("And %d more replies of yours did not count. See your inbox in Fermata for what is still open.", leftOut)
		p.List = append(p.List, entry{Title: more})
		text.WriteString("\n\n" + more)
	}
	p.Text = text.String()
	if err := l.fill(p); err != nil {
		return err
	}
	return c.post(ctx, l)
}

// rest returns how long to wait for new mail: the time most, but at most owedLook while messages are gathered.
func (at *place) rest(most time.Duration) time.Duration {
	if len(at.Owed) > 0 {
		return min(most, owedLook)
	}
	return most
}

// owedLook is the interval at which the channel checks whether gathered messages may be sent.
const owedLook = time.Minute
