package api_test

import (
	"encoding/csv"
	"net/http"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
)

// answered asks and answers a question.
func (w *world) answered(question string) *fermata.Question {
	w.Helper()
	q := w.ask(`{"question":"` + question + `"}`)
	w.must(http.StatusOK, w.human, "POST /v1/questions/"+q.ID+"/answer", `{"answer":"yes","channel":"web"}`, q)
	return q
}

func TestAnalytics(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.answered("Deploy build 7?")
	newest := w.answered("Deploy build 8?")
	w.ask(`{"question":"Which colour?"}`)
	var s fermata.AnalyticsSummary
	w.must(http.StatusOK, w.human, "GET /v1/analytics/summary", "", &s)
	if s.Asked != 3 || s.Pending != 1 || s.Answered != 2 || s.TimeToAnswer.N != 2 || s.TimeToAnswer.Median == nil || *s.Reflex.Value != 1 || s.Reflex.N != 2 ||
		*s.TimeoutRate.Value != 0 || s.TimeoutRate.N != 2 || len(s.Types) != 1 || len(s.Channels) != 1 || s.Channels[0].Channel != "web" {
		t.Errorf("%+v", s)
	}
	if s.To.Sub(s.From).Hours() != 30*24 {
		t.Errorf("from %s to %s", s.From, s.To)
	}
	var series fermata.AnalyticsSeries
	w.must(http.StatusOK, w.human, "GET /v1/analytics/series?interval=week", "", &series)
	if len(series.Items) != 5 || series.Items[4].Asked != 3 {
		t.Errorf("%+v", series)
	}
	var questions fermata.AnalyticsQuestions
	w.must(http.StatusOK, w.human, "GET /v1/analytics/questions?limit=1", "", &questions)
	if len(questions.Items) != 1 || questions.Items[0].QuestionID != newest.ID || questions.Items[0].Asked != 2 || questions.Closed != 2 {
		t.Errorf("%+v", questions)
	}
	var responders fermata.AnalyticsResponders
	w.must(http.StatusOK, w.human, "GET /v1/analytics/responders?type=blocking", "", &responders)
	if len(responders.Items) != 1 || responders.Items[0].Handle != "ann" || responders.Items[0].Answered != 2 {
		t.Errorf("%+v", responders)
	}
	var projects fermata.AnalyticsProjects
	w.must(http.StatusOK, w.human, "GET /v1/analytics/projects?project=default", "", &projects)
	if len(projects.Items) != 1 || projects.Items[0].Project != "default" || projects.Items[0].Asked != 3 {
		t.Errorf("%+v", projects)
	}
	for _, query := range []string{"?from=x", "?type=x", "?format=pdf", "?interval=day", "?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z"} {
		if r := w.call(w.human, "GET /v1/analytics/summary"+query, ""); r.status != http.StatusBadRequest || r.problem(t).Code != fermata.CodeInvalidRequest {
			t.Errorf("%s: %d %s", query, r.status, r.body)
		}
	}
	if r := w.call("", "GET /v1/analytics/summary", ""); r.status != http.StatusUnauthorized {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// TestAnalyticsAsCSV checks that every report is a table with a header. Every
// row is as long as the header, and no cell is a formula.
func TestAnalyticsAsCSV(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.answered(`=HYPERLINK(\"http://x\",\"go, \\\"on\\\"\")`)
	w.answered("Which colour?")
	for report, c := range map[string]struct {
		head string
		rows int
	}{
		"summary": {"of,name,asked,pending,by_rule,timed_out,cancelled,timeout_rate,timeout_rate_n,answered,median_seconds,p90_seconds,time_to_answer_n,reflex,reflex_n", 3},
		"series":  {"from,to,asked,", 30}, "questions": {"title,question_id,asked,", 2}, "responders": {"handle,id,answered,", 1}, "projects": {"project,asked,", 1},
	} {
		r := w.call(w.human, "GET /v1/analytics/"+report+"?format=csv", "")
		if r.status != http.StatusOK || r.header.Get("Content-Type") != "text/csv; charset=utf-8" ||
			r.header.Get("Content-Disposition") != `attachment; filename="fermata-`+report+`.csv"` {
			t.Fatalf("%s: %d %v", report, r.status, r.header)
		}
		if !strings.HasPrefix(string(r.body), c.head) {
			t.Errorf("%s begins with %.150s", report, r.body)
		}
		rows, err := csv.NewReader(strings.NewReader(string(r.body))).ReadAll()
		if err != nil || len(rows) != 1+c.rows {
			t.Errorf("%s: %d rows, %v", report, len(rows), err)
		}
		for _, row := range rows {
			for _, cell := range row {
				if strings.HasPrefix(cell, "=") {
					t.Errorf("%s: %s", report, cell)
				}
			}
		}
	}
}
