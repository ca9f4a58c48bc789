package docs_test

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/test/patience"
)

// person answers the question of a command that waits for the answer, while the command runs. The person approves, says
// yes, or takes the first option.
type person struct{ done chan error }

// startPerson starts a person if the command waits for one.
func (s *shell) startPerson(c command) *person {
	s.t.Helper()
	title := waitedQuestion(c.statement)
	if title == "" {
		return nil
	}
	p := &person{done: make(chan error, 1)}
	go func() {
		err := s.answerQuestion(title)
		if err != nil {
			s.end() // the command would wait for ever
		}
		p.done <- err
	}()
	return p
}

// waitedQuestion returns the text of the question on whose answer a command waits, and "" if it waits for none.
func waitedQuestion(statement *syntax.Stmt) string {
	title := ""
	syntax.Walk(statement, func(node syntax.Node) bool {
		if call, isCall := node.(*syntax.CallExpr); isCall {
			words := wordsOf(call)
			if len(words) > 2 && words[0] == "fermata" && words[1] == "ask" && slices.Contains(words, "--wait") {
				title = words[2]
			}
		}
		return true
	})
	return title
}

// answerQuestion waits for the question and answers it, in the remote service if the page has one.
func (s *shell) answerQuestion(title string) error {
	if s.service.answer != nil {
		return s.service.answer(s.ctx)
	}
	c, err := client.New("http://"+s.address, "")
	if err != nil {
		return err
	}
	var asked *fermata.Question
	patience.Until(func() bool {
		open, _, problem := c.Questions(s.ctx, client.QuestionQuery{Status: fermata.Pending, Q: title})
		if err = problem; len(open) > 0 {
			asked = open[0]
		}
		return asked != nil || s.ctx.Err() != nil
	})
	if asked == nil {
		return err
	}
	a := fermata.Answer{Answer: "as you like"}
	switch item := asked.Items[0]; {
	case item.ResponseType == fermata.ResponseBoolean:
		a.Answer = true
	case asked.Type == fermata.Approval:
		a = fermata.Answer{Answer: "approve", ActionHash: asked.ActionHash}
	case len(item.Options) > 0:
		a.Answer = item.Options[0].Value
	}
	_, err = c.Answer(s.ctx, asked.ID, a)
	return err
}

// wait waits until the person has answered. Without a person it returns at once.
func (p *person) wait() error {
	if p == nil {
		return nil
	}
	return <-p.done
}
