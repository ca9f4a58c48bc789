package render

import (
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
	"github.com/fermata-hq/fermata/internal/notice"
)

// QuestionSubline returns the second line of a question in a list: its type, task, project, progress and assignees.
func QuestionSubline(c *terminal.Console, q *fermata.Question) string {
	facts := append([]string{string(q.Type)}, notice.TaskAndProject(q)...)
	facts = append(facts, FactsWithoutRisk(q)...)
	return strings.Join(append(facts, "for "+AssigneesText(c, q), c.AgoText(q.CreatedAt)+" ago"), " · ")
}

// FactsWithoutRisk returns the number of items and the votes of a question. The risk has a column of its own.
func FactsWithoutRisk(q *fermata.Question) []string {
	return slices.DeleteFunc(notice.Facts(q), func(fact string) bool { return fact == "risk "+string(q.Risk) })
}

// AssigneesText returns the assignees of a question. For scripts it is empty if anybody may answer.
func AssigneesText(c *terminal.Console, q *fermata.Question) string {
	if len(q.Assignees) == 0 && c.OutTerm {
		return "anybody"
	}
	return strings.Join(q.Assignees, ", ")
}

// QuestionFacts returns the type, the assignees, the deadline and other facts of a question.
func QuestionFacts(c *terminal.Console, q *fermata.Question) string {
	whom := "anybody"
	if len(q.Assignees) > 0 {
		whom = terminal.OneLine(strings.Join(q.Assignees, ", "))
	}
	parts := []string{string(q.Type), whom}
	switch timeLeft := c.LeftText(q.Deadline); {
	case q.Deadline == nil:
		parts = append(parts, "no end")
	case c.OutTerm:
		parts = append(parts, timeLeft+" left")
	default:
		parts = append(parts, "until "+timeLeft)
	}
	// A narrow screen cuts the end, so the assignees and the deadline come
	// first.
	return strings.Join(append(parts, notice.Facts(q)...), " · ")
}
