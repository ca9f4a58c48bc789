//go:build unix

package worker_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/runner/command"
	"github.com/fermata-hq/fermata/internal/testkit"
	"github.com/fermata-hq/fermata/internal/worker"
	"github.com/fermata-hq/fermata/test/patience"
)

const completed = `echo '{"result":"completed","summary":"done"}'`

func TestOneAsksWhileOthersGoOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	asking := w.task("Paint the fence", `
		if [ "$FERMATA_RESUMED" = 0 ]; then
			echo half >fence.txt
			echo '{"result":"needs_input","question":{"question":"Which colour?","options":["green","blue"]},"session":{"id":"s-1"}}'
		else
			grep -q half fence.txt && grep -q green "$FERMATA_CONTEXT_TEXT" && echo green >>fence.txt && `+completed+`
		fi`)
	second := w.task("Mow the lawn", `echo short >lawn.txt; `+completed)
	third := w.task("Trim the hedge", `echo round >hedge.txt; `+completed)
	w.start(worker.Options{})

	stopped := w.awaitState(asking.ID, fermata.TaskAwaitingInput)
	w.awaitState(second.ID, fermata.TaskDone)
	w.awaitState(third.ID, fermata.TaskDone)
	if s := stopped.Session; s == nil || s.ID != "s-1" || s.Worker != "w1" || s.Branch != "fermata/"+asking.ID || s.Dir != w.worktree(asking) {
		t.Errorf("the session is %+v", s)
	}
	if status := run(t, w.worktree(asking), "status", "--porcelain"); status != "?? fence.txt" {
		t.Errorf("while it waits, the working copy has %q, want the uncommitted file", status)
	}
	w.answer(stopped, "green")
	w.awaitState(asking.ID, fermata.TaskDone)
	w.awaitRelease(asking)
	if text := run(t, w.repo, "show", "fermata/"+asking.ID+":fence.txt"); text != "half\ngreen" {
		t.Errorf("the branch has %q, want the work of both runs", text)
	}
	message := run(t, w.repo, "log", "-1", "--format=%B", "fermata/"+asking.ID)
	if message != "Paint the fence\n\nFermata-Task: "+asking.ID {
		t.Errorf("the message is %q", message)
	}
	if now := run(t, w.repo, "status", "--porcelain"); now != "" || exists(filepath.Join(w.repo, "fence.txt")) {
		t.Errorf("the project's own working copy changed: %s", now)
	}
}

// awaitRelease waits until the worker has released the working copy of an ended run.
func (w *world) awaitRelease(t *fermata.Task) {
	w.Helper()
	unlock, err := worker.LockCopy(w.Context(), filepath.Join(w.repo, ".git", "fermata", t.ID+".lock"))
	w.OK(err)
	unlock()
}

// talker is an agent that begins a session, and then goes on until it is stopped.
type talker struct{ *command.Runner }

func (talker) Run(ctx context.Context, _ *fermata.Claim, handle worker.RunHandle) (fermata.Finish, error) {
	handle.KeepSession(fermata.Session{ID: "s-1"})
	<-ctx.Done()
	return fermata.Finish{}, context.Cause(ctx)
}

// The server knows a session as soon as it begins, so the session survives the death of its worker.
func TestSessionIsKnownAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task := w.task("Paint the fence", "")
	ctx, cancel := context.WithCancel(t.Context())
	wk, err := worker.New(w.agent, worker.Options{
		Name: "w1", Copies: w.copies, Lease: fermata.MaxLease, Runners: []worker.Runner{talker{command.NewShell(command.Options{})}},
	})
	testkit.OK(t, err)
	end := make(chan error, 1)
	go func() { end <- wk.Run(ctx) }()
	w.awaitSession(task, func(s fermata.Session) bool { return s.ID == "s-1" })
	cancel()
	testkit.OK(t, patience.Receive(t, "the worker ends", end))
}

// awaitSession waits until the server knows a session of the task for which wanted is true.
func (w *world) awaitSession(task *fermata.Task, wanted func(fermata.Session) bool) {
	w.Helper()
	patience.Await(w, "the session is known", func() bool {
		now, err := w.person.Task(w.Context(), task.ID)
		w.OK(err)
		return now.Session != nil && wanted(*now.Session)
	})
}

// awaitWorkDir waits until the server knows the folder in which the task's agent works.
func (w *world) awaitWorkDir(task *fermata.Task) {
	w.Helper()
	w.awaitSession(task, func(s fermata.Session) bool { return s.Dir == w.worktree(task) })
}

