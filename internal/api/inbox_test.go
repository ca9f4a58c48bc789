package api_test

import (
	"net/http"
	"testing"

	"github.com/fermata-hq/fermata"
)

// inboxRoutes are the calls of the inbox.
var inboxRoutes = []string{
	"DELETE /v1/views/{name}", "GET /v1/notifications", "GET /v1/questions/counts", "GET /v1/questions/{id}/deciders", "GET /v1/questions/{id}/receipt", "GET /v1/questions/{id}/similar", "GET /v1/views",
	"POST /v1/notifications/read", "POST /v1/questions/{id}/assign", "POST /v1/questions/{id}/comments",
	"POST /v1/questions/{id}/decision", "POST /v1/questions/{id}/snooze", "POST /v1/questions/{id}/undo", "PUT /v1/views/{name}",
}

type questionPage struct {
	Items      []fermata.Question
	NextCursor string `json:"next_cursor"`
}

func TestUndoOverHTTP(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	at := "/v1/questions/" + w.ask(pick).ID
	var q fermata.Question
	w.must(http.StatusOK, w.human, "POST "+at+"/answer", `{"answer":"a","undo":true}`, &q)
	if q.Status != fermata.Pending || q.HeldAnswer == nil || q.HeldAnswer.By.Name != "ann" || q.HeldAnswer.Answer != "a" {
		t.Fatalf("%+v", q)
	}
	r := w.call(w.other, "POST "+at+"/answer", `{"answer":"b"}`)
	if p := r.problem(t); r.status != http.StatusConflict || p.Code != fermata.CodeQuestionClosed || p.Question.HeldAnswer.By.Name != "ann" {
		t.Errorf("%d %s", r.status, r.body)
	}
	if p := w.call(w.other, "POST "+at+"/undo", "").problem(t); p.Code != fermata.CodeNotEligible {
		t.Errorf("somebody else: %+v", p)
	}
	q = fermata.Question{}
	w.must(http.StatusOK, w.human, "POST "+at+"/undo", "{}", &q)
	if q.HeldAnswer != nil {
		t.Errorf("%+v", q.HeldAnswer)
	}
	if p := w.call(w.human, "POST "+at+"/undo", "").problem(t); p.Code != fermata.CodeIllegalTransition {
		t.Errorf("again: %+v", p)
	}
}

// TestMyQuestions checks that a person's list and its counts cover the same
// questions, and contain the further data that a person needs.
func TestMyQuestions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ask(pick)
	w.ask(`{"question":"For ann?","assignees":["ann"],"risk":"high","priority":1}`)
	w.ask(`{"question":"For bob?","assignees":["bob"]}`)
	w.ask(`{"question":"Any default?","type":"non_blocking","default":"x","priority":3}`)
	var list questionPage
	w.must(http.StatusOK, w.human, "GET /v1/questions?status=pending&for=me", "", &list)
	var titles []string
	for _, q := range list.Items {
		titles = append(titles, q.Title)
		if q.Answerable == nil || !*q.Answerable || q.TaskTitle != "t" || q.WaitingWork == nil || (q.WaitingWork.Tasks == 1) != q.Type.Suspends() {
			t.Errorf("%s: %v %q %+v", q.Title, q.Answerable, q.TaskTitle, q.WaitingWork)
		}
	}
	if len(titles) != 3 || titles[0] != "For ann?" || titles[2] != "Any default?" {
		t.Errorf("list %q", titles)
	}
	var counts fermata.QuestionCounts
	w.must(http.StatusOK, w.human, "GET /v1/questions/counts?for=me", "", &counts)
	if counts.Pending != 3 || counts.Urgent != 2 || counts.ByType[fermata.NonBlocking] != 1 || counts.ByProject["default"] != 3 {
		t.Errorf("counts %+v", counts)
	}
	for query, want := range map[string]int{
		"": 4, "for=me&urgency=high": 2, "risk=high": 1, "urgency=low": 1, "q=ANN": 1, "q=prompt": 0, "assignee=bob": 1, "label=x": 0, "snoozed=true": 0,
	} {
		list = questionPage{}
		w.must(http.StatusOK, w.human, "GET /v1/questions?status=pending&"+query, "", &list)
		if len(list.Items) != want {
			t.Errorf("%q: %d questions, want %d", query, len(list.Items), want)
		}
	}
	list = questionPage{}
	w.must(http.StatusOK, w.agent, "GET /v1/questions?status=pending&for=me", "", &list)
	if len(list.Items) != 0 {
		t.Errorf("an agent may answer %d questions", len(list.Items))
	}
	if r := w.call(w.human, "GET /v1/questions?sort=luck", ""); r.status != http.StatusBadRequest && r.status != http.StatusUnprocessableEntity {
		t.Errorf("an unknown order: %d", r.status)
	}
}

