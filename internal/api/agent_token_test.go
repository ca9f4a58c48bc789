package api_test

import (
	"encoding/json"
	"fmt"
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

// The claim of a result names the token of the worker's agents. If that token is not valid any more, the result counts
// all the same, and no task is claimed.
func TestTheClaimOfAResultNamesTheTokenOfTheAgents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	worker, agents := w.token(`{"name":"worker","scopes":["work"]}`), w.token(`{"name":"agents","scopes":["ask"]}`)
	for range 3 {
		w.task(`{"title":"Build"}`)
	}
	var claim fermata.Claim
	w.must(http.StatusOK, worker, "POST /v1/claims", `{"worker":"w"}`, &claim)
	finish := func(c fermata.Claim, header string) fermata.FinishReply {
		r := w.call(worker, "POST /v1/runs/"+c.Run.ID+"/finish",
			fmt.Sprintf(`{"token":%d,"result":"completed","claim":{"worker":"w"}}`, c.Run.Token), "Fermata-Agent-Token", header)
		var got fermata.FinishReply
		if err := json.Unmarshal(r.body, &got); err != nil || r.status != http.StatusOK || got.Task == nil || got.State != fermata.TaskDone {
			t.Fatalf("the result got %d %s (%v)", r.status, r.body, err)
		}
		return got
	}
	next := finish(claim, agents).Next
	if next == nil {
		t.Fatal("no task was claimed")
	}
	w.must(http.StatusCreated, agents, "POST /v1/tasks/"+next.Task.ID+"/questions", `{"question":"Which colour?"}`, nil)
	if got := finish(*next, fermata.NewSecret()).Next; got != nil {
		t.Errorf("a worker with a wrong token of its agents got %+v", got)
	}
}
