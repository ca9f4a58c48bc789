package api_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/test/patience"
)

// later makes a call in the background.
func (w *world) later(token, call, body string) <-chan reply {
	done := make(chan reply, 1)
	go func() { done <- w.call(token, call, body) }()
	return done
}

func TestWaitEndsWithTheAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	q := w.ask(say)
	waiting := w.later(w.agent, "GET /v1/questions/"+q.ID+"?wait=60s", "")
	w.must(http.StatusOK, w.human, "POST /v1/questions/"+q.ID+"/answer", `{"answer":"x"}`, nil)
	var got fermata.Question
	patience.Receive(t, "the wait ends", waiting).read(t, &got)
	if got.Status != fermata.Answered || got.Resolution.Answer != "x" {
		t.Errorf("got %s %+v", got.Status, got.Resolution)
	}
}

func TestWaitReturnsThePendingQuestionWhenItIsOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var got fermata.Question
	w.must(http.StatusOK, w.agent, "GET /v1/questions/"+w.ask(say).ID+"?wait=1ms", "", &got)
	if got.Status != fermata.Pending {
		t.Errorf("got %s", got.Status)
	}
}

func TestWaitEndsWhenTheServerDrains(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	q := w.ask(say)
	waits := []<-chan reply{
		w.later(w.agent, "GET /v1/questions/"+q.ID+"?wait=60s", ""),
		w.later(w.agent, "POST /v1/claims", `{"worker":"w","wait_seconds":60}`),
	}
	w.api.SetDraining()
	for i, want := range []int{http.StatusOK, http.StatusNoContent} {
		if r := patience.Receive(t, "the wait ends", waits[i]); r.status != want {
			t.Errorf("wait %d got %d %s, want %d", i, r.status, r.body, want)
		}
	}
}

func TestClaimWithoutATaskIsEmpty(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.call(w.agent, "POST /v1/claims", `{"worker":"w"}`)
	if r.status != http.StatusNoContent || len(r.body) > 0 {
		t.Errorf("got %d %s", r.status, r.body)
	}
}

func TestClientThatLeavesEndsTheWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	q := w.ask(say)
	ctx, leave := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+"/v1/questions/"+q.ID+"?wait=60s", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+w.agent)
	leave()
	if res, err := http.DefaultClient.Do(req); err == nil {
		res.Body.Close()
		t.Error("the wait was answered")
	}
	// Closing the server waits for its handlers. A handler that still waits
	// would make the cleanup last a minute.
}

func TestWholeLifeOfATask(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task := w.task(`{"title":"t"}`)
	var claim fermata.Claim
	w.must(http.StatusOK, w.agent, "POST /v1/claims", `{"worker":"w","wait_seconds":5}`, &claim)
	run, token := "POST /v1/runs/"+claim.Run.ID, fmt.Sprintf(`{"token":%d`, claim.Run.Token)
	w.must(http.StatusNoContent, w.agent, run+"/progress", token+`,"message":"half"}`, nil)
	w.must(http.StatusOK, w.agent, run+"/log", token+`,"text":"hello"}`, nil)
	w.must(http.StatusOK, w.agent, run+"/heartbeat", token+`}`, nil)
	w.must(http.StatusOK, w.agent, run+"/finish", token+`,"result":"needs_input","question":{"question":"Which?","options":["a","b"]}}`, nil)
	var suspended fermata.Task
	w.must(http.StatusOK, w.agent, "GET /v1/tasks/"+task.ID, "", &suspended)
	if suspended.State != fermata.TaskAwaitingInput || suspended.PendingQuestion == nil {
		t.Fatalf("after needs_input %+v", suspended)
	}
	w.must(http.StatusOK, w.human, "POST /v1/questions/"+suspended.PendingQuestion.ID[15:]+"/answer", `{"answer":"a"}`, nil)
	w.must(http.StatusOK, w.agent, "POST /v1/claims", `{"worker":"w"}`, &claim)
	if len(claim.Context.Questions) != 1 || claim.Run.Attempt != 2 {
		t.Fatalf("resumed with %+v", claim.Context)
	}
	w.must(http.StatusOK, w.agent, "POST /v1/runs/"+claim.Run.ID+"/finish", fmt.Sprintf(`{"token":%d,"result":"completed"}`, claim.Run.Token), &suspended)
	if suspended.State != fermata.TaskDone {
		t.Errorf("ended %s", suspended.State)
	}
	for _, call := range []string{"runs", "tree", "context", "messages", "events", "questions"} {
		w.must(http.StatusOK, w.agent, "GET /v1/tasks/"+task.ID+"/"+call, "", nil)
	}
	w.must(http.StatusOK, w.agent, "GET /v1/runs/"+claim.Run.ID+"/log?wait=10s", "", nil)
	w.must(http.StatusOK, w.agent, "GET /v1/projects", "", nil)
	w.must(http.StatusOK, w.admin, "GET /v1/audit/verify", "", nil)
}
