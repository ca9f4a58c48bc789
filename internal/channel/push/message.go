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

// These are the longest texts, in characters. digestLines is how many questions of a digest are shown. A lock screen
// shows less.
const (
	longestTitle = 120
	longestBody  = 240
	digestLines  = 4
)

// message is the payload that the page's service worker reads (web/src/service-worker/message.ts).
type message struct {
	// Kind is question, closed, digest, alert or test.
	Kind string `json:"kind"`
	// Tag is the same for all messages about a question. A newer notification with the same tag replaces the older one.
	Tag   string `json:"tag"`
	Title string `json:"title"`
	Body  string `json:"body"`
	// Path is the path that a press opens.
	Path string `json:"path"`
	Lang string `json:"lang"`
	At   int64  `json:"at"`
	// Renotify reports whether the notification alerts the person although one with this tag is shown already.
	// RequireInteraction reports whether it stays until the person acts.
	Renotify           bool   `json:"again,omitempty"`
	Silent             bool   `json:"silent,omitempty"`
	RequireInteraction bool   `json:"stays,omitempty"`
	Question           string `json:"question,omitempty"`
	Delivery           string `json:"delivery,omitempty"`
	// Member is the handle of the recipient. The buttons answer only in that person's session.
	Member  string   `json:"member,omitempty"`
	Actions []action `json:"actions,omitempty"`
	// ActionHash is the hash of the action that the body shows.
	ActionHash string `json:"action_hash,omitempty"`
}

// action is a button.
type action struct {
	Action string `json:"action"`
	Title  string `json:"title"`
	Answer any    `json:"answer"`
}

// compose creates the message. isNew reports whether it is a new message and not a change of an earlier one.
func compose(n *notice.Notice, isNew bool) *message {
	words := wordsIn(n.To.Language)
	m := &message{Tag: tag(n), Lang: words.tag, At: n.At.UnixMilli(), Delivery: n.Delivery, Member: n.To.Handle, Silent: !isNew, Renotify: isNew}
	switch {
	case n.Purpose == notice.Test:
		m.Kind, m.Title, m.Body, m.Path = "test", cmp.Or(n.Title, words.test), cmp.Or(n.Body, words.testBody), "/settings/notifications"
	case n.Purpose == notice.Digest:
		m.Kind, m.Title, m.Body, m.Path = "digest", cmp.Or(n.Title, words.digest(len(n.Questions))), listTitles(n), "/"
	case n.Question != nil && n.Outcome != nil:
		m.Kind, m.Title, m.Body, m.Silent, m.Renotify = "closed", n.Question.Title, n.Outcome.Words, true, false
	case n.Purpose == notice.Alert || n.Question == nil:
		m.Kind, m.Title, m.Body, m.Path = "alert", cmp.Or(n.Title, "Fermata"), n.Body, path(n.Open)
	default:
		m.fillQuestion(n, words)
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

// fillQuestion fills in an open question.
func (m *message) fillQuestion(n *notice.Notice, words *words) {
	q := n.Question
	m.Kind, m.Title, m.RequireInteraction = "question", q.Title, q.Type.Suspends()
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
	if buttons, shown := quickButtons(n, words); len(buttons) > 0 {
		m.Actions, m.ActionHash = buttons, q.ActionHash
		m.Body = strings.TrimPrefix(shown+"\n"+m.Body, "\n")
	}
}

// tag returns the tag of the notification, which is the same for all messages about a question.
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

func listTitles(n *notice.Notice) string {
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

// path returns the path and the query of an address. The service worker opens them on its own host.
func path(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.RequestURI()
}

// reduceToTitle returns a copy of the message with only a short title.
func (m *message) reduceToTitle() *message {
	reduced := *m
	reduced.Title, reduced.Body, reduced.Actions, reduced.ActionHash = shortenLines(m.Title, longestTitle/2), "", nil, ""
	return &reduced
}

func (m *message) encode() []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(m); err != nil {
		// The message contains only texts, numbers and booleans, so it can always be encoded.
		panic(err)
	}
	return bytes.TrimSpace(out.Bytes())
}

// deadlineText says until when to answer, in the person's time zone.
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
