package scriptedmodel

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// object is a JSON object to write.
type object = map[string]any

// format is one wire format.
type format struct {
	parse func(path string, body []byte) (*Conversation, error)
	write func(w http.ResponseWriter, c *Conversation, r *reply)
}

// formats are chosen by the end of the path.
var formats = []struct {
	suffix string
	format
}{
	{"/messages", format{parseAnthropic, writeAnthropic}},
	{"/responses", format{parseResponses, writeResponses}},
	{"/chat/completions", format{parseChat, writeChat}},
	{":streamGenerateContent", format{parseGemini, writeGemini}},
	{":generateContent", format{parseGemini, writeGemini}},
}

// ServeHTTP serves every wire format on one address. The base address for a client is the server's own, with /v1
// appended for OpenAI's formats.
func (m *Model) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	path := req.URL.Path
	for _, f := range formats {
		if req.Method == http.MethodPost && strings.HasSuffix(path, f.suffix) {
			m.serveReply(w, req, body, f.format)
			return
		}
	}
	switch {
	case strings.HasSuffix(path, "/count_tokens"):
		m.record(Request{Kind: "count_tokens", Method: req.Method, Path: path})
		writeJSON(w, http.StatusOK, object{"input_tokens": 1000})
	case strings.HasSuffix(path, ":countTokens"):
		m.record(Request{Kind: "count_tokens", Method: req.Method, Path: path})
		writeJSON(w, http.StatusOK, object{"totalTokens": 1000})
	case req.Method == http.MethodGet && strings.HasSuffix(path, "/models"):
		m.record(Request{Kind: "models", Method: req.Method, Path: path})
		writeJSON(w, http.StatusOK, object{"object": "list", "data": []any{
			object{"id": "scripted", "object": "model", "type": "model", "display_name": "scripted"},
		}})
	default: // any other request is recorded, so that a test can see it
		m.record(Request{Kind: "other", Method: req.Method, Path: req.URL.RequestURI(), Body: string(body)})
		writeJSON(w, http.StatusNotFound, object{"error": object{"type": "not_found_error", "message": "the scripted model does not serve this"}})
	}
}

// serveReply plays one turn.
func (m *Model) serveReply(w http.ResponseWriter, req *http.Request, body []byte, f format) {
	c, err := f.parse(req.URL.Path, body)
	if err != nil {
		m.record(Request{Kind: "bad", Method: req.Method, Path: req.URL.Path, Body: string(body)})
		writeJSON(w, http.StatusBadRequest, object{"error": object{"type": "invalid_request_error", "message": err.Error()}})
		return
	}
	r := m.nextReply(req.Context(), c, req.Method, req.URL.Path)
	if !m.awaitSend(req.Context(), r.rule) {
		return
	}
	if r.rule.Status != 0 {
		writeJSON(w, r.rule.Status, object{"type": "error", "error": object{"type": "api_error", "message": "scripted error"}})
		return
	}
	f.write(w, c, r)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v) //nolint:errcheck // a client that is gone needs no reply
}

// beginEvents begins a stream of server-sent events.
func beginEvents(w http.ResponseWriter) { w.Header().Set("Content-Type", "text/event-stream") }

// writeEvent writes one event. Its name may be empty.
func writeEvent(w http.ResponseWriter, name string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // it is made of maps and strings
	}
	if name != "" {
		fmt.Fprintf(w, "event: %s\n", name)
	}
	fmt.Fprintf(w, "data: %s\n\n", data)
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}
