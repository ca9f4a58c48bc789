package chat

import (
	"context"
	"errors"
	"io"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

// Command is fermata chat: it shows the thread of a task live and sends what a person types.
type Command struct {
	ID     string `arg:"" help:"The task, or a question of it."`
	Follow bool   `short:"f" help:"Where the input is no terminal: go on until the task has ended."`
}

// Help returns the description and the examples that --help prints.
func (Command) Help() string {
	return `The task's thread: messages, questions, answers, clarifications and progress in one timeline, live. A line that you type is a message: a waiting agent goes on with it, a running one gets it at its next contact.

    /answer VALUE      answer the pending question
    /approve, /reject  decide on the pending approval; what follows is the comment
    /clarify TEXT      ask the agent back; the question stays open
    /decide [TEXT]     close the question without an answer: the agent decides
    /show              show the pending question once more
    /quit              leave

Where the input is no terminal, the thread is printed and each line of the input is sent. With --json every entry is a document on a line of its own.

Examples:

    fermata chat 3f9k2a
    echo "Use the staging database" | fermata chat 3f9k2a
    fermata chat 3f9k2a --follow --json < /dev/null`
}

// Run runs the command.
func (c *Command) Run(ctx context.Context, s *session.Session) error {
	t, err := s.FindTask(ctx, c.ID)
	if err != nil {
		return err
	}
	ch := &conversation{s: s, task: t, thread: newThread(s, t.ID)}
	if s.CanDrawScreen() {
		return ch.runFullScreen(ctx)
	}
	return ch.runLineMode(ctx, c.Follow || s.InTerm && !s.NoInput)
}

// conversation is a conversation in the thread of a task.
type conversation struct {
	s      *session.Session
	task   *fermata.Task
	thread *thread
	// pendingSend sends an answer. It runs when the person types /yes.
	pendingSend func(context.Context) error
}

// runLineMode prints the thread and sends the lines of the input.
func (c *conversation) runLineMode(ctx context.Context, follow bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if !follow {
		if err := session.EachEvent(ctx, c.s.Client, client.EventQuery{TaskID: c.task.ID}, 0, c.eventPrinter(ctx, nil), nil); err != nil {
			return err
		}
		return c.sendInput(ctx)
	}
	closed := make(chan struct{})
	readErr := make(chan error, 1)
	go func() {
		err := c.sendInput(ctx)
		close(closed)
		readErr <- err
		if t, err := c.s.Client.Task(ctx, c.task.ID); c.s.InTerm || err == nil && t.State.IsEnded() {
			cancel(session.ErrQuit)
		}
	}()
	err := c.s.Client.Stream(ctx, client.StreamQuery{TaskID: c.task.ID, FromStart: true}, c.eventPrinter(ctx, closed))
	if errors.Is(err, session.ErrQuit) {
		return <-readErr
	}
	return err
}

// eventPrinter returns a function that prints each event. The function returns session.ErrQuit
// when the task has ended and the input is closed.
func (c *conversation) eventPrinter(ctx context.Context, closed <-chan struct{}) func(*fermata.Event) error {
	return func(e *fermata.Event) error {
		x, err := c.thread.loadEntry(ctx, e)
		if err != nil || x == nil {
			return err
		}
		if c.s.JSON {
			err = c.s.WriteJSONLine(x)
		} else {
			_, err = io.WriteString(c.s.Out, c.thread.entryText(x, c.s.Stdout()))
		}
		if err != nil || closed == nil || e.Type != fermata.EventTaskEnded {
			return err
		}
		t, err := c.s.Client.Task(ctx, c.task.ID)
		if err != nil || !t.State.IsEnded() {
			return err
		}
		select {
		case <-closed:
			return session.ErrQuit
		default:
			return nil
		}
	}
}

// unsentError returns an error if an answer still waits for a yes.
func (c *conversation) unsentError() error {
	if c.pendingSend == nil {
		return nil
	}
	c.pendingSend = nil
	return fermata.Errorf(fermata.CodeInvalidRequest, "nothing was sent: the answer waits for a yes").
		WithHint("say it on the next line: printf '/approve\\n/yes\\n' | fermata chat %s", terminal.ShortID(c.task.ID))
}

// sendInput sends the lines of the input. It prints every refusal, and returns the
// first one.
func (c *conversation) sendInput(ctx context.Context) error {
	var first error
	for ended := c.s.NoInput; !ended; {
		line, err := c.s.NextLine(ctx)
		switch {
		case errors.Is(err, io.EOF):
			ended, err = true, c.unsentError()
		case err == nil:
			err = c.handleLine(ctx, line)
		case fermata.CodeOf(err) == fermata.CodeInvalidRequest:
			c.pendingSend = nil
		default:
			return err
		}
		if errors.Is(err, session.ErrQuit) {
			break
		}
		if err != nil {
			c.s.PrintError(err)
			if first == nil {
				first = session.ExitError(session.ExitCode(fermata.CodeOf(err)))
			}
		}
	}
	return first
}
