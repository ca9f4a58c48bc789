package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/fermata-hq/fermata"
	api "github.com/fermata-hq/fermata/client"
)

// listenCommand makes this program an agent that only listens.
const listenCommand = "agent-listens"

// runListeningAgent is an agent that reports the path of its inbox through a named pipe. Then it does nothing, not even
// when it is asked to stop.
func runListeningAgent(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%s takes 1 argument", listenCommand)
	}
	ignored := make(chan os.Signal, 1)
	signal.Notify(ignored, syscall.SIGTERM)
	pipe, err := os.OpenFile(args[0], os.O_WRONLY, 0) //nolint:gosec // the bench names its own pipe
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(pipe, "%s %d %s\n", os.Getenv("FERMATA_TASK"), os.Getpid(), os.Getenv("FERMATA_INBOX")); err != nil {
		return err
	}
	for range ignored {
	}
	return nil
}

// attentionBar limits how long a message may take to reach an agent, and how long the agent's processes may take to
// end.
const attentionBar = time.Second

// pollInterval is how often the measurement checks for a change.
const pollInterval = time.Millisecond

// attention measures how soon a message reaches an agent, and how soon the processes of a cancelled task have ended,
// with many agents at work.
func (b *bench) attention(ctx context.Context) error {
	return b.runOnEach(ctx, "attention", func(d *database, server *process) error { return b.attentionOn(ctx, d, server) })
}

func (b *bench) attentionOn(ctx context.Context, d *database, server *process) (err error) {
	agents, words := 200, 500
	if b.short {
		agents, words = 20, 50
	}
	reports, stop, err := b.startWorker(ctx, d, server, agents, listenCommand)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	c, err := api.New(server.url, d.tokens.person(0))
	if err != nil {
		return err
	}
	listeners, err := startListeners(ctx, c, reports, agents)
	if err != nil {
		return err
	}
	where := fmt.Sprintf("%s, %d agents at work", title(d.kind), agents)
	heard, err := sendMessages(ctx, c, listeners, words)
	if err != nil {
		return err
	}
	b.judgeAttention("message acknowledged to its words in the agent's inbox", where, heard)
	gone, err := cancelAll(ctx, c, listeners)
	if err != nil {
		return err
	}
	b.judgeAttention("cancel acknowledged to the agent's processes gone, which ignore SIGTERM", where, gone)
	return nil
}

func (b *bench) judgeAttention(what, where string, took []time.Duration) {
	p99 := quantile(took, 0.99)
	b.judge(what, where, fmt.Sprintf("p50 %s, p99 %s of %d", ms(median(took)), ms(p99), len(took)), "p99 ≤ 1 s", p99 <= attentionBar)
}

// listener is one agent at work.
type listener struct {
	task, inbox string
	pid         int
}

// startListeners creates tasks and returns their agents when all of them run.
func startListeners(ctx context.Context, c *api.Client, reports *bufio.Scanner, n int) ([]listener, error) {
	for i := range n {
		if _, err := c.CreateTask(ctx, fermata.NewTask{Title: fmt.Sprintf("Task %d", i)}); err != nil {
			return nil, err
		}
	}
	listeners := make([]listener, n)
	for i := range listeners {
		if !reports.Scan() {
			return nil, errors.Join(errors.New("the agents' pipe ended"), reports.Err())
		}
		if _, err := fmt.Sscan(reports.Text(), &listeners[i].task, &listeners[i].pid, &listeners[i].inbox); err != nil {
			return nil, err
		}
	}
	return listeners, nil
}

// sendMessages writes one message after the other to the agents in turn. It returns how long after its acknowledgement each
// message was in the agent's inbox.
func sendMessages(ctx context.Context, c *api.Client, listeners []listener, n int) ([]time.Duration, error) {
	took := make([]time.Duration, n)
	for i := range took {
		l, words := listeners[i%len(listeners)], fmt.Sprintf("words %d.", i)
		if _, err := c.PostMessage(ctx, l.task, words); err != nil {
			return nil, err
		}
		var err error
		took[i], err = awaitTrue(ctx, func() (bool, error) {
			data, err := os.ReadFile(l.inbox)
			if errors.Is(err, os.ErrNotExist) {
				return false, nil
			}
			return bytes.Contains(data, []byte(words)), err
		})
		if err != nil {
			return nil, fmt.Errorf("%q to %s: %w", words, l.task, err)
		}
	}
	return took, nil
}

// cancelAll cancels the tasks one after the other. It returns how long after its acknowledgement each process group had
// ended.
func cancelAll(ctx context.Context, c *api.Client, listeners []listener) ([]time.Duration, error) {
	took := make([]time.Duration, len(listeners))
	for i, l := range listeners {
		if _, err := c.CancelTask(ctx, l.task, "measured"); err != nil {
			return nil, err
		}
		var err error
		took[i], err = awaitTrue(ctx, func() (bool, error) {
			return errors.Is(syscall.Kill(-l.pid, 0), syscall.ESRCH), nil
		})
		if err != nil {
			return nil, fmt.Errorf("the agent of %s: %w", l.task, err)
		}
	}
	return took, nil
}

// awaitTrue returns how long it took until the condition was true. It gives up after half a minute.
func awaitTrue(ctx context.Context, condition func() (bool, error)) (time.Duration, error) {
	began := time.Now()
	for {
		if yes, err := condition(); yes || err != nil {
			return time.Since(began), err
		}
		if time.Since(began) > 30*time.Second {
			return 0, errors.New("nothing happened for 30 s")
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(pollInterval):
		}
	}
}
