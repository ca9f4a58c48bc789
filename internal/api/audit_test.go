package api_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
)

func TestAuditIsSearched(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	q := w.ask(`{"question":"Deploy <now>?"}`)
	w.must(http.StatusOK, w.human, "POST /v1/questions/"+q.ID+"/answer", `{"answer":"yes"}`, nil)
	for query, want := range map[string]int{
		"": int(w.Head()), "?type=question": 2, "?type=question.answered": 1, "?actor=ann": 1, "?actor=human&type=question": 1, "?task=" + q.TaskID: 3,
		"?q=%3Cnow%3E": 1, "?q=" + q.ID: 2, "?q=nothing": 0, "?to=2000-01-01T00:00:00Z": 0, "?from=2000-01-01T00:00:00Z&type=task": 1,
	} {
		var p fermata.AuditPage
		w.must(http.StatusOK, w.human, "GET /v1/audit"+query, "", &p)
		if len(p.Items) != want || p.Items == nil || p.NextCursor != "" {
			t.Errorf("%q found %d events, want %d", query, len(p.Items), want)
		}
	}
	var p fermata.AuditPage
	w.must(http.StatusOK, w.human, "GET /v1/audit?limit=2", "", &p)
	if len(p.Items) != 2 || p.Items[0].Seq != w.Head() || p.NextCursor == "" || p.SearchedTo != nil {
		t.Errorf("%+v", p)
	}
	for _, query := range []string{"?from=yesterday", "?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z", "?limit=0", "?cursor=x", "?who=ann"} {
		if r := w.call(w.human, "GET /v1/audit"+query, ""); r.status != http.StatusBadRequest || r.problem(t).Code != fermata.CodeInvalidRequest {
			t.Errorf("%s: %d %s", query, r.status, r.body)
		}
	}
}

func TestAuditIsExported(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.DB.Write(t.Context(), store.DefaultWorkspace, func(tx *store.Tx) error {
		for range 2500 {
			tx.Append(&fermata.Event{Type: fermata.EventProgressReported, Actor: fermata.SystemActor, Data: json.RawMessage(`{"message":"<x>"}`)})
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	r := w.call(w.human, "GET /v1/audit/export", "")
	if r.status != http.StatusOK || r.header.Get("Content-Type") != "application/jsonl" || !strings.HasPrefix(r.header.Get("Content-Disposition"), "attachment") {
		t.Fatalf("%d %v", r.status, r.header)
	}
	var chain fermata.Chain
	lines := bufio.NewScanner(bytes.NewReader(r.body))
	for lines.Scan() {
		var e fermata.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		if err := chain.VerifyNext(&e); err != nil {
			t.Fatal(err)
		}
	}
	if chain.Seq != w.Head() {
		t.Errorf("the export ends at %d, the record at %d", chain.Seq, w.Head())
	}
	if r := w.call("", "GET /v1/audit/export", ""); r.status != http.StatusUnauthorized {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r := w.call(w.human, "GET /v1/audit/export?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z", ""); r.status != http.StatusBadRequest {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// TestBrokenExportIsNoExport checks that an export that fails breaks the
// connection, so that a client cannot take a partial export for a complete one.
func TestBrokenExportIsNoExport(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ask(`{"question":"Deploy?"}`)
	storetest.Exec(t, w.Options, "DELETE FROM events WHERE seq > 2")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/v1/audit/export", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+w.admin)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return
	}
	defer res.Body.Close()
	if _, err := new(bytes.Buffer).ReadFrom(res.Body); err == nil {
		t.Error("the export looks whole")
	}
}
