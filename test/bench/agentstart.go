package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/fermata-hq/fermata"
	api "github.com/fermata-hq/fermata/client"
)

// agentCommand makes this program an agent of the real worker.
const agentCommand = "agent-process"

// runAgentProcess is an agent that reports through a named pipe when it started. It asks, and completes when it is
// resumed.
func runAgentProcess(args []string) error {
	at := time.Now()
	if len(args) != 1 {
		return fmt.Errorf("%s takes 1 argument", agentCommand)
	}
	pipe, err := os.OpenFile(args[0], os.O_WRONLY, 0) //nolint:gosec // the bench names its own pipe
	if err != nil {
		return err
	}
	resumed := os.Getenv("FERMATA_RESUMED")
	if _, err := fmt.Fprintf(pipe, "%s %s %d\n", os.Getenv("FERMATA_TASK"), resumed, at.UnixNano()); err != nil {
		return err
	}
	if resumed == "1" {
		fmt.Println(`{"result":"completed"}`)
		return nil
	}
	fmt.Println(`{"result":"needs_input","question":{"question":"Go on?","options":["yes","no"],"timeout":"1d"}}`)
	return nil
}

// startBar is the longest time that an idle worker may take from an answer to the start of the agent.
const startBar = 150 * time.Millisecond

// agentStart measures the time from an answer's acknowledgement to the resumed agent's first instruction, with one idle
// worker.
func (b *bench) agentStart(ctx context.Context) error {
	return b.runOnEach(ctx, "agentstart", func(d *database, server *process) error { return b.agentStartOn(ctx, d, server) })
}

func (b *bench) agentStartOn(ctx context.Context, d *database, server *process) (err error) {
	reports, stop, err := b.startWorker(ctx, d, server, 1, agentCommand)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	n := 200
	if b.short {
		n = 50
	}
	took, err := resumeProcesses(ctx, server.url, d.tokens.person(0), reports, n)
	if err != nil {
		return err
	}
	p50, p99 := quantile(took, 0.5), quantile(took, 0.99)
	b.judge("answer acknowledged to agent process started", title(d.kind)+", one idle worker",
		fmt.Sprintf("p50 %s, p99 %s of %d", ms(p50), ms(p99), n), "p99 ≤ 150 ms", p99 <= startBar)
	return nil
}

// startWorker starts the real worker. Its agents are this program with a special command, which gets the name of the
// pipe for the reports.
func (b *bench) startWorker(ctx context.Context, d *database, server *process, concurrency int, command string) (reports *bufio.Scanner, stop func() error, err error) {
	pipe := filepath.Join(b.folder, command+"_"+d.kind+".pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		return nil, nil, err
	}
	// The pipe is opened for both ends, so that it does not end between two agents.
	file, err := os.OpenFile(pipe, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	cmd := exec.CommandContext(ctx, b.program, "worker", "--name", "bench", "--folder", filepath.Join(b.folder, "work"),
		"--log-level", "warn", "--concurrency", strconv.Itoa(concurrency), "--", self, command, pipe)
	cmd.Env = append(os.Environ(), "FERMATA_URL="+server.url, "FERMATA_TOKEN="+d.tokens.agent(0))
	cmd.Stderr = os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 15 * time.Second
	if err := cmd.Start(); err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return bufio.NewScanner(file), func() error {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			return errors.Join(err, file.Close())
		}
		return errors.Join(cmd.Wait(), file.Close())
	}, nil
}

// resumeProcesses runs n tasks one after another: each asks a question and gets an answer. It returns how long after
// the answer's acknowledgement each agent ran again.
func resumeProcesses(ctx context.Context, url, token string, reports *bufio.Scanner, n int) ([]time.Duration, error) {
	c, err := api.New(url, token)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	asked, ended := make(chan string, n), make(chan error, 1)
	go func() {
		ended <- c.Stream(ctx, api.StreamQuery{FromStart: true, Types: []fermata.EventType{fermata.EventQuestionAsked}},
			func(e *fermata.Event) error { asked <- e.QuestionID; return nil })
	}()
	took := make([]time.Duration, 0, n)
	for i := range n {
		t, err := c.CreateTask(ctx, fermata.NewTask{Title: fmt.Sprintf("Task %d", i)})
		if err != nil {
			return nil, err
		}
		if _, err := processStart(reports, t.ID, "0"); err != nil {
			return nil, err
		}
		select {
		case id := <-asked:
			_, err = c.Answer(ctx, id, fermata.Answer{Answer: "yes"})
		case err = <-ended:
		}
		acknowledged := time.Now()
		if err != nil {
			return nil, err
		}
		at, err := processStart(reports, t.ID, "1")
		if err != nil {
			return nil, err
		}
		took = append(took, max(0, at.Sub(acknowledged)))
	}
	slices.Sort(took)
	return took, nil
}

// processStart reads when an agent of the task started.
func processStart(reports *bufio.Scanner, task, resumed string) (time.Time, error) {
	if !reports.Scan() {
		return time.Time{}, errors.Join(errors.New("the agents' pipe ended"), reports.Err())
	}
	var gotTask, gotResumed string
	var nanos int64
	if _, err := fmt.Sscan(reports.Text(), &gotTask, &gotResumed, &nanos); err != nil {
		return time.Time{}, err
	}
	if gotTask != task || gotResumed != resumed {
		return time.Time{}, fmt.Errorf("an agent reported %q, expected task %s, resumed %s", reports.Text(), task, resumed)
	}
	return time.Unix(0, nanos), nil
}
