package notify

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nicholas-fedor/shoutrrr/pkg/util/jsonclient"

	"github.com/fermata-hq/fermata/internal/notice"
)

// mostLine bounds what is shown of a text that somebody else wrote.
const mostLine = 160

// text is a message: a headline, and what stands below it.
type text struct{ title, body string }

// String returns what was sent, to be kept.
func (t text) String() string { return t.title + "\n" + t.body }

// headlines are those of questions, by purpose.
var headlines = map[notice.Purpose]string{
	notice.Asked:     "A question waits for an answer",
	notice.Reminder:  "A question still waits for an answer",
	notice.Escalated: "A question was escalated",
}

// write returns the text of a notice. What to answer, and how, is behind the
// address: nothing can be answered here.
func write(n *notice.Notice) text {
	headline, ok := headlines[n.Purpose]
	if n.Question == nil || !ok {
		t := text{title: line(n.Title)}
		lines := []string{t.title}
		if body := line(n.Body); body != "" && body != t.title {
			lines = append(lines, body)
		}
		for _, q := range n.Questions {
			lines = append(lines, "- "+line(q.Title))
		}
		t.body = join(lines, n.Open)
		return t
	}
	lines := []string{line(n.Question.Title)}
	if n.TaskTitle != "" {
		lines = append(lines, "Task: "+line(n.TaskTitle))
	}
	if d := n.Question.Deadline; d != nil {
		lines = append(lines, "Until: "+d.UTC().Format("2006-01-02 15:04 UTC"))
	}
	return text{headline, join(lines, n.Open)}
}

// writeOutcome tells how a question ended.
func writeOutcome(n *notice.Notice) text {
	var lines []string
	if n.Question != nil {
		lines = append(lines, line(n.Question.Title))
	}
	return text{"A question is closed", join(append(lines, line(n.Outcome.Words)), n.Open)}
}

func join(lines []string, open string) string {
	if open != "" {
		lines = append(lines, "Open: "+open)
	}
	return strings.Join(lines, "\n")
}

// line makes one short line of a text: what somebody else wrote cannot look
// like a line of ours.
func line(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.In(r, unicode.Cc, unicode.Cf) }), " ")
	if utf8.RuneCountInString(s) > mostLine {
		s = string([]rune(s)[:mostLine-1]) + "…"
	}
	return s
}

// why returns what the library says of a failure, without what the URL keeps
// secret and without what the service sent back.
func (c *Channel) why(err error) string {
	if status, ok := errors.AsType[jsonclient.Error](err); ok && status.StatusCode != 0 {
		return fmt.Sprintf("it responded %d", status.StatusCode)
	}
	if inner, ok := errors.AsType[*url.Error](err); ok && inner.Op != "parse" {
		err = inner.Err
	}
	return line(c.scrub(err.Error()))
}

// scrub takes every part of the URL that may be a secret out of a text.
func (c *Channel) scrub(s string) string {
	const least = 4
	s = strings.ReplaceAll(s, c.URL, "…")
	parts := func(r rune) bool { return strings.ContainsRune(":/?#@&=%+,;", r) }
	_, rest, _ := strings.Cut(c.URL, ":")
	for _, raw := range strings.FieldsFunc(rest, parts) {
		if len(raw) >= least {
			s = strings.ReplaceAll(s, raw, "…")
		}
	}
	if u, err := url.Parse(c.URL); err == nil && u.User != nil {
		password, _ := u.User.Password()
		for _, secret := range []string{u.User.Username(), password} {
			if secret != "" {
				s = strings.ReplaceAll(s, secret, "…")
			}
		}
	}
	return s
}
