package api_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
)

// forgedPlaces are the fields of a question that an asker fills in: how a text
// is put in, and how it is read back.
var forgedPlaces = map[string]struct {
	ask  func(text string) map[string]any
	back func(q *fermata.Question) string
}{
	"title":    {func(s string) map[string]any { return map[string]any{"title": s, "question": "Really?"} }, func(q *fermata.Question) string { return q.Title }},
	"question": {func(s string) map[string]any { return map[string]any{"question": s} }, func(q *fermata.Question) string { return q.Items[0].Prompt }},
	"body":     {func(s string) map[string]any { return map[string]any{"question": "Really?", "body": s} }, func(q *fermata.Question) string { return q.Body }},
	"context": {
		func(s string) map[string]any { return map[string]any{"question": "Really?", "context": s} },
		func(q *fermata.Question) string { return q.Context.Text },
	},
	"error": {
		func(s string) map[string]any {
			return map[string]any{"question": "Really?", "context": map[string]any{"error": s}}
		},
		func(q *fermata.Question) string { return q.Context.Error },
	},
	"preview": {
		func(s string) map[string]any {
			return map[string]any{"question": "Really?", "context": map[string]any{"preview": map[string]any{"kind": "text", "text": s}}}
		},
		func(q *fermata.Question) string { return q.Context.Preview.Text },
	},
	"option": {
		func(s string) map[string]any {
			return map[string]any{"question": "Which?", "options": []any{map[string]any{"value": s, "description": "x" + s}, "b"}}
		},
		func(q *fermata.Question) string { return q.Items[0].Options[0].Value },
	},
}

// TestForgedTextsComeBackOrAreRefused checks that the API returns every text
// that it accepts unchanged, character for character, and refuses every other
// text with a code.
func TestForgedTextsComeBackOrAreRefused(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../testdata/forging.json")
	if err != nil {
		t.Fatal(err)
	}
	var corpus struct {
		Texts []struct {
			Class, Name, Text string
			Repeat            int
		}
	}
	if err := json.Unmarshal(data, &corpus); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	kept, refused := 0, 0
	for _, f := range corpus.Texts {
		text := f.Text
		if f.Repeat > 0 {
			text = strings.Repeat(text, f.Repeat)
		}
		for place, p := range forgedPlaces {
			q := w.forge(f.Class+"/"+f.Name+" in "+place, p.ask(text))
			if q == nil {
				refused++
				continue
			}
			kept++
			if got := p.back(q); got != text {
				t.Errorf("%s/%s in %s: %.100q came back as %.100q", f.Class, f.Name, place, text, got)
			}
		}
		action := wire(t, map[string]any{"command": text})
		q := w.forge(f.Class+"/"+f.Name+" in the action", map[string]any{"question": "Run it?", "action": json.RawMessage(action)})
		if q == nil {
			refused++
			continue
		}
		kept++
		if !bytes.Equal(q.Action, fermata.CanonicalAction(action)) || q.ActionHash != fermata.HashAction(action) {
			t.Errorf("%s/%s: the action %.100q came back as %.100q", f.Class, f.Name, action, q.Action)
		}
	}
	t.Logf("%d texts came back, %d were refused", kept, refused)
	if kept < 500 {
		t.Errorf("only %d texts were taken", kept)
	}
}

// wire encodes a request without escaping its characters.
func wire(t *testing.T, v any) []byte {
	t.Helper()
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(buf.Bytes())
}

// forge asks, and reads the question back. It returns nil if the question was
// refused.
func (w *world) forge(name string, ask map[string]any) *fermata.Question {
	w.Helper()
	r := w.call(w.agent, "POST /v1/questions", string(wire(w.T, ask)))
	if r.status >= 400 {
		if p := r.problem(w.T); p.Code != fermata.CodeInvalidRequest && r.status != http.StatusRequestEntityTooLarge {
			w.Errorf("%s: refused with %d %s", name, r.status, p.Code)
		}
		return nil
	}
	var asked, read fermata.Question
	r.read(w.T, &asked)
	w.call(w.human, "GET /v1/questions/"+asked.ID, "").read(w.T, &read)
	return &read
}
