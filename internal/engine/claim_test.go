package engine_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/test/patience"
)

func TestClaimOrder(t *testing.T) {
	each(t, func(w *world) {
		low := w.task(fermata.NewTask{Priority: ptr(4)})
		w.Clock.Advance(time.Second)
		old := w.task(fermata.NewTask{})
		w.Clock.Advance(time.Second)
		young := w.task(fermata.NewTask{})
		high := w.task(fermata.NewTask{Priority: ptr(0)})
		w.say(low.ID, "first, please")
		for _, want := range []*fermata.Task{low, high, old, young} {
			w.claimTask(want.ID)
		}
		w.checkNoTask()
	})
}

// A worker gets only tasks that it can do. Otherwise it would report a task as done although nothing was done.
func TestClaimFilters(t *testing.T) {
	command := json.RawMessage(`{"command":["make"]}`)
	each(t, func(w *world) {
		for _, c := range []struct {
			name    string
			task    fermata.NewTask
			request fermata.ClaimRequest
			want    bool
		}{
			{"anything", fermata.NewTask{}, fermata.ClaimRequest{}, true},
			{"another runner", fermata.NewTask{Runner: "claude"}, fermata.ClaimRequest{Runners: []string{"codex"}}, false},
			{"no runner", fermata.NewTask{Runner: "claude"}, fermata.ClaimRequest{}, false},
			{"the runner", fermata.NewTask{Runner: "claude"}, fermata.ClaimRequest{Runners: []string{"codex", "claude"}}, true},
			{"any runner", fermata.NewTask{}, fermata.ClaimRequest{Runners: []string{"codex"}}, true},
			{"another project", fermata.NewTask{Project: "web"}, fermata.ClaimRequest{Projects: []string{"api"}}, false},
			{"the project", fermata.NewTask{Project: "web"}, fermata.ClaimRequest{Projects: []string{"api", "web"}}, true},
			{"another role", fermata.NewTask{Agent: "review"}, fermata.ClaimRequest{Agents: []string{"code"}}, false},
			{"the role", fermata.NewTask{Agent: "review"}, fermata.ClaimRequest{Agents: []string{"review"}}, true},
			{"no role", fermata.NewTask{}, fermata.ClaimRequest{Agents: []string{"review"}}, true},
			{"every role", fermata.NewTask{Agent: "review"}, fermata.ClaimRequest{}, true},
			{"a command, and a program of the worker's own", fermata.NewTask{Spec: command}, fermata.ClaimRequest{Runners: []string{"command"}}, false},
			{"a command for the runner command", fermata.NewTask{Runner: "command", Spec: command}, fermata.ClaimRequest{Runners: []string{"command"}}, false},
			{"a command, and no runner", fermata.NewTask{Spec: command}, fermata.ClaimRequest{}, false},
			{"a command that is allowed", fermata.NewTask{Spec: command}, fermata.ClaimRequest{Runners: []string{"claude", "shell"}}, true},
			{"nothing to run it with", fermata.NewTask{}, fermata.ClaimRequest{Runners: []string{"shell"}}, false},
			{"no program of the worker's own", fermata.NewTask{Runner: "command"}, fermata.ClaimRequest{Runners: []string{"shell"}}, false},
			{"isolated, and no sandbox", fermata.NewTask{Isolated: true}, fermata.ClaimRequest{Runners: []string{"claude"}}, false},
			{"isolated", fermata.NewTask{Isolated: true, Runner: "claude"}, fermata.ClaimRequest{Runners: []string{"claude"}, Isolates: true}, true},
			{"a sandbox that is not needed", fermata.NewTask{Runner: "claude"}, fermata.ClaimRequest{Runners: []string{"claude"}, Isolates: true}, true},
			{"an isolated command", fermata.NewTask{Isolated: true, Spec: command}, fermata.ClaimRequest{Runners: []string{"shell"}}, false},
			{"external", fermata.NewTask{Runner: fermata.RunnerExternal}, fermata.ClaimRequest{Runners: []string{"claude"}}, false},
		} {
			task := w.task(c.task)
			c.request.Worker = "w1"
			claim, err := w.Engine.Claim(w.Context(), w.agent, c.request)
			if got := err == nil && claim.Task.ID == task.ID; got != c.want {
				w.Errorf("%s: claimed %v (%v), want %v", c.name, got, err, c.want)
			}
			w.cancel(task.ID)
		}
	})
}

