package notify

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nicholas-fedor/shoutrrr/pkg/util/jsonclient"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// maxLineLength is how many characters are shown of a text that Fermata did not
// write.
const maxLineLength = 160

// text is a message: a headline and a body.
type text struct {
	title, body string
	// bodyNeedsTitle reports whether the body leaves the headline out.
	bodyNeedsTitle bool
	weight         weight
	// openURL is the address that a press opens. button is the label of that
	// button.
	openURL, button string
}

// weight says how loud a message is.
type weight int

// These are the weights, from least to most.
const (
	weightQuiet weight = iota - 1
	weightUsual
	weightUrgent
	weightAlarming
)

// weightOf returns how loud a notice is. A question that stops a task is urgent. A
// question of critical risk, or an escalated one, is alarming. A question that
// can wait is quiet.
func weightOf(n *notice.Notice) weight {
	switch {
	case n.Outcome != nil, n.Purpose == notice.Digest:
		return weightQuiet
	case n.Purpose == notice.Alert:
		return weightUrgent
	case n.Question == nil:
		return weightUsual
	case n.Question.Type.Urgency() != fermata.UrgencyHigh:
		return weightQuiet
	case n.Question.Risk == fermata.RiskCritical, n.Purpose == notice.Escalated:
		return weightAlarming
	default:
		return weightUrgent
	}
}

// String returns the text as it was sent, to be stored.
func (t text) String() string { return t.title + "\n" + t.body }

// joinTitle returns the text for a service that shows no title.
func (t text) joinTitle() string {
	if t.bodyNeedsTitle {
		return t.String()
	}
	return t.body
}

// textOf returns the text of a notice. The options are only on the question's
// page, because people cannot answer in this message.
func textOf(n *notice.Notice) text {
	if n.Question == nil {
		t := text{title: line(n.Title), weight: weightOf(n), openURL: n.Open, button: "Open"}
		lines := []string{t.title}
		if body := line(n.Body); body != "" && body != t.title {
			lines = append(lines, body)
		}
		for _, q := range n.Questions {
			lines = append(lines, "- "+line(q.Title))
		}
		t.body = joinWithLink(lines, n.Open)
		return t
	}
	if n.Outcome != nil {
		return outcomeText(n)
	}
	lines := []string{}
	if n.TaskTitle != "" {
		lines = append(lines, "Task: "+line(n.TaskTitle))
	}
	if d := n.Question.Deadline; d != nil {
		lines = append(lines, "Until: "+d.UTC().Format("2006-01-02 15:04 UTC"))
	}
	return text{title: headline(n), body: joinWithLink(lines, n.Open), bodyNeedsTitle: true, weight: weightOf(n), openURL: n.Open, button: button(n)}
}

// headline returns the kind of the question and its title.
func headline(n *notice.Notice) string {
	return line(notice.Headline(n))
}

// button returns the label of the button that opens the page of the question.
// Opening the page decides nothing.
func button(n *notice.Notice) string {
	if n.Question.Type == fermata.Approval {
		return "Look and decide"
	}
	return "Answer"
}

// outcomeText returns the text that says how a question ended.
func outcomeText(n *notice.Notice) text {
	t := text{title: "Closed", weight: weightOf(n), bodyNeedsTitle: true, openURL: n.Open, button: "Open"}
	if n.Question != nil {
		t.title = line("Closed: " + n.Question.Title)
	}
	t.body = joinWithLink([]string{line(n.Outcome.Words)}, n.Open)
	return t
}

func joinWithLink(lines []string, open string) string {
	if open != "" {
		lines = append(lines, "Open: "+open)
	}
	return strings.Join(lines, "\n")
}

// line turns a text into one short line, so that another person's text cannot
// look like a line of Fermata.
func line(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.In(r, unicode.Cc, unicode.Cf) }), " ")
	if utf8.RuneCountInString(s) > maxLineLength {
		s = string([]rune(s)[:maxLineLength-1]) + "…"
	}
	return s
}

// describeFailure returns the library's description of a failure. It leaves out
// the secrets of the URL and the response of the service.
func (c *Channel) describeFailure(err error) string {
	if status, ok := errors.AsType[jsonclient.Error](err); ok && status.StatusCode != 0 {
		return fmt.Sprintf("it responded %d", status.StatusCode)
	}
	if inner, ok := errors.AsType[*url.Error](err); ok && inner.Op != "parse" {
		err = inner.Err
	}
	return line(c.scrub(err.Error()))
}

// scrub removes every part of the URL that may be a secret from a text.
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
