//go:build unix

// Package runnertest is the test suite that every runner has to pass. The tests of a runner provide agents that behave
// in the ways named here, and the suite drives them as a worker would.
package runnertest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/process"
	"github.com/fermata-hq/fermata/internal/worker"
	"github.com/fermata-hq/fermata/test/patience"
)

// Behaviour is how an agent of the suite behaves. Its working directory holds the named pipe "alive". Where a behaviour
// says so, the agent and its children keep the pipe open for writing.
type Behaviour string

// The behaviours.
const (
	// HandsBack writes its hand-over to the file handed.json: title, run, attempt, resumed and text. Then it completes
	// with the summary "done".
	HandsBack Behaviour = "hands back"
	// Talks writes "hello" and "oops" as its output, and completes.
	Talks Behaviour = "talks"
	// Steps reports the progress "half way", 1 of 2, and completes.
	Steps Behaviour = "steps"
	// EndsSilently ends well without reporting a result.
	EndsSilently Behaviour = "ends silently"
	// Asks ends with needs_input, the question "Which one?", the session "s-1" and the checkpoint {"n":1}. An agent
	// that asks with the server's own tools has asked there, and returns neither question nor checkpoint.
	Asks Behaviour = "asks"
	// AsksInWords ends well, with the report {"status":"needs_input","question":"Which one?"} as the last line of its
	// last message.
	AsksInWords Behaviour = "asks in words"
	// Fails ends with an error after it wrote "no space left".
	Fails Behaviour = "fails"
	// NeverBegins ends with an error before it reads its hand-over: its program cannot be started, or ends at once.
	NeverBegins Behaviour = "never begins"
	// Babbles writes zero bytes, broken UTF-8 and three million characters without a line end. Then it completes with
	// the summary "done".
	Babbles Behaviour = "babbles"
	// Hangs starts a child and waits for ever, both with the pipe open. The child writes "ready" into it.
	Hangs Behaviour = "hangs"
	// IgnoresStop is like Hangs, but neither process stops when asked to.
	IgnoresStop Behaviour = "is deaf"
	// IgnoresStopLonger is IgnoresStop with a long grace.
	IgnoresStopLonger Behaviour = "stays deaf"
	// StopsWell writes "ready" into the pipe. When it is asked to stop, it creates the file "stopped" and ends.
	StopsWell Behaviour = "stops well"
	// Listens writes "ready" into the pipe, waits for a message and completes with its text as the summary.
	Listens Behaviour = "listens"
	// LeavesChild completes, and leaves a child behind that holds the pipe and its output open.
	LeavesChild Behaviour = "leaves a child"
)

// Grace returns how long a runner of the suite gives its agent to stop. It is long enough for an agent that stops, even
// on a busy machine, and short for an agent that does not.
func (b Behaviour) Grace() time.Duration {
	switch b {
	case Asks, Listens, StopsWell:
		return time.Minute
	case IgnoresStopLonger:
		return 2 * patience.Limit() // longer than any test waits, so a test that waits for the grace to end fails
	default:
		return 800 * time.Millisecond
	}
}

// Run tests a runner. newRunner returns a runner whose agent has the behaviour b, and that has the grace of b.
func Run(t *testing.T, newRunner func(t *testing.T, b Behaviour) worker.Runner) {
	for name, test := range map[string]func(*testing.T, func(Behaviour) *agentRun){
		"HandOver": testHandOver, "Written": testWritten, "NeverBegins": testNeverBegins, "Resume": testResume, "Output": testOutput, "Progress": testProgress,
		"EndsSilently": testEndsSilently, "NeedsInput": testNeedsInput, "AsksInWords": testAsksInWords, "Failure": testFailure, "Garbage": testGarbage,
		"Cancel": testCancel, "CancelDeaf": testCancelDeaf, "CancelAtOnce": testCancelAtOnce, "HurryUp": testHurryUp, "StopsWell": testStopsWell, "Timeout": testTimeout,
		"Inbox": testInbox, "LeftBehind": testLeftBehind, "CancelledBefore": testCancelledBefore,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, func(b Behaviour) *agentRun { return newAgentRun(t, newRunner(t, b)) })
		})
	}
}

