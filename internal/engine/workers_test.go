package engine_test

import (
	"encoding/json"
	"errors"
	"slices"
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
			got, err := w.Engine.Task(w.Context(), w.alice, task.ID)
			w.OK(err)
			listed, _, err := w.Engine.Tasks(w.Context(), w.alice, engine.TaskFilter{State: []fermata.TaskState{fermata.TaskOpen, fermata.TaskInProgress}})
			w.OK(err)
			is := ""
			if got.NoWorker != nil {
				is = got.NoWorker.Lacks
			}
			w.Equal(want, is)
			for _, l := range listed {
				if l.ID == task.ID {
					w.Equal(got.NoWorker, l.NoWorker)
				}
			}
		}
		claim := func(name string, runners ...string) *fermata.Claim {
			w.Helper()
			c, _ := w.Engine.Claim(w.Context(), w.agent, fermata.ClaimRequest{Worker: name, Runners: runners, LeaseSeconds: 3600})
			return c
		}
		lacks("worker")
		claim("own", "command")
		lacks("runner")
		first := claim("ci", "shell")
		w.Equal(task.ID, first.Task.ID)
		lacks("")

		// A worker that holds a task counts as running, even long after its last claim.
		task = w.task(fermata.NewTask{Spec: command})
		lacks("")
		w.Clock.Advance(30 * time.Minute)
		lacks("")
		w.finish(first, fermata.Finish{Result: fermata.ResultCompleted})
		lacks("")
		w.Clock.Advance(fermata.WorkerSilence)
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
			all, err := w.Engine.Workers(w.Context(), w.alice)
			w.OK(err)
			for _, worker := range all {
				if worker.Running {
					names = append(names, worker.Name+" "+worker.Runners[0])
				}
			}
			return names
		}
		claim := func(runner string, leaseSeconds int) *fermata.Claim {
			w.Helper()
			c, err := w.Engine.Claim(w.Context(), w.agent, fermata.ClaimRequest{Worker: "w", Runners: []string{runner}, LeaseSeconds: leaseSeconds})
			if err != nil && !errors.Is(err, engine.ErrNoTask) {
				w.Fatal(err)
			}
			return c
		}
		w.task(fermata.NewTask{Spec: json.RawMessage(`{"command":["make"]}`)})
		claim("shell", 8)
		w.Clock.Advance(5 * time.Second)
		claim("claude", 60)
		w.Equal([]string{"w claude", "w shell"}, running())
		w.sweep(4 * time.Second)
		w.Equal([]string{"w claude"}, running())
		claim("shell", 8)
		w.Equal([]string{"w shell", "w claude"}, running())
	})
}

// A worker that leaves is not running until it claims again. It removes no other worker from the list.
func TestAWorkerThatEndsIsNotRunning(t *testing.T) {
	each(t, func(w *world) {
		own, shell := fermata.ClaimRequest{Worker: "own"}, fermata.ClaimRequest{Worker: "own", Runners: []string{"shell"}}
		running := func(want int) {
			w.Helper()
			all, err := w.Engine.Workers(w.Context(), w.alice)
			w.OK(err)
			w.Equal(want, len(all))
		}
		claim := func(r fermata.ClaimRequest) {
			w.Helper()
			if _, err := w.Engine.Claim(w.Context(), w.agent, r); !errors.Is(err, engine.ErrNoTask) {
				w.Fatal(err)
			}
		}
		claim(own)
		claim(shell)
		running(2)
		w.CheckRefused(w.Engine.RemoveWorker(w.Context(), w.maker(), own), fermata.CodeForbidden)
		running(2)
		w.OK(w.Engine.RemoveWorker(w.Context(), w.agent, own))
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
			_, _ = w.Engine.Claim(w.Context(), w.agent, r)
			w.Clock.Advance(time.Second)
		}
		names := func(c fermata.Caller) (names []string) {
			w.Helper()
			all, err := w.Engine.Workers(w.Context(), c)
			w.OK(err)
			for _, worker := range all {
				names = append(names, worker.Name)
				if !worker.Running {
					w.Errorf("%+v", worker)
				}
			}
			return names
		}
		w.Equal([]string{"pay", "desk", "ci"}, names(w.alice))
		apart := w.alice
		apart.Projects = map[string]fermata.Role{"payroll": fermata.RoleNone}
		w.Equal([]string{"desk", "ci"}, names(apart))

		w.Clock.Advance(fermata.WorkerSilence)
		all, err := w.Engine.Workers(w.Context(), w.alice)
		w.OK(err)
		w.Equal(3, len(all))
		if all[0].Running {
			w.Errorf("%+v is running", all[0])
		}
		w.Clock.Advance(8 * 24 * time.Hour)
		_, _ = w.Engine.Claim(w.Context(), w.agent, fermata.ClaimRequest{Worker: "new"})
		w.Equal([]string{"new"}, names(w.alice))
		_, err = w.Engine.Workers(w.Context(), fermata.Caller{WorkspaceID: w.alice.WorkspaceID})
		w.CheckRefused(err, fermata.CodeForbidden)
	})
}

// A worker that goes on asking stays in the list, and a worker that has left does not come back with the next flush.
func TestAWorkerThatAsksAgainIsRecorded(t *testing.T) {
	each(t, func(w *world) {
		running := func() (names []string) {
			w.Helper()
			all, err := w.Engine.Workers(w.Context(), w.alice)
			w.OK(err)
			for _, worker := range all {
				if worker.Running {
					names = append(names, worker.Name)
				}
			}
			return names
		}
		claim := func(name string) { _, _ = w.Engine.Claim(w.Context(), w.agent, fermata.ClaimRequest{Worker: name}) }
		claim("stays")
		claim("leaves")
		engine.AgeWorkerRecords(w.Engine, 40*time.Second)
		w.Clock.Advance(fermata.WorkerSilence)
		w.Equal([]string(nil), running())
		claim("stays")
		claim("leaves")
		w.OK(w.Engine.RemoveWorker(w.Context(), w.agent, fermata.ClaimRequest{Worker: "leaves"}))
		engine.RecordDueWorkers(w.Context(), w.Engine)
		w.Equal([]string{"stays"}, running())

		// A worker that was silent for long is recorded with its claim.
		engine.AgeWorkerRecords(w.Engine, 2*fermata.WorkerSilence)
		w.Clock.Advance(fermata.WorkerSilence)
		claim("new")
		claim("stays")
		w.Equal([]string{"new", "stays"}, slices.Sorted(slices.Values(running())))
	})
}
