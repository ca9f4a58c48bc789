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
	ch := &chat{s: s, task: t, thread: s.thread(t.ID)}
	if s.fullScreen() {
		return ch.screen(ctx)
	}
	return ch.lines(ctx, c.Follow || s.inTerm && !s.NoInput)
}

// fullScreen reports whether a person uses a terminal that the program can draw
// on.
func (s *session) fullScreen() bool {
	return s.inTerm && s.outTerm && !s.NoInput && !s.JSON && os.Getenv("TERM") != "dumb"
}

// chat is a conversation in the thread of a task.
type chat struct {
	s      *session
	task   *fermata.Task
	thread *thread
	// held sends an answer. It runs when the person types /yes.
	held func(context.Context) error
}

// lines prints the thread and sends the lines of the input.
func (c *chat) lines(ctx context.Context, follow bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if !follow {
		if err := eachEvent(ctx, c.s.client, client.EventQuery{TaskID: c.task.ID}, 0, c.print(ctx, nil), nil); err != nil {
			return err
		}
		return c.read(ctx)
	}
	closed := make(chan struct{})
	read := make(chan error, 1)
	go func() {
		err := c.read(ctx)
		close(closed)
		read <- err
		if t, err := c.s.client.Task(ctx, c.task.ID); c.s.inTerm || err == nil && t.State.IsEnded() {
			cancel(errQuit)
		}
	}()
	err := c.s.client.Stream(ctx, client.StreamQuery{TaskID: c.task.ID, FromStart: true}, c.print(ctx, closed))
	if errors.Is(err, errQuit) {
		return <-read
	}
	return err
}

// print returns a function that prints each event. The function returns errQuit
// when the task has ended and the input is closed.
func (c *chat) print(ctx context.Context, closed <-chan struct{}) func(*fermata.Event) error {
	return func(e *fermata.Event) error {
		x, err := c.thread.entry(ctx, e)
		if err != nil || x == nil {
			return err
		}
		if c.s.JSON {
			err = c.s.jsonLine(x)
		} else {
			_, err = io.WriteString(c.s.out, c.thread.text(x, c.s.data()))
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
	if c.held == nil {
		return nil
	}
	c.held = nil
	return fermata.Errorf(fermata.CodeInvalidRequest, "nothing was sent: the answer waits for a yes").
		WithHint("say it on the next line: printf '/approve\\n/yes\\n' | fermata chat %s", shortID(c.task.ID))
}

// read sends the lines of the input. It prints every refusal, and returns the
// first one.
func (c *chat) read(ctx context.Context) error {
	var first error
	for ended := c.s.NoInput; !ended; {
		line, err := c.s.nextLine(ctx)
		switch {
		case errors.Is(err, io.EOF):
			ended, err = true, c.unsentError()
		case err == nil:
			err = c.say(ctx, line)
		case fermata.CodeOf(err) == fermata.CodeInvalidRequest:
			c.held = nil
		default:
			return err
		}
		if errors.Is(err, errQuit) {
			break
		}
		if err != nil {
			c.s.complain(err)
			if first == nil {
				first = outcome(exitCode(fermata.CodeOf(err)))
			}
		}
	}
	return first
}
