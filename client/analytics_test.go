package client

import (
	"bytes"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
)

func TestAnalyticsQueries(t *testing.T) {
	t.Parallel()
	var asked string
	c := newTest(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.Path + "?" + r.URL.RawQuery
		if r.URL.Query().Get("format") == "csv" {
			w.Header().Set("Content-Type", "text/csv")
			_, _ = io.WriteString(w, "a,b\n1,2\n")
			return
		}
		writeJSON(w, http.StatusOK, map[string]any{})
	})
	from := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	q := AnalyticsQuery{From: &from, Project: "shop", Type: fermata.Approval, Interval: fermata.EveryWeek, Limit: 3}
	var csv bytes.Buffer
	const common = "from=2026-11-01T00%3A00%3A00Z"
	for want, call := range map[string]func() error{
		"/v1/analytics/summary?" + common + "&project=shop&type=approval":              func() error { _, err := c.AnalyticsSummary(t.Context(), q); return err },
		"/v1/analytics/series?" + common + "&interval=week&project=shop&type=approval": func() error { _, err := c.AnalyticsSeries(t.Context(), q); return err },
		"/v1/analytics/questions?" + common + "&limit=3&project=shop&type=approval":    func() error { _, err := c.AnalyticsQuestions(t.Context(), q); return err },
		"/v1/analytics/responders?" + common + "&project=shop&type=approval":           func() error { _, err := c.AnalyticsResponders(t.Context(), q); return err },
		"/v1/analytics/projects?" + common + "&project=shop&type=approval":             func() error { _, err := c.AnalyticsProjects(t.Context(), q); return err },
		"/v1/analytics/projects?format=csv&" + common + "&project=shop&type=approval":  func() error { return c.AnalyticsCSV(t.Context(), "projects", q, &csv) },
	} {
		if err := call(); err != nil || asked != want {
			t.Errorf("asked %s, %v; want %s", asked, err, want)
		}
	}
	if csv.String() != "a,b\n1,2\n" {
		t.Errorf("wrote %q", csv.String())
	}
}
