package cli

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

type chatCommand struct {
	ID     string `arg:"" help:"The task, or a question of it."`
	Follow bool   `short:"f" help:"Where the input is no terminal: go on until the task has ended."`
}

func (chatCommand) Help() string {
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

func (c *chatCommand) Run(ctx context.Context, s *session) error {
	t, err := s.findTask(ctx, c.ID)
	if err != nil {
		return err
	}
	ch := &chat{s: s, task: t, thread: s.newThread(t.ID)}
	if s.canDrawScreen() {
		return ch.runFullScreen(ctx)
	}
	return ch.runLineMode(ctx, c.Follow || s.inTerm && !s.NoInput)
}

// canDrawScreen reports whether a person uses a terminal that the program can draw
// on.
func (s *session) canDrawScreen() bool {
	return s.inTerm && s.outTerm && !s.NoInput && !s.JSON && os.Getenv("TERM") != "dumb"
}

// chat is a conversation in the thread of a task.
type chat struct {
	s      *session
	task   *fermata.Task
	thread *thread
	// pendingSend sends an answer. It runs when the person types /yes.
	pendingSend func(context.Context) error
}

// runLineMode prints the thread and sends the lines of the input.
func (c *chat) runLineMode(ctx context.Context, follow bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if !follow {
		if err := eachEvent(ctx, c.s.client, client.EventQuery{TaskID: c.task.ID}, 0, c.eventPrinter(ctx, nil), nil); err != nil {
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
		if t, err := c.s.client.Task(ctx, c.task.ID); c.s.inTerm || err == nil && t.State.IsEnded() {
			cancel(errQuit)
		}
	}()
	err := c.s.client.Stream(ctx, client.StreamQuery{TaskID: c.task.ID, FromStart: true}, c.eventPrinter(ctx, closed))
	if errors.Is(err, errQuit) {
		return <-readErr
	}
	return err
}

// eventPrinter returns a function that prints each event. The function returns errQuit
// when the task has ended and the input is closed.
func (c *chat) eventPrinter(ctx context.Context, closed <-chan struct{}) func(*fermata.Event) error {
	return func(e *fermata.Event) error {
		x, err := c.thread.loadEntry(ctx, e)
		if err != nil || x == nil {
			return err
		}
		if c.s.JSON {
			err = c.s.writeJSONLine(x)
		} else {
			_, err = io.WriteString(c.s.out, c.thread.entryText(x, c.s.stdout()))
		}
		if err != nil || closed == nil || e.Type != fermata.EventTaskEnded {
			return err
		}
		t, err := c.s.client.Task(ctx, c.task.ID)
		if err != nil || !t.State.IsEnded() {
			return err
		}
		select {
		case <-closed:
			return errQuit
		default:
			return nil
		}
	}
}

// unsentError returns an error if an answer still waits for a yes.
func (c *chat) unsentError() error {
	if c.pendingSend == nil {
		return nil
	}
	c.pendingSend = nil
	return fermata.Errorf(fermata.CodeInvalidRequest, "nothing was sent: the answer waits for a yes").
		WithHint("say it on the next line: printf '/approve\\n/yes\\n' | fermata chat %s", shortID(c.task.ID))
}

// sendInput sends the lines of the input. It prints every refusal, and returns the
// first one.
func (c *chat) sendInput(ctx context.Context) error {
	var first error
	for ended := c.s.NoInput; !ended; {
		line, err := c.s.nextLine(ctx)
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
		if errors.Is(err, errQuit) {
			break
		}
		if err != nil {
			c.s.printError(err)
			if first == nil {
				first = exitError(exitCode(fermata.CodeOf(err)))
			}
		}
	}
	return first
}
