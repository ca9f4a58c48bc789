package scriptedmodel

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// chatMessage is a message in the Chat Completions API.
type chatMessage struct {
	Role       Role            `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCallID string          `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// parseChat reads the body of POST /v1/chat/completions.
func parseChat(_ string, body []byte) (*Conversation, error) {
	var in struct {
		Model  string `json:"model"`
		Stream bool   `json:"stream"`
		Tools  []struct {
			Function Tool `json:"function"`
		} `json:"tools"`
		Messages []chatMessage `json:"messages"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	c := &Conversation{API: "chat", Model: in.Model, Stream: in.Stream}
	for _, t := range in.Tools {
		c.Tools = append(c.Tools, t.Function)
	}
	for _, m := range in.Messages {
		c.addChat(m)
	}
	return c, nil
}

func (c *Conversation) addChat(m chatMessage) {
	text := textOf(m.Content)
	switch m.Role {
	case System, "developer":
		c.System += text
		return
	case "tool":
		c.Entries = append(c.Entries, Entry{Role: ToolResult, ID: m.ToolCallID, Text: text})
		return
	default:
	}
	if text != "" {
		c.Entries = append(c.Entries, Entry{Role: m.Role, Text: text})
	}
	for _, t := range m.ToolCalls {
		c.Entries = append(c.Entries, Entry{Role: ToolCall, Name: t.Function.Name, ID: t.ID, Text: t.Function.Arguments})
	}
}

func writeChat(w http.ResponseWriter, c *Conversation, r *reply) {
	text, calls := "", []any{}
	for _, p := range r.parts {
		if p.call == nil {
			text += p.text
			continue
		}
		calls = append(calls, object{
			"index": len(calls), "id": p.call.id, "type": "function",
			"function": object{"name": p.call.tool.FullName(), "arguments": p.call.input},
		})
	}
	message := object{"role": "assistant", "content": text}
	if len(calls) > 0 {
		message["tool_calls"] = calls
	}
	stop, id := r.stopReason("stop", "tool_calls"), "chatcmpl_"+r.id
	usage := object{"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
	if !c.Stream {
		writeJSON(w, http.StatusOK, object{
			"id": id, "object": "chat.completion", "model": c.Model, "usage": usage,
			"choices": []any{object{"index": 0, "message": message, "finish_reason": stop}},
		})
		return
	}
	beginEvents(w)
	chunk := func(choices []any, usage any) {
		writeEvent(w, "", object{"id": id, "object": "chat.completion.chunk", "model": c.Model, "choices": choices, "usage": usage})
	}
	chunk([]any{object{"index": 0, "delta": message, "finish_reason": nil}}, nil)
	chunk([]any{object{"index": 0, "delta": object{}, "finish_reason": stop}}, nil)
	chunk([]any{}, usage)
	fmt.Fprint(w, "data: [DONE]\n\n")
}