// TestInboxOverHTTP calls the rest of the inbox once, as a client does.
func TestInboxOverHTTP(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	at := "/v1/questions/" + w.ask(pick).ID
	var q fermata.Question
	w.must(http.StatusOK, w.human, "POST "+at+"/assign", `{"assignees":["bob","ann"],"note":"look"}`, &q)
	if len(q.Assignees) != 2 {
		t.Errorf("assigned to %v", q.Assignees)
	}
	if p := w.call(w.human, "POST "+at+"/assign", `{"assignees":["bob","nobody"]}`).problem(t); len(p.Problems) != 1 || p.Problems[0].Field != "assignees[1]" {
		t.Errorf("%+v", p)
	}
	if p := w.call(w.human, "POST "+at+"/assign", `{}`).problem(t); p.Code != fermata.CodeInvalidRequest {
		t.Errorf("an assignment of nothing: %+v", p)
	}
	w.must(http.StatusOK, w.human, "POST "+at+"/snooze", `{"for":"10m"}`, &q)
	if q.SnoozedUntil == nil {
		t.Error("it is not put off")
	}
	for _, body := range []string{`{}`, `{"until":null}`} {
		q = fermata.Question{}
		w.must(http.StatusOK, w.human, "POST "+at+"/snooze", body, &q)
		if q.SnoozedUntil != nil {
			t.Errorf("%s: put off until %s", body, q.SnoozedUntil)
		}
	}
	var m fermata.Message
	w.must(http.StatusCreated, w.human, "POST "+at+"/comments", `{"body":"hm"}`, &m)
	if m.Kind != fermata.MessageComment || m.QuestionID == "" {
		t.Errorf("%+v", m)
	}
	var past struct{ Items []fermata.PastAnswer }
	w.must(http.StatusOK, w.human, "GET "+at+"/similar", "", &past)
	if past.Items == nil || len(past.Items) != 0 {
		t.Errorf("%+v", past)
	}
	var v fermata.SavedView
	w.must(http.StatusOK, w.human, "PUT /v1/views/Now%20%2F%20ours", `{"query":"for=me","shared":true}`, &v)
	if v.Name != "Now / ours" || v.Owner != "ann" {
		t.Errorf("%+v", v)
	}
	w.must(http.StatusNoContent, w.human, "DELETE /v1/views/Now%20%2F%20ours", "", nil)
	w.must(http.StatusNotFound, w.human, "DELETE /v1/views/Now%20%2F%20ours", "", nil)
	var n fermata.Notifications
	w.must(http.StatusOK, w.other, "GET /v1/notifications?limit=1", "", &n)
	if len(n.Items) != 1 || n.Items[0].Type != fermata.EventQuestionAssigned || n.Unread != 2 || n.NextCursor == "" || n.Items[0].Question.Answerable == nil || !*n.Items[0].Question.Answerable {
		t.Errorf("%+v", n)
	}
	n = fermata.Notifications{}
	w.must(http.StatusOK, w.other, "POST /v1/notifications/read", `{"up_to":9999}`, &n)
	if n.Unread != 0 {
		t.Errorf("%+v", n)
	}
	for _, call := range []string{"GET /v1/notifications", "GET /v1/views", "POST " + at + "/snooze", "POST " + at + "/comments", "POST " + at + "/assign"} {
		body := ""
		if call[0] == 'P' {
			body = map[byte]string{'e': `{"for":"1m"}`, 's': `{"body":"x"}`, 'n': `{"assignees":[]}`}[call[len(call)-1]]
		}
		if r := w.call(w.agent, call, body); r.status != http.StatusForbidden {
			t.Errorf("%s by an agent: %d %s", call, r.status, r.body)
		}
	}
}