func testHandOver(t *testing.T, play func(Behaviour) *agentRun) {
	s := play(HandsBack)
	fin := s.run(t.Context())
	s.wantCompleted(fin, "done")
	got := s.readHanded()
	if got["title"] != "Paint the fence" || got["run"] != "run_1" || got["attempt"] != "2" || got["resumed"] != "0" {
		t.Errorf("the agent was handed %v", got)
	}
}

// testWritten: messages that people wrote before the first run are in the agent's first prompt.
func testWritten(t *testing.T, play func(Behaviour) *agentRun) {
	s := play(HandsBack)
	s.claim.Context = fermata.NewResumeContext(s.claim.Task, nil, nil, []*fermata.Message{{
		ID: "msg_1", Author: fermata.Actor{Kind: fermata.ActorHuman, Name: "ana"}, Body: "use less paint",
	}}, nil)
	s.wantCompleted(s.run(t.Context()), "done")
	got := s.readHanded()
	if got["resumed"] != "0" || !strings.Contains(got["text"], "use less paint") || strings.Contains(got["text"], "begun earlier") {
		t.Errorf("the agent was handed %v", got)
	}
	if heard := s.handle.allTold(); !slices.Equal(heard, []string{"msg_1"}) {
		t.Errorf("the runner says that the agent was told %q", heard)
	}
}

// testNeverBegins: a context that the agent never got does not count as told.
func testNeverBegins(t *testing.T, play func(Behaviour) *agentRun) {
	s := play(NeverBegins)
	s.claim.Context = fermata.NewResumeContext(s.claim.Task, nil, nil, []*fermata.Message{{
		ID: "msg_1", Author: fermata.Actor{Kind: fermata.ActorHuman, Name: "ana"}, Body: "use less paint",
	}}, nil)
	if fin, err := s.runner.Run(t.Context(), s.claim, s.handle); err == nil && fin.Result != fermata.ResultFailed {
		t.Errorf("got %+v, want a failure", fin)
	}
	if heard := s.handle.allTold(); len(heard) > 0 {
		t.Errorf("the runner says that the agent was told %q", heard)
	}
}

func testResume(t *testing.T, play func(Behaviour) *agentRun) {
	s := play(HandsBack)
	s.claim.Context = &fermata.ResumeContext{
		TaskID: s.claim.Task.ID, Resumed: true, Session: &fermata.Session{ID: "s-1"}, Text: "Answered by ana: green",
	}
	s.wantCompleted(s.run(t.Context()), "done")
	if got := s.readHanded(); got["resumed"] != "1" || !strings.Contains(got["text"], "green") {
		t.Errorf("the agent was handed %v", got)
	}
}

func testOutput(t *testing.T, play func(Behaviour) *agentRun) {
	s := play(Talks)
	s.run(t.Context())
	for _, want := range []string{"hello", "oops"} {
		if log := s.handle.log.String(); !strings.Contains(log, want) {
			t.Errorf("the log is %q, want %q in it", log, want)
		}
	}
}

func testProgress(t *testing.T, play func(Behaviour) *agentRun) {
	s := play(Steps)
	s.run(t.Context())
	got := s.handle.progress.all()
	if len(got) != 1 || got[0].Message != "half way" || got[0].Current != 1 || got[0].Total != 2 {
		t.Errorf("got the progress %+v", got)
	}
}

func testEndsSilently(t *testing.T, play func(Behaviour) *agentRun) {
	s := play(EndsSilently)
	if fin := s.run(t.Context()); fin.Result != "" || fin.Question != nil {
		t.Errorf("got %+v, want no result", fin)
	}
}

func testNeedsInput(t *testing.T, play func(Behaviour) *agentRun) {
	s := play(Asks)
	fin := s.run(t.Context())
	if fin.Result != fermata.ResultNeedsInput || fin.Question != nil && fin.Question.Question != "Which one?" {
		t.Fatalf("got %+v, want the question", fin)
	}
	if fin.Session == nil || fin.Session.ID != "s-1" || fin.Question != nil && string(fin.Checkpoint) != `{"n":1}` {
		t.Errorf("got the session %+v and the checkpoint %s", fin.Session, fin.Checkpoint)
	}
}

