package github

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata/internal/lazyregexp"
)

// answerTarget is the question that a comment answers, and the text of the answer.
type answerTarget struct {
	ownComment
	text string
	// problem says why the comment cannot be passed on.
	problem string
}

const (
	command = "/answer"
	// shortestEnding is how many characters at the end of an id are enough to name a question.
	shortestEnding = 6
	// lateWindow is the time after the end of a question in which a comment without /answer can still be an answer to
	// it. Later, such a comment is not an answer.
	lateWindow = 24 * time.Hour
)

// firstWords returns the person's words, without a quotation above them.
func firstWords(body string) string {
	lines := strings.Split(strings.ReplaceAll(body, "\r\n", "\n"), "\n")
	first := slices.IndexFunc(lines, func(l string) bool {
		l = strings.TrimSpace(l)
		return l != "" && !strings.HasPrefix(l, ">")
	})
	if first < 0 {
		return ""
	}
	lines = lines[first:]
	lines[0] = unformat(strings.TrimSpace(lines[0]))
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// formatted matches a line that begins with bold text or code, as the options of a question do.
var formatted = lazyregexp.New("^(?:\\*\\*([^*]+)\\*\\*|`([^`]+)`)(.*)$")

func unformat(line string) string {
	if m := formatted().FindStringSubmatch(line); m != nil {
		return m[1] + m[2] + m[3]
	}
	return line
}

// findTarget finds the question that a comment answers: the one that it names, or the only open one that it can answer. It
// returns false if the comment is not an answer.
func (v *issueView) findTarget(body string, now time.Time) (answerTarget, bool) {
	text := firstWords(body)
	rest, explicit := cutCommand(text)
	if named, behind, ok := v.findNamed(rest); ok {
		return newTarget(named, behind), true
	}
	open := v.openQuestions()
	line, _, _ := strings.Cut(text, "\n")
	if !explicit && !slices.ContainsFunc(open, func(o ownComment) bool { return o.mark.beginsAnswer(line) }) {
		late, ok := v.lastClosed(func(o ownComment) bool { return now.Sub(o.UpdatedAt) < lateWindow && o.mark.beginsAnswer(line) })
		if len(open) > 0 || !ok {
			return answerTarget{}, false
		}
		return newTarget(late, text), true
	}
	switch {
	case len(open) == 1:
		return v.targetUnnamed(open[0], rest), true
	case len(open) > 1:
		takes := questionsFor(open, rest, explicit)
		if len(takes) == 1 {
			return v.targetUnnamed(takes[0], rest), true
		}
		if len(takes) == 0 {
			takes = open
		}
		return answerTarget{problem: askWhichQuestion(takes)}, true
	}
	if late, ok := v.lastClosed(func(ownComment) bool { return true }); ok {
		return newTarget(late, rest), true
	}
	return answerTarget{problem: "no question is open here."}, true
}

// questionsFor returns the questions that the text can answer. A question that accepts any text accepts it only after the
// command.
func questionsFor(open []ownComment, text string, explicit bool) []ownComment {
	line, _, _ := strings.Cut(text, "\n")
	var found []ownComment
	for _, o := range open {
		if o.mark.beginsAnswer(line) || explicit && len(o.mark.words) == 0 {
			found = append(found, o)
		}
	}
	return found
}

// For this time after a question closed, a comment can still mean that question. The asker can close a question that
// nobody has answered at any moment, and ask another one in its place. So undecidedWindow is longer.
const (
	undecidedWindow = 10 * time.Minute
	decidedWindow   = 30 * time.Second
)

// targetUnnamed returns the target for a question that the comment does not name. The target has a problem if another
// question closed shortly before the comment, because the author may mean that one.
func (v *issueView) targetUnnamed(o ownComment, text string) answerTarget {
	closedBefore := slices.ContainsFunc(v.comments, func(other ownComment) bool {
		m, window := other.mark, decidedWindow
		if m.undecided {
			window = undecidedWindow
		}
		return m.question != "" && m.question != o.mark.question && m.state == stateClosed && v.asOf.Sub(other.UpdatedAt) < window
	})
	if !closedBefore {
		return newTarget(o, text)
	}
	return answerTarget{ownComment: o, problem: fmt.Sprintf("another question has just closed here. Please name the one that you mean, as in `/answer %s A`.", endingOf(o.mark.question))}
}

// newTarget returns the target for a question. It has a problem if the question takes no comment.
func newTarget(o ownComment, text string) answerTarget {
	p := answerTarget{ownComment: o, text: strings.TrimSpace(text)}
	switch {
	case o.mark.state == statePage:
		p.problem = "this question is answered on its page, not by a comment."
	case p.text == "":
		p.problem = "the answer is missing: write it behind `/answer`, on the same line."
	}
	return p
}

// cutCommand removes /answer from the beginning.
func cutCommand(text string) (string, bool) {
	if len(text) < len(command) || !strings.EqualFold(text[:len(command)], command) {
		return text, false
	}
	rest := text[len(command):]
	if rest != "" && !strings.ContainsAny(rest[:1], " \t\n") {
		return text, false
	}
	return strings.TrimSpace(rest), true
}

// findNamed finds the question whose id, or the ending of its id, is the first word.
func (v *issueView) findNamed(text string) (ownComment, string, bool) {
	end := strings.IndexAny(text, " \t\n")
	word := text
	if end >= 0 {
		word = text[:end]
	}
	id := strings.ToLower(strings.Trim(word, "`*:#,"))
	if len(id) < shortestEnding {
		return ownComment{}, "", false
	}
	var found []ownComment
	for _, one := range slices.Backward(v.comments) {
		same := func(o ownComment) bool { return o.mark.question == one.mark.question }
		if strings.HasSuffix(one.mark.question, id) && !slices.ContainsFunc(found, same) {
			found = append(found, one)
		}
	}
	if len(found) != 1 {
		return ownComment{}, "", false
	}
	return found[0], text[len(word):], true
}

// lastClosed finds the question that closed last among those that fit.
func (v *issueView) lastClosed(fits func(ownComment) bool) (ownComment, bool) {
	for _, one := range slices.Backward(v.comments) {
		if one.mark.question != "" && one.mark.state == stateClosed && fits(one) {
			return one, true
		}
	}
	return ownComment{}, false
}

// askWhichQuestion asks the person to name one of several questions.
func askWhichQuestion(open []ownComment) string {
	var b strings.Builder
	example := endingOf(open[0].mark.question)
	fmt.Fprintf(&b, "%d questions are open here. Please name the one that you mean, as in `/answer %s A`:\n", len(open), example)
	for _, o := range open {
		fmt.Fprintf(&b, "\n- `%s` – [the question](%s)", endingOf(o.mark.question), o.HTMLURL)
	}
	return b.String()
}

// endingOf returns the part of an id by which people name a question.
func endingOf(id string) string { return id[max(0, len(id)-shortestEnding):] }
