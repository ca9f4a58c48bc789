package notice

import (
	"fmt"
	"strings"

	"github.com/fermata-hq/fermata"
)

// Facts returns the facts that help to choose a question from a list, in addition to its title: its risk, the number of
// its items, and its votes so far.
func Facts(q *fermata.Question) []string {
	var facts []string
	if q.Risk != "" {
		facts = append(facts, "risk "+string(q.Risk))
	}
	if n := len(q.Items); n > 1 {
		facts = append(facts, fmt.Sprintf("%d items", n))
	}
	if votes := Votes(q); votes != "" {
		facts = append(facts, votes)
	}
	return facts
}

// Votes says how many people have voted on a question that several people must approve, such as "1 of 2 approved". It
// is empty if one person decides.
func Votes(q *fermata.Question) string {
	if q.Approvals == nil || q.Approvals.Required < 2 {
		return ""
	}
	approved, rejected := 0, 0
	for _, v := range q.Votes {
		if v.Value == fermata.Approve {
			approved++
		} else {
			rejected++
		}
	}
	text := fmt.Sprintf("%d of %d approved", approved, q.Approvals.Required)
	if rejected > 0 {
		text += fmt.Sprintf(", %d rejected", rejected)
	}
	return text
}

// TaskAndProject returns the task and the project of a question. It leaves the task out if its title is the title of the
// question.
func TaskAndProject(q *fermata.Question) []string {
	var facts []string
	if title := TaskTitle(q); title != "" {
		facts = append(facts, quoteText(title, 60))
	}
	if q.Project != "" {
		facts = append(facts, OneLine(q.Project))
	}
	return facts
}

// quoteText quotes a text for a line of facts. A person or an agent wrote the text. It cannot close its own quotation
// marks, so it cannot pass for a fact. It is cut to maxChars characters, so it cannot push the facts out of sight.
func quoteText(text string, maxChars int) string {
	return "“" + shorten(strings.NewReplacer("“", "'", "”", "'").Replace(text), maxChars) + "”"
}

// TaskTitle returns the title of a question's task, on one line. It is empty if the question has the same title.
func TaskTitle(q *fermata.Question) string {
	title := OneLine(q.TaskTitle)
	if title == OneLine(q.Title) {
		return ""
	}
	return title
}

// digestLine returns the line below the title of a question in a digest.
func digestLine(q *fermata.Question) string {
	return strings.Join(append(TaskAndProject(q), Facts(q)...), " · ")
}