// beatObserver reports when a worker has sent a heartbeat.
type beatObserver struct {
	worker.Server
	sent chan struct{}
}

func (b beatObserver) Heartbeat(ctx context.Context, run string, h fermata.Heartbeat) (*fermata.HeartbeatReply, error) {
	reply, err := b.Server.Heartbeat(ctx, run, h)
	select {
	case b.sent <- struct{}{}:
	default:
	}
	return reply, err
}

// If the first heartbeat does not wait long enough for a slow working copy, the server gets the folder as soon as the
// copy exists, not a heartbeat later.
func TestPlaceOfASlowCopyIsKnownAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task := w.task("Paint", "exec sleep 1000")
	unlock, err := worker.LockCopy(t.Context(), filepath.Join(w.repo, ".git", "fermata", task.ID+".lock"))
	testkit.OK(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	server := beatObserver{w.agent, make(chan struct{}, 1)}
	wk, err := worker.New(server, worker.Options{
		Name: "w1", Copies: w.copies, Lease: longLease, Runners: []worker.Runner{command.NewShell(command.Options{})},
	})
	testkit.OK(t, err)
	end := make(chan error, 1)
	go func() { end <- wk.Run(ctx) }()
	patience.Receive(t, "the request is sent", server.sent)
	unlock()
	w.awaitWorkDir(task)
	cancel()
	testkit.OK(t, patience.Receive(t, "the worker ends", end))
}

func TestFailedIsRolledBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task := w.task("Paint", `echo changed >README.md; echo new >new.txt
		git add . && git -c user.name=a -c user.email=a@b commit --quiet -m mine
		echo more >more.txt; mkdir d; echo x >d/x; echo broken >&2; exit 3`)
	w.runOnce()
	failed := w.awaitState(task.ID, fermata.TaskFailed)
	if !strings.Contains(failed.Summary, "exit status 3") || !strings.Contains(failed.Summary, "broken") {
		t.Errorf("the summary is %q", failed.Summary)
	}
	dir := w.worktree(task)
	if status := run(t, dir, "status", "--porcelain"); status != "" {
		t.Errorf("the working copy has %q, want it rolled back", status)
	}
	if run(t, dir, "rev-parse", "HEAD") != run(t, w.repo, "rev-parse", "HEAD") {
		t.Error("the branch is not where the task began")
	}
}

func TestFailedIsKeptWhereSaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.copies.OnFailed = worker.Keep
	task := w.task("Paint", `echo new >new.txt; exit 3`)
	w.runOnce()
	w.awaitState(task.ID, fermata.TaskFailed)
	if !exists(filepath.Join(w.worktree(task), "new.txt")) {
		t.Error("the work of the failed run is gone")
	}
}

func TestStoppedWorkerHandsBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	name := pipe(t)
	task := w.task("Paint", `echo half >fence.txt; exec 3>`+name+`; echo ready >&3; sleep 1000`)
	stop := w.start(worker.Options{})
	alive := awaitReady(t, name)
	stop()
	awaitGone(t, alive)
	w.awaitState(task.ID, fermata.TaskOpen)
	claim, err := w.agent.Claim(t.Context(), fermata.ClaimRequest{Worker: "w2", Runners: []string{fermata.RunnerShell}})
	testkit.OK(t, err)
	if claim.Task.ID != task.ID || claim.Task.Attempts != 0 {
		t.Errorf("claimed %s after %d lost runs, want %s and none", claim.Task.ID, claim.Task.Attempts, task.ID)
	}
	if status := run(t, w.worktree(task), "status", "--porcelain"); status != "?? fence.txt" {
		t.Errorf("the working copy has %q, want it as the agent left it", status)
	}
}

// A command that may be run only once is not handed back, because it may have had effects already.
func TestStoppedWorkerEndsACommandThatRunsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	name := pipe(t)
	spec, err := json.Marshal(map[string]any{"command": []string{"sh", "-c", `exec 3>` + name + `; echo ready >&3; sleep 1000`}})
	testkit.OK(t, err)
	task, err := w.person.CreateTask(t.Context(), fermata.NewTask{Title: "Deploy", Spec: spec, MaxAttempts: 1})
	testkit.OK(t, err)
	stop := w.start(worker.Options{})
	alive := awaitReady(t, name)
	stop()
	awaitGone(t, alive)
	if failed := w.awaitState(task.ID, fermata.TaskFailed); !strings.Contains(failed.Summary, "interrupted") {
		t.Errorf("the summary is %q", failed.Summary)
	}
}

