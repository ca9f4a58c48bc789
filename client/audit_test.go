package client

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/checkpoint"
	"github.com/fermata-hq/fermata/internal/keys"
)

// exportLines returns n lines of an export. They hold a chain of events that
// begins with the number from.
func exportLines(from int64, n int) []string {
	var lines []string
	hash := "before"
	for i := range n {
		e := fermata.Event{Type: fermata.EventTaskCreated, Actor: fermata.SystemActor, At: time.UnixMilli(1).UTC()}
		e.Link(from+int64(i), hash)
		hash = e.Hash
		line, err := json.Marshal(e)
		if err != nil {
			panic(err)
		}
		lines = append(lines, string(line)+"\n")
	}
	return lines
}

func TestExportIsVerified(t *testing.T) {
	t.Parallel()
	lines := exportLines(7, 4)
	for name, c := range map[string]struct {
		lines  []string
		ok     bool
		events int64
	}{
		"whole": {lines, true, 4}, "a part": {lines[1:3], true, 2}, "nothing": {nil, true, 0},
		"gap":     {[]string{lines[0], lines[2]}, false, 1},
		"order":   {[]string{lines[1], lines[0]}, false, 1},
		"changed": {[]string{lines[0], strings.Replace(lines[1], "task.created", "task.updated", 1)}, false, 1},
		"cut":     {[]string{lines[0], lines[1][:40]}, false, 1},
		"no JSON": {[]string{"hello\n"}, false, 0}, "other JSON": {[]string{"{}\n"}, false, 0}, "null": {[]string{"null\n"}, false, 0},
		"two in a line":   {[]string{lines[0], strings.TrimSpace(lines[1]) + lines[2]}, false, 1},
		"an endless line": {[]string{lines[0], strings.Repeat(" ", maxEventLine+1)}, false, 1},
	} {
		got := VerifyExport(strings.NewReader(strings.Join(c.lines, "")))
		if !got.OK && !strings.Contains(got.Problem, "line ") {
			t.Errorf("%s: %q names no line", name, got.Problem)
		}
		if got.OK != c.ok || got.Events != c.events || got.OK == (got.Problem != "") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Checkpoints in an export are verified with the public key, and compared with the events before them.
func TestCheckpointsInAnExportAreVerified(t *testing.T) {
	t.Parallel()
	signer, err := checkpoint.NewSigner(keys.New().AuditSigner())
	if err != nil {
		t.Fatal(err)
	}
	other, err := checkpoint.NewSigner(keys.New().AuditSigner())
	if err != nil {
		t.Fatal(err)
	}
	lines := exportLines(1, 3)
	second, third := eventOf(t, lines[1]), eventOf(t, lines[2])
	signed := func(s *checkpoint.Signer, seq int64, hash string) string {
		c, err := s.Sign(fermata.Checkpoint{Workspace: "default", Seq: seq, Hash: hash, At: time.UnixMilli(1).UTC()})
		if err != nil {
			t.Fatal(err)
		}
		e := fermata.Event{Type: fermata.EventAuditCheckpoint, Actor: fermata.SystemActor, At: time.UnixMilli(1).UTC(), Data: encode(t, c)}
		e.Link(4, third.Hash)
		return string(encode(t, e)) + "\n"
	}
	for name, c := range map[string]struct {
		checkpoint string
		ok         bool
		signedTo   int64
	}{
		"the last event":    {signed(signer, 3, third.Hash), true, 3},
		"an event before":   {signed(signer, 2, second.Hash), true, 2},
		"another event":     {signed(signer, 2, "another hash"), false, 0},
		"no event":          {signed(signer, 0, ""), true, 0},
		"an event after it": {signed(signer, 9, "later"), true, 0},
		"signed by another": {signed(other, 3, third.Hash), false, 0},
		"no number":         {signed(signer, -7, third.Hash), true, 0},
	} {
		v := NewVerification(nil)
		v.VerifySignatures(signer)
		got := v.VerifyExport(strings.NewReader(strings.Join(lines, "") + c.checkpoint))
		if got.OK != c.ok || got.SignedTo != c.signedTo || got.OK && got.Events != 4 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// An export may name any numbers.
func TestAnExportOfImpossibleNumbers(t *testing.T) {
	t.Parallel()
	signer, err := checkpoint.NewSigner(keys.New().AuditSigner())
	if err != nil {
		t.Fatal(err)
	}
	v := NewVerification(nil)
	v.VerifySignatures(signer)
	if got := v.VerifyExport(strings.NewReader(strings.Join(exportLines(-5, 7), ""))); got.SignedTo != 0 {
		t.Errorf("got %+v", got)
	}
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func eventOf(t *testing.T, line string) (e fermata.Event) {
	t.Helper()
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		t.Fatal(err)
	}
	return e
}

func TestExportThatIsCutOffIsAnError(t *testing.T) {
	t.Parallel()
	lines := exportLines(1, 3)
	for name, c := range map[string]struct {
		h    http.HandlerFunc
		n    int64
		want fermata.Code
	}{
		"whole": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/jsonl")
			_, _ = io.WriteString(w, strings.Join(lines, ""))
		}, 3, ""},
		"broken": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/jsonl")
			_, _ = io.WriteString(w, lines[0])
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, 1, fermata.CodeUnavailable},
		"half a line": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/jsonl")
			_, _ = io.WriteString(w, lines[0]+lines[1][:20])
		}, 1, fermata.CodeUnavailable},
		"refused": {func(w http.ResponseWriter, _ *http.Request) {
			writeJSON(w, http.StatusForbidden, map[string]any{"status": 403, "code": "forbidden", "detail": "no"})
		}, 0, fermata.CodeForbidden},
		"another server": {func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, "hello") }, 0, fermata.CodeInternal},
	} {
		var out bytes.Buffer
		n, err := newTest(t, c.h).ExportAudit(t.Context(), nil, nil, &out)
		if n != c.n || fermata.CodeOf(err) != c.want || int64(strings.Count(out.String(), "\n")) != c.n {
			t.Errorf("%s: %d events, %v", name, n, err)
		}
	}
}

func TestAuditQuery(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 11, 1, 0, 0, 0, 1_000_000, time.UTC)
	var asked string
	c := newTest(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.RawQuery
		writeJSON(w, http.StatusOK, fermata.AuditPage{NextCursor: "next"})
	})
	p, err := c.Audit(t.Context(), AuditQuery{Q: "x y", Types: []string{"a", "b"}, Actor: "ann", TaskID: "t", From: &from, Limit: 3, Cursor: "c"})
	if want := "actor=ann&cursor=c&from=2026-11-01T00%3A00%3A00.001Z&limit=3&q=x+y&task=t&type=a%2Cb"; err != nil || asked != want || p.NextCursor != "next" {
		t.Errorf("%v, %+v, asked %s", err, p, asked)
	}
}
