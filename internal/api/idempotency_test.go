package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
)

func TestRepeatedPostGetsTheFirstResult(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.call(w.agent, "POST /v1/tasks", `{"title":"once"}`, "Idempotency-Key", "k")
	head := w.Head()
	second := w.call(w.agent, "POST /v1/tasks", `{"title":"once"}`, "Idempotency-Key", "k")
	var a, b fermata.Task
	for r, into := range map[*reply]*fermata.Task{&first: &a, &second: &b} {
		if r.status != http.StatusCreated || json.Unmarshal(r.body, into) != nil {
			t.Fatalf("%d %s", r.status, r.body)
		}
	}
	if a.ID != b.ID || w.Head() != head {
		t.Errorf("the second request made %s beside %s", b.ID, a.ID)
	}
}

func TestSameKeyForAnotherRequestIsAConflict(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.call(w.agent, "POST /v1/tasks", `{"title":"once"}`, "Idempotency-Key", "k")
	r := w.call(w.agent, "POST /v1/tasks", `{"title":"twice"}`, "Idempotency-Key", "k")
	if r.status != http.StatusConflict || r.problem(t).Code != fermata.CodeIdempotencyConflict {
		t.Errorf("got %d %s", r.status, r.body)
	}
	other := w.call(w.human, "POST /v1/tasks", `{"title":"twice"}`, "Idempotency-Key", "k")
	if other.status != http.StatusCreated {
		t.Errorf("another caller got %d %s", other.status, other.body)
	}
}

func TestLongIdempotencyKeyIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.call(w.agent, "POST /v1/tasks", `{"title":"t"}`, "Idempotency-Key", strings.Repeat("k", 201))
	if p := r.problem(t); r.status != http.StatusBadRequest || p.Problems[0].Field != "Idempotency-Key" {
		t.Errorf("got %d %s", r.status, r.body)
	}
}

func TestBatchOfAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.ask(pick), w.ask(pick)
	body := `{"items":[{"question_id":"` + a.ID + `","answer":"a"},{"question_id":"` + b.ID + `","answer":"nope"},{"question_id":"q_00000000000000000000","answer":"a"}]}`
	for range 2 {
		r := w.call(w.human, "POST /v1/answers", body, "Idempotency-Key", "k")
		var out struct {
			Items []struct {
				Status   int
				Question *fermata.Question
				Problem  *struct{ Code fermata.Code }
			}
		}
		if err := json.Unmarshal(r.body, &out); err != nil || len(out.Items) != 3 {
			t.Fatalf("%d %s", r.status, r.body)
		}
		if got := out.Items[0]; got.Status != 200 || got.Question == nil || got.Question.Status != fermata.Answered {
			t.Errorf("first part %s", r.body)
		}
		if got := out.Items[1]; got.Status != 400 || got.Problem == nil || got.Problem.Code != fermata.CodeInvalidRequest {
			t.Errorf("second part %s", r.body)
		}
		if got := out.Items[2]; got.Status != 404 {
			t.Errorf("third part %s", r.body)
		}
	}
}