// Workflow runs belong to the server: no other caller creates or claims them,
// and the server claims no other task for them.
func TestRunsOfWorkflowsAreTheServersOwn(t *testing.T) {
	each(t, func(w *world) {
		_, err := w.Engine.CreateTask(w.Context(), w.agent, fermata.NewTask{Title: "run", Runner: fermata.RunnerWorkflow})
		w.CheckRefused(err, fermata.CodeInvalidRequest)
		run, err := engine.Write(w.Context(), w.Engine, admin, fermata.ToCancelTask, func(tx *store.Tx) (*fermata.Task, error) {
			return w.Engine.CreateTaskInTx(tx, fermata.NewTask{Title: "run", Runner: fermata.RunnerWorkflow}, fermata.SystemActor)
		})
		w.OK(err)
		w.checkNoTask()
		task := w.task(fermata.NewTask{})
		claim, err := w.Engine.ClaimWorkflow(w.Context(), store.DefaultWorkspace, "p1", time.Minute, 0)
		w.OK(err)
		w.Equal(run.ID, claim.Task.ID)
		if _, err := w.Engine.ClaimWorkflow(w.Context(), store.DefaultWorkspace, "p1", time.Minute, 0); !errors.Is(err, engine.ErrNoTask) {
			w.Fatalf("a worker's task was claimed for workflows: %v", err)
		}
		w.claimTask(task.ID)
	})
}

func TestClaimRefuses(t *testing.T) {
	each(t, func(w *world) {
		for _, r := range []fermata.ClaimRequest{
			{}, {Worker: "w1", Runners: []string{fermata.RunnerExternal}}, {Worker: "w1", Runners: []string{fermata.RunnerWorkflow}},
		} {
			_, err := w.Engine.Claim(w.Context(), w.agent, r)
			w.CheckRefused(err, fermata.CodeInvalidRequest)
		}
		_, err := w.Engine.Claim(w.Context(), w.alice, fermata.ClaimRequest{Worker: "w1"})
		w.CheckRefused(err, fermata.CodeForbidden)
	})
}

func TestClaimGivesARun(t *testing.T) {
	each(t, func(w *world) {
		task := w.task(fermata.NewTask{Title: "paint"})
		claim, err := w.Engine.Claim(w.Context(), w.agent, fermata.ClaimRequest{Worker: "w7", LeaseSeconds: 90})
		w.OK(err)
		r := claim.Run
		if r.TaskID != task.ID || r.Worker != "w7" || r.Attempt != 1 || r.Token == 0 || r.ClaimedFrom != fermata.TaskOpen ||
			!r.LeaseUntil.Equal(r.StartedAt.Add(90*time.Second)) || claim.Task.State != fermata.TaskInProgress || claim.Context.Resumed {
			w.Fatalf("claim: %+v %+v", r, claim.Task)
		}
		stored, err := w.Engine.Run(w.Context(), w.agent, r.ID)
		w.OK(err)
		w.Equal(r.PublicView(), stored)
		w.checkState(task.ID, fermata.TaskInProgress)
	})
}

// TestClaimWaits: every change that makes a task ready wakes a waiting worker,
// before its next check.
func TestClaimWaits(t *testing.T) {
	for name, ready := range map[string]func(w *world) (id string, wake func()){
		"create": func(w *world) (string, func()) { return "", func() { w.task(fermata.NewTask{}) } },
		"answer": func(w *world) (string, func()) {
			task, q := w.createSuspended(format)
			return task.ID, func() { w.answer(q.ID, "toml") }
		},
		"message": func(w *world) (string, func()) {
			task, _ := w.createSuspended(format)
			return task.ID, func() { w.say(task.ID, "hello") }
		},
		"unblock": func(w *world) (string, func()) {
			first := w.createRunning(fermata.NewTask{})
			second := w.task(fermata.NewTask{BlockedBy: []string{first.Task.ID}})
			return second.ID, func() { w.complete(first) }
		},
		"release": func(w *world) (string, func()) {
			c := w.createRunning(fermata.NewTask{})
			return c.Task.ID, func() {
				_, err := w.Engine.Release(w.Context(), w.agent, c.Run.ID, c.Run.Token)
				w.OK(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				id, wake := ready(w)
				got := make(chan *fermata.Claim, 1)
				go func() {
					claim, err := w.Engine.Claim(w.Context(), w.agent, fermata.ClaimRequest{Worker: "w1", WaitSeconds: 30})
					if err != nil {
						w.Errorf("claim: %v", err)
					}
					got <- claim
				}()
				wake()
				if claim := patience.Receive(w, "the claim ends", got); claim != nil && id != "" && claim.Task.ID != id {
					w.Errorf("claimed %s, want %s", claim.Task.ID, id)
				}
			})
		})
	}
}