// The agent of a lost run is ended at once, and its last report does not count.
func TestLostRunCommitsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ready := pipe(t)
	task := w.task("Paint", `
		if [ -e fence.txt ]; then
			echo "{\"result\":\"completed\",\"summary\":\"attempt $FERMATA_ATTEMPT, $(git rev-list --count HEAD) commits\"}"
		else
			trap '`+strings.ReplaceAll(completed, "'", `'\''`)+`; exit 0' TERM
			echo half >fence.txt; echo ready >`+ready+`; sleep 1000 & wait $!
		fi`)
	w.start(worker.Options{})
	awaitReady(t, ready)
	w.loseRun(task)
	done := w.awaitState(task.ID, fermata.TaskDone)
	if done.Summary != "attempt 2, 1 commits" {
		t.Errorf("got %q, want the second run to find the work and no commit", done.Summary)
	}
	w.awaitRelease(task)
	if n := run(t, w.repo, "rev-list", "--count", "fermata/"+task.ID); n != "2" {
		t.Errorf("the branch has %s commits, want 2", n)
	}
}

func TestCancelledTaskStopsItsAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	name := pipe(t)
	task := w.task("Paint", `echo half >fence.txt; exec 3>`+name+`; echo ready >&3; sleep 1000`)
	w.start(worker.Options{})
	alive := awaitReady(t, name)
	_, err := w.person.CancelTask(t.Context(), task.ID, "not needed")
	testkit.OK(t, err)
	awaitGone(t, alive)
	w.awaitRelease(task)
	if !exists(filepath.Join(w.worktree(task), "fence.txt")) {
		t.Error("the work of the cancelled task is gone")
	}
	if got := w.awaitState(task.ID, fermata.TaskCancelled); got.Reason != "not needed" {
		t.Errorf("the reason is %q", got.Reason)
	}
}

func TestCutOffAgentIsStopped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	name := pipe(t)
	w.beat = shortBeat
	w.task("Paint", `exec 3>`+name+`; echo ready >&3; sleep 1000`)
	w.start(worker.Options{Lease: longLease, Grace: 100 * time.Millisecond})
	alive := awaitReady(t, name)
	w.server.CloseClientConnections()
	testkit.OK(t, w.server.Listener.Close())
	w.late.Add(int64(longLease))
	awaitGone(t, alive)
}

func TestBadQuestionFailsTheTask(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task := w.task("Paint", `echo half >fence.txt
		echo '{"result":"needs_input","question":{"question":"Which?","response_type":"choice"}}'`)
	w.runOnce()
	failed := w.awaitState(task.ID, fermata.TaskFailed)
	if !strings.Contains(failed.Summary, "options") {
		t.Errorf("the summary is %q, want the problem", failed.Summary)
	}
	if !exists(filepath.Join(w.worktree(task), "fence.txt")) {
		t.Error("the work is gone, though only the report was wrong")
	}
}

func TestMessageReachesTheRunningAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	name := pipe(t)
	task := w.task("Paint", `echo ready >`+name+`
		until [ -s "$FERMATA_INBOX" ]; do sleep 0.02; done
		grep -q 'use less paint' "$FERMATA_INBOX" && `+completed)
	w.start(worker.Options{Lease: longLease})
	awaitReady(t, name)
	_, err := w.person.PostMessage(t.Context(), task.ID, "use less paint")
	testkit.OK(t, err)
	w.awaitState(task.ID, fermata.TaskDone)
}

// shortBeat lets a test see many heartbeats, although its worker's lease is long.
const shortBeat = 50 * time.Millisecond

// longLease makes heartbeats so rare that no test waits for the next one. It is for news that must arrive at once.
const longLease = fermata.MaxLease

// An agent that does not stop when asked to is ended, with all processes that it started, as soon as its task is
// cancelled. Its worktree keeps the uncommitted changes, and its run says where they are.
func TestCancelledTaskEndsADeafAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.grace = longLease
	name := pipe(t)
	task := w.task("Paint", `trap '' TERM; echo half >fence.txt; exec 3>`+name+`
		sh -c 'trap "" TERM; echo ready >&3; sleep 1000; sleep 1000' & sleep 1000; sleep 1000`)
	w.start(worker.Options{Lease: longLease})
	alive := awaitReady(t, name)
	w.awaitWorkDir(task)
	_, err := w.person.CancelTask(t.Context(), task.ID, "not needed")
	testkit.OK(t, err)
	awaitGone(t, alive)
	w.awaitRelease(task)
	if !exists(filepath.Join(w.worktree(task), "fence.txt")) {
		t.Error("the work of the cancelled task is gone")
	}
	w.wantPartialWork(task)
}

