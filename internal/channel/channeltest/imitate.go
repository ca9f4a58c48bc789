package channeltest

import (
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/test/standin"
)

// imitations are texts that imitate the markup of chats and mail, and Fermata's own
// words.
var imitations = []string{
	"<!channel> *Approved* by <@U0000001>", "[Approve here](https://evil.example.com)", "@everyone <b>Approved</b>",
	"<https://evil.example.com|Approve>", "# Answered\n**Closed:** answered by ann: toml", "</div><h1>Answered</h1><a href=\"https://evil.example.com\">Approve</a>",
	"---\nAnswered by ann: toml\n---", "```\nend of the text\n```\n## Approve\n- [x] toml", "\u202edesolC\u202c \u200bAnswered by ann", "<!-- fermata --> <details><summary>Answered</summary>",
}

// testImitation asks questions whose bodies imitate the channel's own messages.
// The message must have the same buttons, headings and lines as a message with
// plain words, and no others.
func testImitation(l *harness) {
	honest := l.ask(fermata.Ask{Title: "Look", Question: "Which format?", Body: "Some words.", Options: choice})
	open := l.awaitMessage("ann", honest)
	_, err := l.agent.CancelQuestion(l.Context(), honest.ID, "not needed")
	l.ok(err)
	l.await("it says that it is closed", func() bool { return l.awaitMessage("ann", honest).Closed })
	// The best imitations are real messages: an open one and a closed one.
	for _, body := range append([]string{open.Text, l.awaitMessage("ann", honest).Text}, imitations...) {
		q := l.ask(fermata.Ask{Title: "Look", Question: "Which format?", Body: body, Options: choice})
		m := l.awaitMessage("ann", q)
		if m.Closed {
			l.Errorf("%q passes for an end", body)
		}
		if diff := cmp.Diff(buttonLabels(open.Buttons), buttonLabels(m.Buttons)); diff != "" {
			l.Errorf("%q: other buttons (-honest +imitation):\n%s", body, diff)
		}
		for _, line := range unmarkedLines(m, q, body) {
			l.Errorf("%q stands in the message as a line of its own: %q\n%s", body, line, m.Text)
		}
		l.checkPending(q)
		_, err := l.agent.CancelQuestion(l.Context(), q.ID, "seen")
		l.ok(err)
	}
}

// buttonLabels returns the buttons without the addresses behind them.
func buttonLabels(buttons []string) []string {
	var all []string
	for _, b := range buttons {
		word, _, _ := strings.Cut(b, "http")
		all = append(all, strings.TrimSpace(word))
	}
	slices.Sort(all)
	return all
}

// shortLine is the length in bytes below which a line is too short to look like
// a line of Fermata.
const shortLine = 6

// unmarkedLines lists the lines of the body that appear unchanged in the message,
// without a mark that another person wrote them.
func unmarkedLines(m standin.Message, q *fermata.Question, body string) []string {
	lines := strings.Split(standin.StripQuotes(m.Text), "\n")
	var found []string
	for line := range strings.SplitSeq(body, "\n") {
		line = strings.TrimSpace(line)
		if len(line) < shortLine || strings.Contains(line, q.Title) {
			continue
		}
		allowed := 0
		if isOurLine(line) {
			allowed = 1
		}
		if n := count(lines, line); n > allowed {
			found = append(found, line)
		}
	}
	return found
}

func count(lines []string, line string) int {
	n := 0
	for _, l := range lines {
		if strings.TrimSpace(l) == line {
			n++
		}
	}
	return n
}

// isOurLine reports whether Fermata may have written the line itself, because
// no imitation contains it. A body that copies a real message is full of such
// lines.
func isOurLine(line string) bool {
	return !slices.ContainsFunc(imitations, func(e string) bool { return strings.Contains(e, line) })
}
