package scriptedmodel

import (
	"encoding/json"
	"net/http"
	"strings"
)

// geminiPart is a part of content in Gemini's API.
type geminiPart struct {
	Text string `json:"text"`
	Call *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	Response *struct {
		ID       string          `json:"id"`
		Name     string          `json:"name"`
		Response json.RawMessage `json:"response"`
	} `json:"functionResponse"`
}

func (p geminiPart) entry(role string) Entry {
	switch {
	case p.Call != nil:
		return Entry{Role: ToolCall, Name: p.Call.Name, ID: p.Call.ID, Text: string(p.Call.Args)}
	case p.Response != nil:
		return Entry{Role: ToolResult, ID: p.Response.ID, Name: p.Response.Name, Text: string(p.Response.Response)}
	case role == "model":
		return Entry{Role: Assistant, Text: p.Text}
	default:
		return Entry{Role: User, Text: p.Text}
	}
}

// parseGemini reads the body of POST /v1beta/models/M:generateContent and :streamGenerateContent.
func parseGemini(path string, body []byte) (*Conversation, error) {
	type content struct {
		Role  string       `json:"role"`
		Parts []geminiPart `json:"parts"`
	}
	var in struct {
		System   content   `json:"systemInstruction"`
		Contents []content `json:"contents"`
		Tools    []struct {
			Declarations []Tool `json:"functionDeclarations"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	c := &Conversation{API: "gemini", Stream: strings.Contains(path, ":stream")}
	_, c.Model, _ = strings.Cut(path, "models/")
	c.Model, _, _ = strings.Cut(c.Model, ":")
	for _, p := range in.System.Parts {
		c.System += p.Text
	}
	for _, t := range in.Tools {
		c.Tools = append(c.Tools, t.Declarations...)
	}
	for _, m := range in.Contents {
		for _, p := range m.Parts {
			c.Entries = append(c.Entries, p.entry(m.Role))
		}
	}
	return c, nil
}

func writeGemini(w http.ResponseWriter, c *Conversation, r *reply) {
	parts := make([]any, 0, len(r.parts))
	for _, p := range r.parts {
		if p.call != nil {
			parts = append(parts, object{"functionCall": object{
				"id": p.call.id, "name": p.call.tool.FullName(), "args": json.RawMessage(p.call.input),
			}})
		} else {
			parts = append(parts, object{"text": p.text})
		}
	}
	v := object{
		"modelVersion": c.Model,
		"candidates": []any{object{
			"index": 0, "finishReason": r.stopReason("STOP", "STOP"), "content": object{"role": "model", "parts": parts},
		}},
		"usageMetadata": object{"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120},
	}
	if !c.Stream {
		writeJSON(w, http.StatusOK, v)
		return
	}
	beginEvents(w)
	writeEvent(w, "", v)
}
