package channeltest

import (
	"context"
	"fmt"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/notice"
)

// sentOnce waits until everybody sees the question, and makes sure that nobody
// was sent it twice.
func (l *lab) sentOnce(q *fermata.Question) {
	l.Helper()
	for name := range l.people {
		l.sees(name, q)
		if n := len(l.about(name, q)); n != 1 {
			l.Errorf("%s sees %q %d times", name, q.Title, n)
		}
	}
	rows, _, err := l.admin.Deliveries(l.Context(), client.DeliveryQuery{QuestionID: q.ID, Limit: 100})
	l.ok(err)
	sent := map[string]int{}
	for _, d := range rows {
		if d.Purpose != string(notice.Asked) {
			l.Errorf("%q was sent as %s", q.Title, d.Purpose)
		}
		sent[fmt.Sprintf("%s over %s", d.Member, d.Channel)]++
	}
	for to, n := range sent {
		if n != 1 {
			l.Errorf("%q was sent to %s %d times", q.Title, to, n)
		}
	}
	if want := len(l.people); !l.Everybody && len(sent) != want || l.Everybody && len(sent) != 1 {
		l.Errorf("%q was sent to %v", q.Title, sent)
	}
}

// sentContents are all messages as they were sent.
func (l *lab) sentContents() []string {
	l.Helper()
	var all []string
	cursor := ""
	for {
		rows, next, err := l.admin.Deliveries(l.Context(), client.DeliveryQuery{Limit: 100, Cursor: cursor})
		l.ok(err)
		for _, d := range rows {
			full, err := l.admin.Delivery(l.Context(), d.ID)
			l.ok(err)
			all = append(all, full.Content)
		}
		if cursor = next; cursor == "" {
			return all
		}
	}
}

// sent tells what became of every message, for whoever looks for a fault.
func (l *lab) sent() string {
	rows, _, err := l.admin.Deliveries(context.Background(), client.DeliveryQuery{Limit: 100})
	if err != nil {
		return err.Error()
	}
	var sb strings.Builder
	for _, d := range rows {
		fmt.Fprintf(&sb, "%s %s over %s to %q for %s: %s %s %s, %d attempts, next %v, history %+v\n",
			d.ID, d.Purpose, d.Channel, d.Member, d.QuestionID, d.State, d.Reason, d.LastError, d.Attempts, d.NextAt, d.History)
	}
	return sb.String()
}
