package engine_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

// A waiting task shows why no running worker takes it, as long as this is true.
func TestTasksSayThatNoWorkerTakesThem(t *testing.T) {
	each(t, func(w *world) {
		command := json.RawMessage(`{"command":["make"]}`)
		task := w.task(fermata.NewTask{Spec: command})
		lacks := func(want string) {
			w.Helper()
			got, err := w.e.Task(w.Context(), w.alice, task.ID)
			w.ok(err)
			listed, _, err := w.e.Tasks(w.Context(), w.alice, engine.TaskFilter{State: []fermata.TaskState{fermata.TaskOpen, fermata.TaskInProgress}})
			w.ok(err)
			is := ""
			if got.NoWorker != nil {
				is = got.NoWorker.Lacks
			}
			w.equal(want, is)
			for _, l := range listed {
				if l.ID == task.ID {
					w.equal(got.NoWorker, l.NoWorker)
				}
			}
		}
		claim := func(name string, runners ...string) *fermata.Claim {
			w.Helper()
			c, _ := w.e.Claim(w.Context(), w.agent, fermata.ClaimRequest{Worker: name, Runners: runners, LeaseSeconds: 3600})
			return c
		}
		lacks("worker")
		claim("own", "command")
		lacks("runner")
		first := claim("ci", "shell")
		w.equal(task.ID, first.Task.ID)
		lacks("")

		// A worker that holds a task counts as running, even long after its last claim.
		task = w.task(fermata.NewTask{Spec: command})
		lacks("")
		w.clock.Advance(30 * time.Minute)
		lacks("")
		w.finish(first, fermata.Finish{Result: fermata.ResultCompleted})
		lacks("")
		w.clock.Advance(fermata.WorkerSilence)
		lacks("worker")
		task = w.task(fermata.NewTask{Runner: fermata.RunnerExternal})
		lacks("")
	})
}

// A worker whose lease has ended is not running until it claims again, however shortly before it claimed. Another worker
// of its name is.
func TestALostWorkerIsNotRunning(t *testing.T) {
	each(t, func(w *world) {
		running := func() (names []string) {
			w.Helper()
			all, err := w.e.Workers(w.Context(), w.alice)
			w.ok(err)
			for _, worker := range all {
				if worker.Running {
					names = append(names, worker.Name+" "+worker.Runners[0])
				}
			}
			return names
		}
		claim := func(runner string, leaseSeconds int) *fermata.Claim {
			w.Helper()
			c, err := w.e.Claim(w.Context(), w.agent, fermata.ClaimRequest{Worker: "w", Runners: []string{runner}, LeaseSeconds: leaseSeconds})
			if err != nil && !errors.Is(err, engine.ErrNoTask) {
				w.Fatal(err)
			}
			return c
		}
		w.task(fermata.NewTask{Spec: json.RawMessage(`{"command":["make"]}`)})
		claim("shell", 8)
		w.clock.Advance(5 * time.Second)
		claim("claude", 60)
		w.equal([]string{"w claude", "w shell"}, running())
		w.sweep(4 * time.Second)
		w.equal([]string{"w claude"}, running())
		claim("shell", 8)
		w.equal([]string{"w shell", "w claude"}, running())
	})
}

// A worker that leaves is not running until it claims again. It removes no other worker from the list.
func TestAWorkerThatEndsIsNotRunning(t *testing.T) {
	each(t, func(w *world) {
		own, shell := fermata.ClaimRequest{Worker: "own"}, fermata.ClaimRequest{Worker: "own", Runners: []string{"shell"}}
		running := func(want int) {
			w.Helper()
			all, err := w.e.Workers(w.Context(), w.alice)
			w.ok(err)
			w.equal(want, len(all))
		}
		claim := func(r fermata.ClaimRequest) {
			w.Helper()
			if _, err := w.e.Claim(w.Context(), w.agent, r); !errors.Is(err, engine.ErrNoTask) {
				w.Fatal(err)
			}
		}
		claim(own)
		claim(shell)
		running(2)
		w.checkRefused(w.e.RemoveWorker(w.Context(), w.maker(), own), fermata.CodeForbidden)
		running(2)
		w.ok(w.e.RemoveWorker(w.Context(), w.agent, own))
		running(1)
		claim(own)
		running(2)
	})
}

// The list shows the workers and the tasks they take. It hides workers of projects that the caller may not see.
func TestWorkersAreListed(t *testing.T) {
	each(t, func(w *world) {
		for _, r := range []fermata.ClaimRequest{
			{Worker: "ci", Runners: []string{"shell"}}, {Worker: "desk", Runners: []string{"claude", "codex"}, Agents: []string{"code"}},
			{Worker: "pay", Runners: []string{"claude"}, Projects: []string{"payroll"}},
		} {
			_, _ = w.e.Claim(w.Context(), w.agent, r)
			w.clock.Advance(time.Second)
		}
		names := func(c fermata.Caller) (names []string) {
			w.Helper()
			all, err := w.e.Workers(w.Context(), c)
			w.ok(err)
			for _, worker := range all {
				names = append(names, worker.Name)
				if !worker.Running {
					w.Errorf("%+v", worker)
				}
			}
			return names
		}
		w.equal([]string{"pay", "desk", "ci"}, names(w.alice))
		apart := w.alice
		apart.Projects = map[string]fermata.Role{"payroll": fermata.RoleNone}
		w.equal([]string{"desk", "ci"}, names(apart))

		w.clock.Advance(fermata.WorkerSilence)
		all, err := w.e.Workers(w.Context(), w.alice)
		w.ok(err)
		w.equal(3, len(all))
		if all[0].Running {
			w.Errorf("%+v is running", all[0])
		}
		w.clock.Advance(8 * 24 * time.Hour)
		_, _ = w.e.Claim(w.Context(), w.agent, fermata.ClaimRequest{Worker: "new"})
		w.equal([]string{"new"}, names(w.alice))
		_, err = w.e.Workers(w.Context(), fermata.Caller{WorkspaceID: w.alice.WorkspaceID})
		w.checkRefused(err, fermata.CodeForbidden)
	})
}
