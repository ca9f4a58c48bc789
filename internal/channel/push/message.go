package push

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/fermata-hq/fermata/internal/notice"
)

// Lengths of texts in characters. A lock screen shows less.
const (
	longestTitle = 120
	longestBody  = 240
	digestLines  = 4
)

// message is what the service worker of the page reads
// (web/src/worker/message.ts).
type message struct {
	// Kind is question, closed, digest, alert or test.
	Kind string `json:"kind"`
	// Tag is one for each question: a newer notification replaces the older.
	Tag   string `json:"tag"`
	Title string `json:"title"`
	Body  string `json:"body"`
	// Path is where a press leads.
	Path string `json:"path"`
	Lang string `json:"lang"`
	At   int64  `json:"at"`
	// Again says that it makes itself heard although one with this tag is
	// there, Stays that it stays until the person acts.
	Again    bool   `json:"again,omitempty"`
	Silent   bool   `json:"silent,omitempty"`
	Stays    bool   `json:"stays,omitempty"`
	Question string `json:"question,omitempty"`
	Delivery string `json:"delivery,omitempty"`
	// Member is the handle of the person for whom it is: only that person's session answers with its buttons.
	Member  string   `json:"member,omitempty"`
	Actions []action `json:"actions,omitempty"`
	// ActionHash names what will run, which stands in the body.
	ActionHash string `json:"action_hash,omitempty"`
}

// action is a button.
type action struct {
	Action string `json:"action"`
	Title  string `json:"title"`
	Answer any    `json:"answer"`
}

// compose makes the message; fresh says that it is not a change of an earlier
// one.
func compose(n *notice.Notice, fresh bool) *message {
	words := wordsIn(n.To.Language)
	m := &message{Tag: tag(n), Lang: words.tag, At: n.At.UnixMilli(), Delivery: n.Delivery, Member: n.To.Handle, Silent: !fresh, Again: fresh}
	switch {
	case n.Purpose == notice.Test:
		m.Kind, m.Title, m.Body, m.Path = "test", cmp.Or(n.Title, words.test), cmp.Or(n.Body, words.testBody), "/settings/notifications"
	case n.Purpose == notice.Digest:
		m.Kind, m.Title, m.Body, m.Path = "digest", cmp.Or(n.Title, words.digest(len(n.Questions))), titles(n), "/"
	case n.Question != nil && n.Outcome != nil:
		m.Kind, m.Title, m.Body, m.Silent, m.Again = "closed", n.Question.Title, n.Outcome.Words, true, false
	case n.Purpose == notice.Alert || n.Question == nil:
		m.Kind, m.Title, m.Body, m.Path = "alert", cmp.Or(n.Title, "Fermata"), n.Body, path(n.Open)
	default:
		m.question(n, words)
	}
	if n.Question != nil {
		m.Question = n.Question.ID
		if m.Path == "" || m.Kind == "closed" {
			m.Path = "/questions/" + n.Question.ID
		}
	}
	m.Title, m.Body = shortenLines(plainText(m.Title), longestTitle), shortenLines(m.Body, longestBody+longestTitle)
	m.Path = cmp.Or(m.Path, "/")
	return m
}

// question tells of one that is open.
func (m *message) question(n *notice.Notice, words *words) {
	q := n.Question
	m.Kind, m.Title, m.Stays = "question", q.Title, q.Type.Suspends()
	facts := []string{words.types[q.Type], n.Project}
	if lead := words.purposes[n.Purpose]; lead != "" {
		facts = append([]string{lead}, facts...)
	}
	if n.Project == "" {
		facts[len(facts)-1] = q.Project
	}
	if q.Deadline != nil {
		facts = append(facts, words.deadlineText(*q.Deadline, n.At, n.To.Zone))
	}
	m.Body = strings.Join(facts, " · ")
	if decides, shown := quickButtons(n, words); len(decides) > 0 {
		m.Actions, m.ActionHash = decides, q.ActionHash
		m.Body = strings.TrimPrefix(shown+"\n"+m.Body, "\n")
	}
}

// tag names the notification: one for each question.
func tag(n *notice.Notice) string {
	switch {
	case n.Purpose == notice.Digest || n.Purpose == notice.Test:
		return "fermata-" + string(n.Purpose)
	case n.Question != nil && n.Purpose != notice.Alert:
		return "fermata-" + n.Question.ID
	default:
		return "fermata-" + n.Delivery
	}
}

func titles(n *notice.Notice) string {
	var lines []string
	for i, q := range n.Questions {
		if i == digestLines {
			lines = append(lines, fmt.Sprintf("+ %d", len(n.Questions)-digestLines))
			break
		}
		lines = append(lines, shortenLines(q.Title, longestTitle/2))
	}
	return strings.Join(lines, "\n")
}

// path is the part of an address that the page itself can open.
func path(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.RequestURI()
}

// shortest says only that there is something.
func (m *message) shortest() *message {
	least := *m
	least.Title, least.Body, least.Actions, least.ActionHash = shortenLines(m.Title, longestTitle/2), "", nil, ""
	return &least
}

func (m *message) bytes() []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(m); err != nil {
		// It holds nothing but texts, numbers and booleans.
		panic(err)
	}
	return bytes.TrimSpace(out.Bytes())
}

// deadlineText says when time decides, by the person's own clock.
func (w *words) deadlineText(deadline, now time.Time, zone string) string {
	place, err := time.LoadLocation(zone)
	if err != nil || zone == "" {
		place = time.UTC
	}
	deadline, now = deadline.In(place), now.In(place)
	layout := w.clock
	if deadline.YearDay() != now.YearDay() || deadline.Year() != now.Year() {
		layout = w.day
	}
	if place == time.UTC {
		layout += " UTC"
	}
	return w.untilWord + " " + deadline.Format(layout)
}
