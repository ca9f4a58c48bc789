package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/render"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

type logCommand struct {
	ID     string `arg:"" help:"A task, a question of it, or a run."`
	Number string `name:"run" xor:"runs" placeholder:"N" help:"The run with this number, or this id, instead of the latest one."`
	All    bool   `xor:"runs" help:"Every run of the task, oldest first."`
	Follow bool   `short:"f" help:"Go on with what is printed from now on, over the task's next runs, until the task has ended."`
	Raw    bool   `help:"Print control characters as they are, also on a terminal. Where the output is no terminal they are never changed."`
}

func (logCommand) Help() string {
	return `What an agent printed. Which run it is stands on standard error. A terminal shows control characters as their numbers, so that no agent draws on your screen.

It ends with 0, also when the agent failed: fermata show says how the task ended.

With --json every piece is a document on a line of its own: run_id, attempt, offset, text, at.

Examples:

    fermata log 3f9k2a
    fermata log 3f9k2a --follow
    fermata log 3f9k2a --run 1 > first.log
    fermata log 3f9k2a --all --json`
}

func (c *logCommand) Run(ctx context.Context, s *session.Session) error {
	if c.isRun() {
		if err := session.CheckUnreadFlags("a run", map[string]bool{"--all": c.All, "--run": c.Number != ""}); err != nil {
			return err
		}
	}
	t, runs, err := c.readRuns(ctx, s)
	if err != nil {
		return err
	}
	l := &logReader{s: s, task: t, follow: c.Follow, raw: c.Raw || !s.OutTerm}
	for _, run := range runs {
		err := l.printRun(ctx, run)
		if len(runs) > 1 && fermata.CodeOf(err) == fermata.CodeNotFound {
			// The other runs may still have their logs.
			s.Stderr().Line("%s", terminal.Clean(err.Error()))
			continue
		}
		if err != nil {
			return err
		}
	}
	if c.Number != "" || c.isRun() {
		return nil
	}
	if !c.Follow {
		if len(runs) == 0 {
			s.Stderr().Line("no run has begun: the task is %s; fermata log %s --follow waits for one", render.StateText(t), terminal.ShortID(t.ID))
		}
		return nil
	}
	return l.followRuns(ctx)
}

// isRun reports whether the id is the id of a run.
func (c *logCommand) isRun() bool { return strings.HasPrefix(c.ID, fermata.PrefixRun+"_") }

// readRuns returns the task and the requested runs.
func (c *logCommand) readRuns(ctx context.Context, s *session.Session) (*fermata.Task, []*fermata.Run, error) {
	server, err := s.Server()
	if err != nil {
		return nil, nil, err
	}
	if c.isRun() {
		run, err := server.Run(ctx, c.ID)
		if err != nil {
			return nil, nil, err
		}
		t, err := server.Task(ctx, run.TaskID)
		return t, []*fermata.Run{run}, err
	}
	t, err := s.FindTask(ctx, c.ID)
	if err != nil {
		return nil, nil, err
	}
	all, err := server.Runs(ctx, t.ID)
	if err != nil || c.All || len(all) == 0 && c.Number == "" {
		return t, all, err
	}
	run, err := c.chooseRun(t, all)
	return t, []*fermata.Run{run}, err
}

// chooseRun returns the run with the number or id. If the command names none, it returns the latest run.
func (c *logCommand) chooseRun(t *fermata.Task, all []*fermata.Run) (*fermata.Run, error) {
	if c.Number == "" {
		return all[len(all)-1], nil
	}
	for i, run := range all {
		if strconv.Itoa(i+1) == c.Number || run.ID == c.Number || len(c.Number) > 3 && strings.HasSuffix(run.ID, c.Number) {
			return run, nil
		}
	}
	return nil, fermata.Errorf(fermata.CodeNotFound, "task %s has no run %q", t.ID, c.Number).
		WithHint("it has %d; fermata log %s --all prints every one", len(all), terminal.ShortID(t.ID))
}

// logReader prints the logs of a task's runs.
type logReader struct {
	s      *session.Session
	task   *fermata.Task
	follow bool
	raw    bool
	// attempt is the number of the last run that was printed.
	attempt int
	// partial is the beginning of a line whose rest may still come.
	partial string
}

// logEntry is a piece of output as JSON.
type logEntry struct {
	RunID   string `json:"run_id"`
	Attempt int    `json:"attempt"`
	fermata.LogChunk
}

