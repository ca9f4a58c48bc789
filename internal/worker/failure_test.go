//go:build unix

package worker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/runner/command"
	"github.com/fermata-hq/fermata/internal/testkit"
	"github.com/fermata-hq/fermata/internal/worker"
)

// record is a log that can be read while it is written.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

// linesAbout returns the lines about a task, except those about the beginning of a run.
func (r *record) linesAbout(t *fermata.Task) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var lines []string
	for line := range strings.Lines(r.text.String()) {
		if strings.Contains(line, "task="+t.ID) && !strings.Contains(line, `msg="run a task"`) {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines
}

// TestTheLogOfAWorkerSaysWhyARunFailed: the log has one line about it, with a code and the reason.
func TestTheLogOfAWorkerSaysWhyARunFailed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	noProgram, err := json.Marshal(map[string]any{"command": []string{"/no/such/program"}})
	testkit.OK(t, err)
	missing, err := w.person.CreateTask(t.Context(), fermata.NewTask{Title: "Start nothing", Spec: noProgram})
	testkit.OK(t, err)
	slow, err := w.person.CreateTask(t.Context(), fermata.NewTask{Title: "Take too long", Spec: json.RawMessage(`{"command": ["sleep", "60"], "timeout": "50ms"}`)})
	testkit.OK(t, err)
	_, err = w.agent.AskOutside(t.Context(), client.OutsideQuestion{Ask: fermata.Ask{Title: "Deploy?", IdempotencyKey: "deploy"}})
	testkit.OK(t, err)
	cases := []struct {
		task         *fermata.Task
		code, reason string
	}{
		{w.task("End badly", `echo 'it does not work' >&2; exit 3`), "agent_failed", "exit status 3. it does not work"},
		{w.task("Say so", `printf '%s' '{"result":"failed","summary":"no space\nis left"}'`), "agent_failed", "no space is left"},
		{w.task("Ask for a second", `echo '{"result":"needs_input","question":{"question":"Which?","timeout":"1s"}}'`), "policy_violation", "the server refused the report: "},
		{w.task("Ask with a key of others", `echo '{"result":"needs_input","question":{"question":"Which?","idempotency_key":"deploy"}}'`), "idempotency_conflict", "belongs to another question"},
		{w.task("Wait for nothing", `echo '{"result":"blocked","blocked_by":["task_zzz"]}'`), "invalid_request", `there is no task \"task_zzz\"`},
		{slow, "run_timeout", "The run took longer than 50ms and was stopped."},
		{w.task("Change git", `git config core.editor true; `+completed), "git_config_changed", "the git configuration of its working copy or repository was changed"},
		{missing, "not_started", "The command could not be run: start it: "},
	}
	log := &record{}
	w.runLogged(log)
	for _, c := range cases {
		if got, err := w.person.Task(t.Context(), c.task.ID); err != nil || got.State != fermata.TaskFailed {
			t.Errorf("%s: the task is %+v, %v", c.task.Title, got, err)
		}
		lines := log.linesAbout(c.task)
		if len(lines) != 1 {
			t.Errorf("%s: the log has %d lines about it, want 1:\n%s", c.task.Title, len(lines), strings.Join(lines, "\n"))
			continue
		}
		for _, want := range []string{"level=WARN", `msg="a run failed"`, "run=run_", "code=" + c.code + " ", "reason=\"", c.reason} {
			if !strings.Contains(lines[0], want) {
				t.Errorf("%s: the log lacks %q:\n%s", c.task.Title, want, lines[0])
			}
		}
	}
}

// A run that the worker fails keeps what its command printed.
func TestAFailureKeepsWhatTheCommandPrinted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	slow, err := w.person.CreateTask(t.Context(), fermata.NewTask{
		Title: "Take too long", Spec: json.RawMessage(`{"command": ["sh", "-c", "echo out; echo err >&2; exec sleep 1000"], "timeout": "3s"}`),
	})
	testkit.OK(t, err)
	tampering := w.task("Change git", `echo out; echo err >&2; git config core.editor true; exit 3`)
	w.runLogged(&record{})
	for task, exitCode := range map[*fermata.Task]int{slow: -1, tampering: 3} {
		runs, err := w.person.Runs(t.Context(), task.ID)
		testkit.OK(t, err)
		var printed struct {
			ExitCode       int `json:"exit_code"`
			Output, Stderr string
		}
		if err := json.Unmarshal(runs[0].Details, &printed); err != nil || printed.ExitCode != exitCode || printed.Output != "out\n" || printed.Stderr != "err\n" {
			t.Errorf("%s: the details are %s (%v)", task.Title, runs[0].Details, err)
		}
	}
}

// earlierServer is a server that refuses the field reason of a result, as one of an older version.
type earlierServer struct{ worker.Server }

func (s earlierServer) Finish(ctx context.Context, runID string, f fermata.Finish) (*fermata.FinishReply, error) {
	if f.Reason != "" {
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "there is no field reason")
	}
	return s.Server.Finish(ctx, runID, f)
}

// A server of an older version gets the same failure without its reason.
func TestAnEarlierServerGetsNoReason(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	slow, err := w.person.CreateTask(t.Context(), fermata.NewTask{
		Title: "Take too long", Spec: json.RawMessage(`{"command": ["sleep", "1000"], "timeout": "50ms"}`),
	})
	testkit.OK(t, err)
	wk, err := worker.New(earlierServer{w.agent}, worker.Options{
		Name: "w1", Copies: w.copies, Once: true, Runners: []worker.Runner{command.NewShell(command.Options{Grace: 100 * time.Millisecond})},
	})
	testkit.OK(t, err)
	testkit.OK(t, wk.Run(t.Context()))
	got, err := w.person.Task(t.Context(), slow.ID)
	testkit.OK(t, err)
	runs, err := w.person.Runs(t.Context(), slow.ID)
	testkit.OK(t, err)
	if got.State != fermata.TaskFailed || got.Summary != "The run took longer than 50ms and was stopped." || len(runs[0].Details) == 0 {
		t.Errorf("the task is %s: %s; the details of its run are %q", got.State, got.Summary, runs[0].Details)
	}
}

// runLogged runs a worker with a log until there is nothing to do.
func (w *world) runLogged(log *record) {
	w.Helper()
	wk, err := worker.New(w.agent, worker.Options{
		Name: "w1", Copies: w.copies, Once: true, Logger: slog.New(slog.NewTextHandler(log, nil)),
		Runners: []worker.Runner{command.NewShell(command.Options{Grace: 100 * time.Millisecond})},
	})
	w.OK(err)
	w.OK(wk.Run(w.Context()))
}
