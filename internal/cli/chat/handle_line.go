package chat

import (
	"context"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/answer"
	"github.com/fermata-hq/fermata/internal/cli/render"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

// handleLine runs the command of a line that begins with a slash, and sends any other line as a message.
func (c *conversation) handleLine(ctx context.Context, line string) error {
	line = strings.TrimSpace(line)
	pendingSend := c.pendingSend
	c.pendingSend = nil
	if line == "" {
		return nil
	}
	if text, ok := strings.CutPrefix(line, "//"); ok {
		return c.postMessage(ctx, "/"+text)
	}
	if !strings.HasPrefix(line, "/") {
		return c.postMessage(ctx, line)
	}
	verb, rest, _ := strings.Cut(line[1:], " ")
	rest = strings.TrimSpace(rest)
	if rest != "" && slices.Contains(bareCommands, verb) {
		return session.InputErrorf("/%s takes no words, nothing was sent", verb)
	}
	switch verb {
	case "quit", "q", "exit":
		return session.ErrQuit
	case "yes", "y":
		if pendingSend == nil {
			return session.InputErrorf("nothing waits for a yes")
		}
		return pendingSend(ctx)
	case "show":
		return c.showQuestion(ctx)
	case "answer", "a":
		return c.answerQuestion(ctx, rest)
	case "approve":
		return c.decide(ctx, fermata.Approve, rest)
	case "reject":
		return c.decide(ctx, fermata.Reject, rest)
	case "clarify", "c":
		return c.clarify(ctx, rest)
	case "decide", "d":
		_, err := c.s.Client.ResumeTask(ctx, c.task.ID, rest)
		return err
	default:
		return fermata.Errorf(fermata.CodeInvalidRequest, "there is no command /%s, nothing was sent", verb).
			WithHint("/answer /approve /reject /clarify /decide /show /quit; a message that begins with a slash begins with two")
	}
}

// bareCommands are the commands without arguments. Words after such a command would be lost.
var bareCommands = []string{"quit", "q", "exit", "yes", "y", "show"}

func (c *conversation) postMessage(ctx context.Context, text string) error {
	m, err := c.s.Client.PostMessage(ctx, c.task.ID, text)
	if err == nil {
		printMessageReceipt(c.s, m)
	}
	return err
}

// pendingQuestion returns the question that the task waits for.
func (c *conversation) pendingQuestion(ctx context.Context) (*fermata.Question, error) {
	return c.s.FindQuestion(ctx, c.task.ID)
}

func (c *conversation) showQuestion(ctx context.Context) error {
	q, err := c.pendingQuestion(ctx)
	if err == nil {
		render.PrintQuestion(c.s.Stderr(), q, c.s.Now())
	}
	return err
}

func (c *conversation) clarify(ctx context.Context, text string) error {
	q, err := c.pendingQuestion(ctx)
	if err != nil {
		return err
	}
	_, err = c.s.Client.Clarify(ctx, q.ID, text)
	return err
}

// answerQuestion answers the pending question with the typed text. The whole text answers a single item; several items
// need key=value, or a word for each.
func (c *conversation) answerQuestion(ctx context.Context, text string) error {
	q, err := c.pendingQuestion(ctx)
	if err != nil {
		return err
	}
	if text == "" {
		return session.InputErrorf("write the answer behind /answer")
	}
	words, pairs := []string{text}, []string(nil)
	if len(q.Items) > 1 {
		words = strings.Fields(text)
		if key, _, ok := strings.Cut(words[0], "="); ok && q.Item(key) != nil {
			words, pairs = nil, words
		}
	}
	values, err := answer.Parse(q, words, pairs)
	if err != nil {
		return err
	}
	return c.sendOrHold(ctx, q, values, "")
}

func (c *conversation) decide(ctx context.Context, choice, comment string) error {
	q, err := c.pendingQuestion(ctx)
	if err != nil {
		return err
	}
	if q.Type != fermata.Approval {
		return fermata.Errorf(fermata.CodeInvalidRequest, "%s asks for no approval, it is %s", q.ID, q.Type).WithHint("/answer answers it")
	}
	return c.sendOrHold(ctx, q, map[string]any{q.Items[0].Key: choice}, comment)
}

// sendOrHold sends an answer. If the answer approves or is dangerous, sendOrHold only shows it. Then /yes sends it.
func (c *conversation) sendOrHold(ctx context.Context, q *fermata.Question, values map[string]any, comment string) error {
	if err := answer.CheckActionHash(q, ""); err != nil {
		return err
	}
	a := answer.New(q, values)
	a.Comment = comment
	send := func(ctx context.Context) error {
		_, err := c.s.Client.Answer(ctx, q.ID, a)
		return err
	}
	if !answer.NeedsConsent(q, values) {
		return send(ctx)
	}
	render.PrintQuestion(c.s.Stderr(), q, c.s.Now())
	c.s.Stderr().Line("\n%s: /yes sends it", terminal.OneLine(render.ValuesText(values)))
	c.pendingSend = send
	return nil
}