// testAsksInWords: a report at the end of the last message is a result, and not a success.
func testAsksInWords(t *testing.T, play func(Behaviour) *agentRun) {
	s := play(AsksInWords)
	fin := s.run(t.Context())
	if fin.Result != fermata.ResultNeedsInput || fin.Question == nil || fin.Question.Question != "Which one?" {
		t.Errorf("got %+v, want the question", fin)
	}
}

func testFailure(t *testing.T, play func(Behaviour) *agentRun) {
	s := play(Fails)
	if fin := s.run(t.Context()); fin.Result != fermata.ResultFailed || !strings.Contains(fin.Summary, "no space left") {
		t.Errorf("got %+v, want a failure with the last words", fin)
	}
}

func testGarbage(t *testing.T, play func(Behaviour) *agentRun) {
	s := play(Babbles)
	fin := s.run(t.Context())
	s.wantCompleted(fin, "done")
	if n := s.handle.log.size(); n < 3_000_000 {
		t.Errorf("the log has %d bytes, want all of the output", n)
	}
	fin.Result = fermata.ResultCompleted
	if err := fin.Check(); err != nil || !utf8.ValidString(fin.Summary) {
		t.Errorf("the result is not fit to send: %v", err)
	}
}

func testCancel(t *testing.T, play func(Behaviour) *agentRun) { stopAndWait(t, play(Hangs)) }

func testCancelDeaf(t *testing.T, play func(Behaviour) *agentRun) { stopAndWait(t, play(IgnoresStop)) }

// testCancelAtOnce: an agent that ignores the stop gets no long grace if its task went on without the run.
func testCancelAtOnce(t *testing.T, play func(Behaviour) *agentRun) {
	s := play(IgnoresStopLonger)
	ctx, cancel := context.WithCancelCause(t.Context())
	end := s.start(ctx)
	s.awaitReady()
	cancel(&process.Halt{Why: worker.ErrStale, Grace: process.ShortGrace})
	s.wantGone(end, worker.ErrStale)
}

// testHurryUp: an agent that is stopping already is ended when its task is cancelled.
func testHurryUp(t *testing.T, play func(Behaviour) *agentRun) {
	s := play(IgnoresStopLonger)
	ctx, cancel := context.WithCancelCause(t.Context())
	end := s.start(ctx)
	s.awaitReady()
	hurry := make(chan struct{})
	cancel(&process.Halt{Why: worker.ErrStopping, Hurry: hurry})
	close(hurry)
	s.wantGone(end, worker.ErrStopping)
}

// wantGone waits until no process of the run is left.
func (s *agentRun) wantGone(end <-chan error, why error) {
	s.t.Helper()
	s.awaitGone()
	if err := patience.Receive(s.t, "the run has ended", end); !errors.Is(err, why) {
		s.t.Errorf("got the error %v, want %v", err, why)
	}
}

// stopAndWait stops a run and waits until no process of it is left: the pipe ends when the last process that holds it
// has gone.
func stopAndWait(t *testing.T, s *agentRun) {
	ctx, cancel := context.WithCancelCause(t.Context())
	end := s.start(ctx)
	s.awaitReady()
	cancel(worker.ErrStopping)
	if err := patience.Receive(s.t, "the run has ended", end); !errors.Is(err, worker.ErrStopping) {
		t.Errorf("got the error %v, want %v", err, worker.ErrStopping)
	}
	s.awaitGone()
}

func testStopsWell(t *testing.T, play func(Behaviour) *agentRun) {
	s := play(StopsWell)
	stopAndWait(t, s)
	if _, err := os.Stat(filepath.Join(s.handle.dir, "stopped")); err != nil {
		t.Errorf("the agent was not asked to stop: %v", err)
	}
}

func testTimeout(t *testing.T, play func(Behaviour) *agentRun) {
	s := play(Hangs)
	ctx, cancel := context.WithTimeoutCause(t.Context(), 1, worker.ErrTimeout)
	defer cancel()
	if _, err := s.runner.Run(ctx, s.claim, s.handle); !errors.Is(err, worker.ErrTimeout) {
		t.Errorf("got the error %v, want %v", err, worker.ErrTimeout)
	}
}