// wantPartialWork checks that the last run of the task names the place of its work.
func (w *world) wantPartialWork(task *fermata.Task) {
	w.Helper()
	runs, err := w.person.Runs(w.Context(), task.ID)
	w.OK(err)
	last := runs[len(runs)-1]
	chunks, _, _, err := w.person.RunLog(w.Context(), last.ID, 0, 0)
	w.OK(err)
	if log := chunks[len(chunks)-1].Text; !strings.Contains(log, w.worktree(task)+", branch fermata/"+task.ID) {
		w.Errorf("the log ends with %q", log)
	}
	var left fermata.PartialWork
	w.OK(json.Unmarshal(last.Details, &left))
	if left.PartialWork.Dir != w.worktree(task) || left.PartialWork.Worker != "w1" {
		w.Errorf("the details are %s", last.Details)
	}
}

func TestQuestionAskedByTheAPISuspendsASilentEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ready, proceed := pipe(t), pipe(t)
	task := w.task("Paint", `
		if [ "$FERMATA_RESUMED" = 1 ]; then echo resumed; else echo ready >`+ready+`; read x <`+proceed+`; fi`)
	w.start(worker.Options{})
	awaitReady(t, ready)
	_, err := w.agent.Ask(t.Context(), task.ID, fermata.Ask{Question: "Which colour?"})
	testkit.OK(t, err)
	letGo(t, proceed)
	w.answer(w.awaitState(task.ID, fermata.TaskAwaitingInput), "green")
	if done := w.awaitState(task.ID, fermata.TaskDone); done.Summary != "resumed" {
		t.Errorf("the summary is %q", done.Summary)
	}
}

func TestAnswerDuringTheRunResumesAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	name := pipe(t)
	task := w.task("Paint", `
		if [ "$FERMATA_RESUMED" = 1 ]; then cat "$FERMATA_CONTEXT_TEXT" >answer.txt; echo resumed; exit; fi
		echo ready >`+name+`
		until [ -s "$FERMATA_INBOX" ]; do sleep 0.02; done
		echo '{"result":"needs_input"}'`)
	w.start(worker.Options{})
	awaitReady(t, name)
	q, err := w.agent.Ask(t.Context(), task.ID, fermata.Ask{Question: "Which colour?"})
	testkit.OK(t, err)
	_, err = w.person.Answer(t.Context(), q.ID, fermata.Answer{Answer: "green"})
	testkit.OK(t, err)
	done := w.awaitState(task.ID, fermata.TaskDone)
	w.awaitRelease(task)
	if text := run(t, w.repo, "show", "fermata/"+task.ID+":answer.txt"); done.Summary != "resumed" || !strings.Contains(text, "green") {
		t.Errorf("got %q with the context %q", done.Summary, text)
	}
}

func TestVanishedWorktreeIsMadeAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task := w.task("Paint", `
		if [ "$FERMATA_RESUMED" = 1 ]; then ls; else
			echo saved >saved.txt; git add . ; git -c user.name=a -c user.email=a@b commit --quiet -m saved
			echo '{"result":"needs_input","question":{"question":"Which colour?"}}'
		fi`)
	w.runOnce()
	stopped := w.awaitState(task.ID, fermata.TaskAwaitingInput)
	testkit.OK(t, os.RemoveAll(w.worktree(task)))
	w.answer(stopped, "green")
	w.runOnce()
	done := w.awaitState(task.ID, fermata.TaskDone)
	if done.Summary != "saved.txt" {
		t.Errorf("the agent found %q, want what was committed on the branch", done.Summary)
	}
	if log := w.log(done.RunID); !strings.Contains(log, "was gone and was made again") {
		t.Errorf("the log is %q", log)
	}
}

func TestSlotsShareTheTasks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	name := pipe(t)
	// Each of the two ends only if the other runs too: one writes, the other reads.
	w.task("Write", `echo hello >`+name+`; echo wrote`)
	reading := w.task("Read", `read x <`+name+`; echo "$x"`)
	var others []*fermata.Task
	for range 8 {
		others = append(others, w.task("Paint", `echo green >fence.txt`))
	}
	w.start(worker.Options{Slots: 4})
	if done := w.awaitState(reading.ID, fermata.TaskDone); done.Summary != "hello" {
		t.Errorf("the summary is %q", done.Summary)
	}
	for _, task := range others {
		w.awaitState(task.ID, fermata.TaskDone)
	}
}

