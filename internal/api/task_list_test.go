package api_test

import (
	"net/http"
	"testing"

	"github.com/fermata-hq/fermata"
)

type taskPage struct {
	Items      []fermata.Task
	NextCursor string `json:"next_cursor"`
}

func TestTasksSayWhoIsWaitedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	q := w.ask(`{"question":"Go?","assignees":["ann"],"timeout":"1h","on_timeout":"skip"}`)
	w.task(`{"title":"other","agent":"review","priority":0}`)
	var p taskPage
	w.must(http.StatusOK, w.human, "GET /v1/tasks?needs_person=true", "", &p)
	if len(p.Items) != 1 || p.Items[0].Waiting == nil {
		t.Fatalf("%+v", p.Items)
	}
	if got := p.Items[0].Waiting; got.QuestionID != q.ID || got.Title != "Go?" || !got.Since.Equal(q.CreatedAt) || !got.Deadline.Equal(*q.Deadline) ||
		got.OnTimeout != fermata.SkipTask || len(got.Assignees) != 1 || got.Assignees[0] != "ann" {
		t.Errorf("waiting %+v", got)
	}
	for query, want := range map[string]int{"agent=review": 1, "sort=priority": 2, "sort=updated&q=OTHER": 1, "agent=none": 0} {
		w.must(http.StatusOK, w.human, "GET /v1/tasks?"+query, "", &p)
		if len(p.Items) != want {
			t.Errorf("%s: %d tasks", query, len(p.Items))
		}
	}
	if r := w.call(w.human, "GET /v1/tasks?sort=size", ""); r.status != http.StatusBadRequest {
		t.Errorf("%d %s", r.status, r.body)
	}
}

func TestTaskCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ask(`{"question":"Go?"}`)
	w.task(`{"title":"other","project":"web"}`)
	var c fermata.TaskCounts
	w.must(http.StatusOK, w.human, "GET /v1/tasks/counts", "", &c)
	if c.Total != 2 || c.Columns[fermata.ColumnNeedsPerson] != 1 || c.States[fermata.TaskOpen] != 1 || len(c.States) != len(fermata.TaskStates) {
		t.Errorf("%+v", c)
	}
	w.must(http.StatusOK, w.human, "GET /v1/tasks/counts?project=web", "", &c)
	if c.Total != 1 || c.Columns[fermata.ColumnReady] != 1 {
		t.Errorf("%+v", c)
	}
}

func TestTimelineGoesBackwards(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	q := w.ask(`{"question":"Go?"}`)
	w.must(http.StatusCreated, w.human, "POST /v1/tasks/"+q.TaskID+"/messages", `{"body":"hello"}`, nil)
	w.must(http.StatusOK, w.human, "POST /v1/questions/"+q.ID+"/answer", `{"answer":"yes"}`, nil)
	var p struct {
		Items      []fermata.TimelineEntry
		NextCursor string `json:"next_cursor"`
	}
	w.must(http.StatusOK, w.human, "GET /v1/tasks/"+q.TaskID+"/timeline?limit=2", "", &p)
	if len(p.Items) != 2 || p.Items[0].Message == nil || p.Items[0].Message.Body != "hello" || p.Items[1].Resolution == nil ||
		p.Items[1].Resolution.Answer != "yes" || p.NextCursor == "" {
		t.Fatalf("%+v", p)
	}
	cursor := p.NextCursor
	p.NextCursor = ""
	w.must(http.StatusOK, w.human, "GET /v1/tasks/"+q.TaskID+"/timeline?cursor="+cursor, "", &p)
	if len(p.Items) != 2 || p.Items[0].Type != fermata.EventTaskCreated || p.Items[1].Question == nil || p.NextCursor != "" {
		t.Errorf("%+v", p)
	}
	if r := w.call(w.human, "GET /v1/tasks/nope/timeline", ""); r.status != http.StatusNotFound {
		t.Errorf("%d %s", r.status, r.body)
	}
}