// printRun prints the log of a run: the present output, or with follow the output until the run ends.
func (l *logReader) printRun(ctx context.Context, run *fermata.Run) error {
	l.attempt = run.Attempt
	if !l.s.JSON {
		l.s.Stderr().Line("%s", l.s.Stderr().Dim(fmt.Sprintf("run %d · %s · %s", run.Attempt, run.ID, runText(run))))
	}
	wait := time.Duration(0)
	for offset := int64(0); ; {
		chunks, next, ended, err := l.readChunks(ctx, run.ID, offset, wait)
		if err != nil {
			return err
		}
		for _, chunk := range chunks {
			if err := l.writeChunk(run, chunk); err != nil {
				return err
			}
		}
		offset = next
		if ended || len(chunks) == 0 && !l.follow {
			return l.flush("\n")
		}
		if len(chunks) == 0 {
			if err := l.flush(""); err != nil {
				return err
			}
		}
		if l.follow && len(chunks) == 0 {
			wait = maxLogWait
		}
	}
}

// readChunks reads the output of a run from an offset on. With follow it waits for a server that is away.
func (l *logReader) readChunks(ctx context.Context, run string, offset int64, wait time.Duration) (chunks []fermata.LogChunk, next int64, ended bool, err error) {
	read := func() error {
		chunks, next, ended, err = l.s.Client.RunLog(ctx, run, offset, wait)
		return err
	}
	if l.follow {
		err = l.s.RetryUntilUp(ctx, read)
	} else {
		err = read()
	}
	return chunks, next, ended, err
}

// maxLogWait is the longest time that one call waits for more output.
const maxLogWait = 25 * time.Second

// runText returns the state of a run as text.
func runText(run *fermata.Run) string {
	if run.State == fermata.RunRunning {
		return "running on " + terminal.OneLine(run.Worker)
	}
	if run.Result == "" && run.State == fermata.RunFinished && run.Summary != "" {
		return terminal.OneLine(run.Summary) // the summary says who stopped the run
	}
	return cmp.Or(string(run.Result), string(run.State))
}

// writeChunk prints a piece of output. On a terminal it prints only whole lines, because a chunk may end within a
// character.
func (l *logReader) writeChunk(run *fermata.Run, chunk fermata.LogChunk) error {
	if l.s.JSON {
		return l.s.WriteJSONLine(logEntry{run.ID, run.Attempt, chunk})
	}
	if l.raw {
		_, err := io.WriteString(l.s.Out, chunk.Text)
		return err
	}
	text := l.partial + chunk.Text
	end := strings.LastIndexByte(text, '\n') + 1
	l.partial = text[end:]
	_, err := io.WriteString(l.s.Out, terminal.Clean(text[:end]))
	return err
}

// flush prints the beginning of a line that has no line end.
func (l *logReader) flush(end string) error {
	if l.partial == "" {
		return nil
	}
	text := terminal.Clean(l.partial) + end
	l.partial = ""
	_, err := io.WriteString(l.s.Out, text)
	return err
}

// followRuns prints the later runs until the task has ended.
func (l *logReader) followRuns(ctx context.Context) error {
	for {
		var run *fermata.Run
		err := l.s.RetryUntilUp(ctx, func() (err error) {
			run, err = l.awaitNextRun(ctx)
			return err
		})
		if err != nil || run == nil {
			return err
		}
		if err := l.printRun(ctx, run); err != nil {
			return err
		}
	}
}

// awaitNextRun waits for the next run of the task. It returns nil if the task has ended.
func (l *logReader) awaitNextRun(ctx context.Context) (*fermata.Run, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events := l.s.Listen(ctx, l.task.ID)
	printedState := fermata.TaskState("")
	for {
		select {
		case err := <-events.Ended:
			return nil, err
		case <-events.Dropped:
			l.s.Stderr().Line("%s", session.ConnectionLostText)
			continue
		case <-events.Opened:
		case <-events.Events:
			events.Drain()
		}
		run, state, err := l.nextRunAndState(ctx)
		if err != nil || run != nil || state.IsEnded() {
			return run, err
		}
		if state != printedState && !l.s.JSON {
			l.s.Stderr().Line("%s", l.s.Stderr().Dim("the task is "+string(state)))
			printedState = state
		}
	}
}

// nextRunAndState returns the first run after the one that was printed last, and the state of the task.
func (l *logReader) nextRunAndState(ctx context.Context) (*fermata.Run, fermata.TaskState, error) {
	// Read the state first: a task that has ended starts no run.
	t, err := l.s.Client.Task(ctx, l.task.ID)
	if err != nil {
		return nil, "", err
	}
	runs, err := l.s.Client.Runs(ctx, t.ID)
	if err != nil {
		return nil, "", err
	}
	for _, run := range runs {
		if run.Attempt > l.attempt {
			return run, t.State, nil
		}
	}
	return nil, t.State, nil
}