func testCancelledBefore(t *testing.T, play func(Behaviour) *agentRun) {
	s := play(HandsBack)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(worker.ErrStale)
	if _, err := s.runner.Run(ctx, s.claim, s.handle); !errors.Is(err, worker.ErrStale) {
		t.Errorf("got the error %v, want %v", err, worker.ErrStale)
	}
}

func testInbox(t *testing.T, play func(Behaviour) *agentRun) {
	s := play(Listens)
	end := s.start(t.Context())
	s.awaitReady()
	s.handle.inbox <- &fermata.ResumeContext{Messages: []fermata.Message{{ID: "msg_1", Body: "use less paint"}}, Text: "use less paint"}
	if err := patience.Receive(s.t, "the run has ended", end); err != nil {
		t.Fatal(err)
	}
	s.wantCompleted(s.fin, "use less paint")
}

func testLeftBehind(t *testing.T, play func(Behaviour) *agentRun) {
	s := play(LeavesChild)
	end := s.start(t.Context())
	s.awaitReady()
	if err := patience.Receive(s.t, "the run has ended", end); err != nil {
		t.Fatal(err)
	}
	s.wantCompleted(s.fin, "done")
	s.awaitGone()
}

// agentRun is one run of an agent.
type agentRun struct {
	t      *testing.T
	runner worker.Runner
	claim  *fermata.Claim
	handle *handle
	alive  *os.File
	fin    fermata.Finish
}

func newAgentRun(t *testing.T, r worker.Runner) *agentRun {
	t.Helper()
	if r.Name() == "" {
		t.Error("the runner has no name")
	}
	s := &agentRun{
		t: t, runner: r, handle: newRunHandle(t.TempDir()),
		claim: &fermata.Claim{
			Task:    &fermata.Task{ID: "task_1", Title: "Paint the fence", Body: "All of it."},
			Run:     &fermata.Run{ID: "run_1", TaskID: "task_1", Attempt: 2, Token: 7},
			Context: &fermata.ResumeContext{TaskID: "task_1"},
		},
	}
	if err := syscall.Mkfifo(filepath.Join(s.handle.dir, "alive"), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// run plays the run to its end.
func (s *agentRun) run(ctx context.Context) fermata.Finish {
	s.t.Helper()
	fin, err := s.runner.Run(ctx, s.claim, s.handle)
	if err != nil {
		s.t.Fatal(err)
	}
	return fin
}

// start plays the run in the background. The channel gets the error when the run has ended. fin is set before that.
func (s *agentRun) start(ctx context.Context) <-chan error {
	end := make(chan error, 1)
	go func() {
		var err error
		s.fin, err = s.runner.Run(ctx, s.claim, s.handle)
		end <- err
	}()
	return end
}

// awaitReady waits until the agent writes "ready" into the pipe.
func (s *agentRun) awaitReady() {
	s.t.Helper()
	file, err := os.Open(filepath.Join(s.handle.dir, "alive"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = file.Close() })
	s.alive = file
	word := make([]byte, len("ready\n"))
	if _, err := io.ReadFull(file, word); err != nil || string(word) != "ready\n" {
		s.t.Fatalf("the agent said %q: %v\n%s", word, err, s.handle.log.String())
	}
}

// awaitGone waits until no process holds the pipe.
func (s *agentRun) awaitGone() {
	s.t.Helper()
	gone := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, s.alive)
		gone <- err
	}()
	if err := patience.Receive(s.t, "nothing of the run is left", gone); err != nil {
		s.t.Error(err)
	}
}

// wantCompleted checks that the run ended well: its result is completed or empty, and its summary is the given one.
func (s *agentRun) wantCompleted(fin fermata.Finish, summary string) {
	s.t.Helper()
	if fin.Result != fermata.ResultCompleted && fin.Result != "" || fin.Summary != summary {
		s.t.Errorf("got %s %q, want completed %q\n%s", fin.Result, fin.Summary, summary, s.handle.log.head())
	}
}

func (s *agentRun) readHanded() map[string]string {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.handle.dir, "handed.json"))
	if err != nil {
		s.t.Fatal(err)
	}
	var got map[string]string
	if err := json.Unmarshal(data, &got); err != nil {
		s.t.Fatalf("%v: %s", err, data)
	}
	return got
}
