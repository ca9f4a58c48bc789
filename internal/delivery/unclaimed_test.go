package delivery_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
)

// Operators are asked for a worker once for each kind of task that no worker takes. They are asked again if such a
// worker came and left.
func TestOperatorsAreAskedForAWorker(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		w := newWorld(t, opts, setup{audience: delivery.ToPeople})
		w.addMember("ops", fermata.RoleOperator)
		w.addChannel()
		create := func(title string) *fermata.Task {
			task, err := w.Engine.CreateTask(t.Context(), agent, fermata.NewTask{Title: title, Spec: json.RawMessage(`{"command":["make"]}`)})
			w.OK(err)
			return task
		}
		claim := func(name string, runners ...string) {
			_, err := w.Engine.Claim(t.Context(), agent, fermata.ClaimRequest{Worker: name, Runners: runners, LeaseSeconds: 3600})
			if err != nil && !errors.Is(err, engine.ErrNoTask) {
				t.Fatal(err)
			}
		}
		look := func(after time.Duration, want int) {
			t.Helper()
			w.Clock.Advance(after)
			w.OK(w.s.CheckUnclaimed(t.Context(), store.DefaultWorkspace))
			if n := len(w.alerts()); n != want {
				t.Fatalf("operators were asked %d times, want %d", n, want)
			}
		}
		first := create("build")
		create("test")
		look(0, 0)
		look(9*time.Minute, 0)
		claim("claude-1", "claude")
		look(time.Minute, 1)
		if alert := w.alerts()[0]; alert.TaskID != first.ID {
			t.Errorf("the alert is about %q, want the oldest task", alert.TaskID)
		}
		w.awaitText("wall-ops", "2 tasks wait for a worker", "build", "and 1 more", "No running worker runs the commands of tasks: there is claude-1.", "fermata worker --allow-task-commands")
		look(time.Hour, 1)

		// A worker comes and takes one of the tasks. The other task waits for this worker. Operators are asked again
		// when the worker is gone.
		claim("ci", "shell")
		look(0, 1)
		look(30*time.Minute, 1)
		w.passLeases(time.Hour)
		look(0, 1)
		look(10*time.Minute, 2)
		if n := len(w.wall.VisibleMessages("wall-ann")); n != 0 {
			t.Errorf("somebody who is no operator sees %d messages", n)
		}
	})
}

// Operators are not asked about tasks that no worker should take, nor about kinds that have a worker.
func TestNobodyIsAskedForAWorkerThatIsThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{audience: delivery.ToPeople})
	w.addMember("ops", fermata.RoleOperator)
	w.addChannel()
	_, err := w.Engine.CreateTask(t.Context(), agent, fermata.NewTask{Title: "mine", Runner: fermata.RunnerExternal})
	w.OK(err)
	held, err := w.Engine.CreateTask(t.Context(), agent, fermata.NewTask{Title: "held", Runner: "claude"})
	w.OK(err)
	_, err = w.Engine.Claim(t.Context(), agent, fermata.ClaimRequest{Worker: "w1", Runners: []string{"claude"}, LeaseSeconds: 3600})
	w.OK(err)
	_, err = w.Engine.CreateTask(t.Context(), agent, fermata.NewTask{Title: "next " + strings.ToLower(held.Title), Runner: "claude"})
	w.OK(err)
	for range 3 {
		w.OK(w.s.CheckUnclaimed(t.Context(), store.DefaultWorkspace))
		w.Clock.Advance(11 * time.Minute)
	}
	if n := len(w.alerts()); n != 0 {
		t.Errorf("operators were asked %d times", n)
	}
}
