package api_test

import (
	"net/http"
	"testing"

	"github.com/fermata-hq/fermata"
)

// The worker that claims a task names the token of its agents. Agents with this
// token can reach the task, and agents with other tokens cannot.
func TestAWorkerNamesTheTokenOfItsAgents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	worker := w.token(`{"name":"worker","scopes":["work"]}`)
	agents, others := w.token(`{"name":"agents","scopes":["ask"]}`), w.token(`{"name":"others","scopes":["ask"]}`)
	var task fermata.Task
	w.must(http.StatusCreated, w.admin, "POST /v1/tasks", `{"title":"Build"}`, &task)
	claim := func(header string) reply {
		return w.call(worker, "POST /v1/claims", `{"worker":"w"}`, "Fermata-Agent-Token", header)
	}
	for name, header := range map[string]string{"unknown": fermata.NewSecret(), "cut": agents[:20]} {
		if got := claim(header); got.status != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	if got := claim(agents); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	ask := "POST /v1/tasks/" + task.ID + "/questions"
	if got := w.call(others, ask, `{"question":"Which colour?"}`); got.status != http.StatusForbidden {
		t.Errorf("another agent asked: %d %s", got.status, got.body)
	}
	w.must(http.StatusCreated, agents, ask, `{"question":"Which colour?"}`, nil)
}