// revokeTokens ends the tokens of all workers.
func (w *world) revokeTokens() {
	w.Helper()
	tokens, err := w.person.Tokens(w.Context())
	w.OK(err)
	for _, token := range tokens {
		if token.Kind == fermata.ActorAgent {
			_, err := w.person.RevokeToken(w.Context(), token.ID)
			w.OK(err)
		}
	}
}

// TestWorkerThatIsRefusedMeanwhileEnds: the worker does not try for ever to report the result.
func TestWorkerThatIsRefusedMeanwhileEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ready, proceed := pipe(t), pipe(t)
	task := w.task("Paint", `echo green >fence.txt; echo ready >`+ready+`; read x <`+proceed+`; `+completed)
	wk, err := worker.New(w.agent, worker.Options{
		Name: "w1", Copies: w.copies, Runners: []worker.Runner{command.NewShell(command.Options{})},
	})
	testkit.OK(t, err)
	end := make(chan error, 1)
	go func() { end <- wk.Run(t.Context()) }()
	awaitReady(t, ready)
	w.revokeTokens()
	letGo(t, proceed)
	if err := patience.Receive(t, "the worker ends", end); fermata.CodeOf(err) != fermata.CodeUnauthenticated {
		t.Errorf("got %v, want %s", err, fermata.CodeUnauthenticated)
	}
	if !exists(filepath.Join(w.worktree(task), "fence.txt")) {
		t.Error("the work is gone")
	}
}

func TestRefusedWorkerEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.revokeTokens()
	wk, err := worker.New(w.agent, worker.Options{Name: "w1", Copies: w.copies, Runners: []worker.Runner{command.New(command.Options{})}})
	testkit.OK(t, err)
	if err := wk.Run(t.Context()); fermata.CodeOf(err) != fermata.CodeUnauthenticated {
		t.Errorf("got %v, want %s", err, fermata.CodeUnauthenticated)
	}
}

func TestTimeoutIsAFailure(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task := w.task("Paint", `sleep 1000`)
	w.start(worker.Options{RunTimeout: 50 * time.Millisecond})
	if failed := w.awaitState(task.ID, fermata.TaskFailed); !strings.Contains(failed.Summary, "longer than 50ms") {
		t.Errorf("the summary is %q", failed.Summary)
	}
}

// TestTimeoutOfTheTask: a task may set a time limit for its runs, within the limit of the worker.
func TestTimeoutOfTheTask(t *testing.T) {
	t.Parallel()
	for own, want := range map[string]string{"50ms": "longer than 50ms", "1h": "longer than 60ms"} {
		w := newWorld(t)
		spec := json.RawMessage(`{"command": ["sleep", "1000"], "timeout": "` + own + `"}`)
		task, err := w.person.CreateTask(t.Context(), fermata.NewTask{Title: "Paint", Spec: spec})
		testkit.OK(t, err)
		w.start(worker.Options{RunTimeout: 60 * time.Millisecond})
		if failed := w.awaitState(task.ID, fermata.TaskFailed); !strings.Contains(failed.Summary, want) || failed.Reason != fermata.ReasonRunTimeout {
			t.Errorf("%s: the summary is %q, the reason %q", own, failed.Summary, failed.Reason)
		}
	}
}

func TestPlainFolder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.copies.WorkDir = t.TempDir()
	task := w.task("Paint", `echo green >fence.txt; echo '::progress painted'; printf 'a\0b\377c\n'; `+completed)
	w.runOnce()
	done := w.awaitState(task.ID, fermata.TaskDone)
	if !exists(filepath.Join(w.copies.WorkDir, task.ID, "fence.txt")) {
		t.Error("the work is not in the task's folder")
	}
	if log := w.log(done.RunID); !strings.Contains(log, "a\uFFFDb\uFFFDc\n") {
		t.Errorf("the log is %q", log)
	}
}

func TestRepositoryWithoutCommitsIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.copies.WorkDir = t.TempDir()
	run(t, w.copies.WorkDir, "init", "--quiet")
	task := w.task("Paint", completed)
	w.runOnce()
	if failed := w.awaitState(task.ID, fermata.TaskFailed); !strings.Contains(failed.Summary, "no commit to begin from") {
		t.Errorf("the summary is %q", failed.Summary)
	}
}

