package workers

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/process"
)

// A worker is killed in the middle of a run. Its agent dies with it, and so do the
// processes that the agent started, also one in a session of its own. After the lease,
// the task is claimed again, and the server refuses all calls of the lost run.
func TestWorkerIsKilled(t *testing.T) {
	process.RunOnEachDatabase(t, func(t *testing.T, database []string) {
		s := newShop(t, t.TempDir(), database)
		task := s.create()
		first := s.worker("first")
		hanging, command := s.agentOf("1"), s.command()
		lost := s.runs(task.ID, fermata.RunRunning)[0]
		first.Kill()
		killed := time.Now()
		s.gone(hanging)
		s.gone(command)

		s.worker("first")
		s.cleared()
		s.agentOf("2")
		t.Logf("killed with a lease of %s; the next run began %s later", lease, time.Since(killed).Round(time.Millisecond))
		if done := s.becomes(task.ID, fermata.TaskDone); done.Summary != "by run 2" {
			t.Errorf("the task was completed %q", done.Summary)
		}
		s.runs(task.ID, fermata.RunLost, fermata.RunFinished)
		s.refused(lost)
	})
}

// A worker is killed, and its watchdog before it. The next worker on this machine ends the
// processes that the agent left behind.
func TestWorkerAndItsWatchdogAreKilled(t *testing.T) {
	s := newShop(t, t.TempDir(), nil)
	s.create()
	first := s.worker("first")
	hanging, command := s.agentOf("1"), s.command()
	if err := syscall.Kill(s.watchdogOf(first.PID()), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	first.Kill()
	s.gone(hanging)
	s.worker("first")
	s.gone(command)
	s.cleared()
}

// watchdogOf returns the process id of a worker's watchdog.
func (s *shop) watchdogOf(worker int) int {
	s.Helper()
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", worker))
	if err != nil {
		s.Fatal(err)
	}
	for _, list := range lists {
		children, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for child := range strings.FieldsSeq(string(children)) {
			line, err := os.ReadFile("/proc/" + child + "/cmdline")
			if err != nil || !strings.Contains(string(line), "watch-programs") {
				continue
			}
			pid, err := strconv.Atoi(child)
			if err != nil {
				s.Fatal(err)
			}
			return pid
		}
	}
	s.Fatal("the worker has no watchdog")
	return 0
}

// refused checks that every call of a run is refused if its fencing token is wrong. Only the worker knows the right one.
// For a worker that comes back with the right token too late, see [TestSuspendedWorkerComesBack].
func (s *shop) refused(run *fermata.Run) {
	s.Helper()
	worker := process.NewLoadBalancer(s, s.server).Client(s, s.token)
	ctx, token := s.Context(), fermata.NewFencingToken()
	_, heartbeat := worker.Heartbeat(ctx, run.ID, fermata.Heartbeat{Token: token})
	_, appended := worker.AppendLog(ctx, run.ID, token, "I am still here\n")
	progress := worker.ReportRunProgress(ctx, run.ID, fermata.Progress{Message: "half way", Token: token})
	_, finish := worker.Finish(ctx, run.ID, fermata.Finish{Token: token, Result: fermata.ResultCompleted, Summary: "stale"})
	_, asks := worker.Finish(ctx, run.ID, fermata.Finish{
		Token: token, Result: fermata.ResultNeedsInput, Question: &fermata.Ask{Question: "Am I late?"},
	})
	_, release := worker.Release(ctx, run.ID, token)
	for name, err := range map[string]error{
		"heartbeat": heartbeat, "log": appended, "progress": progress, "finish": finish, "finish with a question": asks, "release": release,
	} {
		if code := fermata.CodeOf(err); code != fermata.CodeStaleRun {
			s.Errorf("%s of a lost run: %v, not %s", name, err, fermata.CodeStaleRun)
		}
	}
}

// A server is down for longer than a lease, and the agent ends meanwhile. The worker
// reports the result when the server is back.
func TestResultOutlivesTheServersAbsence(t *testing.T) {
	process.RunOnEachDatabase(t, func(t *testing.T, database []string) {
		s := newShop(t, t.TempDir(), database)
		task := s.create()
		first := s.worker("first")
		running := s.agentOf("1")
		address := strings.TrimPrefix(s.server.URL, "http://")
		s.server.Kill()
		away := time.Now()
		s.goOn()
		s.gone(running)
		patience.Await(t, "the lease has ended", func() bool { return time.Since(away) > lease })

		token := s.server.FirstToken
		s.server = process.Serve(t, s.binary, database, "--listen", address)
		s.admin = process.NewLoadBalancer(t, s.server).Client(t, token)
		if done := s.becomes(task.ID, fermata.TaskDone); done.Summary != "by run 1" {
			t.Errorf("the task was completed %q", done.Summary)
		}
		s.runs(task.ID, fermata.RunFinished)
		first.Stop()
	})
}

// A worker that was suspended for longer than its lease comes back and reports
// the result of a run that it has lost. The result of the later run must not change.
func TestSuspendedWorkerComesBack(t *testing.T) {
	s := newShop(t, t.TempDir(), process.SQLite(t))
	task := s.create()
	first := s.worker("first")
	s.agentOf("1")
	first.Freeze()

	s.worker("second")
	if done := s.becomes(task.ID, fermata.TaskDone); done.Summary != "by run 2" {
		t.Errorf("the task was completed %q", done.Summary)
	}
	s.goOn()
	first.Signal(syscall.SIGCONT)
	next := s.create()
	s.becomes(next.ID, fermata.TaskDone)
	first.Stop()
	if done := s.becomes(task.ID, fermata.TaskDone); done.Summary != "by run 2" {
		t.Errorf("the run that was lost wrote %q over the result", done.Summary)
	}
	s.runs(task.ID, fermata.RunLost, fermata.RunFinished)
}
