package seams

import (
	"fmt"
	"strings"

	"github.com/fermata-hq/fermata"
)

// Vote is one person's vote on a question that needs several. The server acknowledged it without closing the question.
type Vote struct {
	Who, Task, Question string
	// Text is the comment of the vote. It is unique.
	Text string
}

// votesCountOnce compares the acknowledged votes with those of the questions, and the number of approvals with the
// required number.
func votesCountOnce(c *Case) (how []string) {
	for _, v := range c.Votes {
		q := c.questionOf(&Word{Task: v.Task, Question: v.Question})
		if q == nil {
			continue // the task cannot be read
		}
		if n := timesKept(q, v.Text); n != 1 {
			how = append(how, fmt.Sprintf("%s's vote %s on question %s was acknowledged, and is kept %d times", v.Who, v.Text, v.Question, n))
		}
	}
	for _, id := range c.Tasks {
		if c.Final[id] == nil {
			continue
		}
		for _, q := range c.Final[id].Questions {
			if problem := quorumProblem(q); problem != "" {
				how = append(how, fmt.Sprintf("question %s of task %c %s", q.ID, c.Letters[id], problem))
			}
		}
	}
	return how
}

// timesKept counts the votes with the text.
func timesKept(q *fermata.Question, text string) (n int) {
	for _, v := range q.Votes {
		if strings.Contains(v.Comment, text) {
			n++
		}
	}
	return n
}

// quorumProblem describes the problem with the votes of a question, or returns "" if there is none.
func quorumProblem(q *fermata.Question) string {
	if q.Approvals == nil || q.Approvals.Required < 2 {
		return ""
	}
	voters, approvals, rejections := map[string]bool{}, 0, 0
	for _, v := range q.Votes {
		if voters[v.By.ID] {
			return v.By.Name + " voted on twice"
		}
		voters[v.By.ID] = true
		if v.Value == fermata.Approve {
			approvals++
		} else {
			rejections++
		}
	}
	reached := approvals >= q.Approvals.Required || rejections > 0
	switch isAnswered := q.Status == fermata.Answered; {
	case isAnswered && !reached:
		return fmt.Sprintf("was decided by %d of %d people", approvals, q.Approvals.Required)
	case !isAnswered && reached:
		return fmt.Sprintf("is %s, though %d people approved and %d rejected", q.Status, approvals, rejections)
	default:
		return ""
	}
}
