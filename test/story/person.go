package story

import (
	"errors"
	"fmt"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

// answerQuestions makes a person answer questions, and now and then cancel one.
func (s *Story) answerQuestions(c *client.Client, handle string) {
	for n := 0; ; n++ {
		var id string
		select {
		case id = <-s.questions:
		case <-s.ctx.Done():
			return
		}
		var q *fermata.Question
		var err error
		mine := end{string(fermata.Answered), fmt.Sprintf("%s says %d", handle, n)}
		if s.random.Chance(5) {
			mine = end{status: string(fermata.Cancelled)}
			q, err = c.CancelQuestion(s.ctx, id, "no longer needed")
		} else {
			q, err = c.Answer(s.ctx, id, fermata.Answer{Answer: mine.value})
		}
		lost, isError := errors.AsType[*fermata.Error](err)
		switch {
		case err == nil:
			s.recordClosed(id, mine, endOf(q.Resolution))
		case isError && lost.Code == fermata.CodeQuestionClosed && lost.Question != nil:
			s.recordClosed(id, endOf(lost.Question.Resolution), endOf(lost.Question.Resolution))
		default:
			s.failTest("close question %s: %v", id, err)
		}
	}
}

// recordClosed records how a question closed, according to a server. Everything that servers say about a question must agree.
func (s *Story) recordClosed(id string, want, said end) {
	s.record(func(l *log) {
		if said != want {
			s.failTest("question %s: %v was acknowledged with %v", id, want, said)
		}
		before, known := l.ends[id]
		if known && before != said {
			s.failTest("question %s was said to have ended with %v, and with %v", id, before, said)
		}
		l.ends[id] = said
		l.newEnds = append(l.newEnds, id)
	})
}

func endOf(r *fermata.Resolution) end {
	if r == nil {
		return end{status: string(fermata.Pending)}
	}
	value, _ := r.Answer.(string)
	return end{string(r.Status), value}
}
