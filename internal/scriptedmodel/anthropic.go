package scriptedmodel

import (
	"encoding/json"
	"net/http"
)

// anthropicBlock is a block of content in the Messages API.
type anthropicBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
}

func (b anthropicBlock) entry(by Role) Entry {
	switch b.Type {
	case "text":
		return Entry{Role: by, Text: b.Text}
	case "tool_use":
		return Entry{Role: ToolCall, Name: b.Name, ID: b.ID, Text: string(b.Input)}
	case "tool_result":
		return Entry{Role: ToolResult, ID: b.ToolUseID, Text: textOf(b.Content), Failed: b.IsError}
	default:
		return Entry{Role: by, Text: "[" + b.Type + "]"}
	}
}

// parseAnthropic reads the body of POST /v1/messages.
func parseAnthropic(_ string, body []byte) (*Conversation, error) {
	var in struct {
		Model    string          `json:"model"`
		Stream   bool            `json:"stream"`
		System   json.RawMessage `json:"system"`
		Tools    []Tool          `json:"tools"`
		Messages []struct {
			Role    Role            `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	c := &Conversation{API: "anthropic", Model: in.Model, Stream: in.Stream, System: textOf(in.System), Tools: in.Tools}
	for _, m := range in.Messages {
		var blocks []anthropicBlock
		if json.Unmarshal(m.Content, &blocks) != nil {
			c.Entries = append(c.Entries, Entry{Role: m.Role, Text: textOf(m.Content)})
			continue
		}
		for _, b := range blocks {
			c.Entries = append(c.Entries, b.entry(m.Role))
		}
	}
	return c, nil
}

func writeAnthropic(w http.ResponseWriter, c *Conversation, r *reply) {
	stop := r.stopReason("end_turn", "tool_use")
	message := object{
		"id": "msg_" + r.id, "type": "message", "role": "assistant", "model": c.Model,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil,
		"usage": object{"input_tokens": 100, "output_tokens": 20, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
	}
	if !c.Stream {
		content := make([]any, 0, len(r.parts))
		for _, p := range r.parts {
			content = append(content, anthropicContent(p))
		}
		message["content"], message["stop_reason"] = content, stop
		writeJSON(w, http.StatusOK, message)
		return
	}
	beginEvents(w)
	send := func(kind string, fields object) {
		fields["type"] = kind
		writeEvent(w, kind, fields)
	}
	send("message_start", object{"message": message})
	for i, p := range r.parts {
		block, delta := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": p.text}
		if p.call != nil {
			block = object{"type": "tool_use", "id": anthropicID(p.call), "name": p.call.tool.FullName(), "input": object{}}
			delta = object{"type": "input_json_delta", "partial_json": p.call.input}
		}
		send("content_block_start", object{"index": i, "content_block": block})
		send("content_block_delta", object{"index": i, "delta": delta})
		send("content_block_stop", object{"index": i})
	}
	send("message_delta", object{"delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": object{"output_tokens": 20}})
	send("message_stop", object{})
}

func anthropicContent(p replyPart) object {
	if p.call == nil {
		return object{"type": "text", "text": p.text}
	}
	return object{"type": "tool_use", "id": anthropicID(p.call), "name": p.call.tool.FullName(), "input": json.RawMessage(p.call.input)}
}

func anthropicID(c *call) string { return "toolu_" + c.id }