func TestFolderInsideARepository(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{"tracked", "scratch"} {
		testkit.OK(t, os.Mkdir(filepath.Join(w.repo, name), 0o750))
	}
	testkit.OK(t, os.WriteFile(filepath.Join(w.repo, "tracked", "a.txt"), []byte("a\n"), 0o600))
	run(t, w.repo, "add", "tracked")
	run(t, w.repo, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "more")

	w.copies.WorkDir = filepath.Join(w.repo, "tracked")
	task := w.task("Paint", `echo b >b.txt; `+completed)
	w.runOnce()
	w.awaitState(task.ID, fermata.TaskDone)
	if text := run(t, w.repo, "show", "fermata/"+task.ID+":tracked/b.txt"); text != "b" {
		t.Errorf("the branch has %q", text)
	}
	w.copies.WorkDir = filepath.Join(w.repo, "scratch")
	task = w.task("Paint", `echo b >b.txt; `+completed)
	w.runOnce()
	w.awaitState(task.ID, fermata.TaskDone)
	if !exists(filepath.Join(w.repo, "scratch", task.ID, "b.txt")) {
		t.Error("an untracked folder is no part of the repository around it")
	}
}

func TestAnotherWorkerGoesOnInTheSameWorktree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task := w.task("Paint", `
		if [ "$FERMATA_RESUMED" = 1 ]; then cat fence.txt; else
			echo half >fence.txt; echo '{"result":"needs_input","question":{"question":"Which colour?"}}'
		fi`)
	w.runOnce()
	w.answer(w.awaitState(task.ID, fermata.TaskAwaitingInput), "green")
	w.copies.Folder = t.TempDir()
	w.runOnce()
	if done := w.awaitState(task.ID, fermata.TaskDone); done.Summary != "half" {
		t.Errorf("the second worker found %q, want what was not committed", done.Summary)
	}
}

func TestReopenedTaskBeginsWhereItWasCommitted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task := w.task("Paint", `if [ -e fence.txt ]; then echo worse >fence.txt; exit 3; fi; echo green >fence.txt`)
	w.runOnce()
	w.awaitState(task.ID, fermata.TaskDone)
	if exists(w.worktree(task)) {
		t.Error("the worktree of the completed task is still there")
	}
	_, err := w.person.ReopenTask(t.Context(), task.ID)
	testkit.OK(t, err)
	w.runOnce()
	w.awaitState(task.ID, fermata.TaskFailed)
	if text := run(t, w.worktree(task), "show", "HEAD:fence.txt"); text != "green" {
		t.Errorf("the branch has %q, want the work of the first run", text)
	}
}

func TestCheckoutOfAPersonIsNotTouched(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task := w.task("Paint", `echo green >fence.txt; [ ! -e stop ]`)
	w.runOnce()
	w.awaitState(task.ID, fermata.TaskDone)
	run(t, w.repo, "checkout", "--quiet", "fermata/"+task.ID)
	testkit.OK(t, os.WriteFile(filepath.Join(w.repo, "stop"), []byte("mine\n"), 0o600))
	_, err := w.person.ReopenTask(t.Context(), task.ID)
	testkit.OK(t, err)
	w.runOnce()
	if failed := w.awaitState(task.ID, fermata.TaskFailed); !strings.Contains(failed.Summary, "check out another one") {
		t.Errorf("the summary is %q", failed.Summary)
	}
	if !exists(filepath.Join(w.repo, "stop")) {
		t.Error("the rollback reached a person's checkout")
	}
}

// An agent that removes the .git of its worktree must not lead the worker into the repository around the worktree.
func TestRollBackStaysInside(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.copies.Folder = filepath.Join(w.repo, "inside")
	w.folder = w.copies.Folder
	testkit.OK(t, os.WriteFile(filepath.Join(w.repo, "precious.txt"), []byte("mine\n"), 0o600))
	task := w.task("Paint", `rm .git; exit 3`)
	w.runOnce()
	w.awaitState(task.ID, fermata.TaskFailed)
	if !exists(filepath.Join(w.repo, "precious.txt")) {
		t.Error("the rollback reached the repository around the worktree")
	}
}

// log returns the whole log of a run.
func (w *world) log(runID string) string {
	w.Helper()
	chunks, _, _, err := w.person.RunLog(w.Context(), runID, 0, 0)
	w.OK(err)
	text := ""
	for _, c := range chunks {
		text += c.Text
	}
	return text
}
