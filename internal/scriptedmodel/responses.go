package scriptedmodel

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
)

// responsesItem is an item of the input of the Responses API.
type responsesItem struct {
	Type      string          `json:"type"`
	Role      Role            `json:"role"`
	Content   json.RawMessage `json:"content"`
	Name      string          `json:"name"`
	Namespace string          `json:"namespace"`
	CallID    string          `json:"call_id"`
	Arguments string          `json:"arguments"`
	Output    json.RawMessage `json:"output"`
}

// responsesTool is a tool on offer. Codex groups the tools of an MCP server under one tool of the type namespace.
type responsesTool struct {
	Type  string `json:"type"`
	Name  string `json:"name"`
	Tools []Tool `json:"tools"`
}

// parseResponses reads the body of POST /v1/responses.
func parseResponses(_ string, body []byte) (*Conversation, error) {
	var in struct {
		Model        string          `json:"model"`
		Stream       bool            `json:"stream"`
		Instructions string          `json:"instructions"`
		Tools        []responsesTool `json:"tools"`
		Input        json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	c := &Conversation{API: "responses", Model: in.Model, Stream: in.Stream, System: in.Instructions}
	for _, t := range in.Tools {
		c.Tools = append(c.Tools, t.offeredTools()...)
	}
	var text string
	if json.Unmarshal(in.Input, &text) == nil {
		c.Entries = []Entry{{Role: User, Text: text}}
		return c, nil
	}
	var items []responsesItem
	if err := json.Unmarshal(in.Input, &items); err != nil {
		return nil, err
	}
	for _, it := range items {
		c.addResponses(it)
	}
	return c, nil
}

func (t responsesTool) offeredTools() []Tool {
	switch {
	case t.Type == "namespace":
		tools := make([]Tool, 0, len(t.Tools))
		for _, member := range t.Tools {
			tools = append(tools, Tool{Namespace: t.Name, Name: member.Name})
		}
		return tools
	case t.Name != "":
		return []Tool{{Name: t.Name}}
	default:
		return []Tool{{Name: t.Type}}
	}
}

func (c *Conversation) addResponses(it responsesItem) {
	switch it.Type {
	case "", "message":
		if it.Role == "developer" || it.Role == System {
			c.System += textOf(it.Content)
			return
		}
		c.Entries = append(c.Entries, Entry{Role: it.Role, Text: textOf(it.Content)})
	case "function_call":
		c.Entries = append(c.Entries, Entry{Role: ToolCall, Name: it.Namespace + it.Name, ID: it.CallID, Text: it.Arguments})
	case "function_call_output":
		c.Entries = append(c.Entries, Entry{Role: ToolResult, ID: it.CallID, Text: textOf(it.Output)})
	default:
		c.Entries = append(c.Entries, Entry{Role: User, Text: "[" + it.Type + "]"})
	}
}

func writeResponses(w http.ResponseWriter, c *Conversation, r *reply) {
	output := make([]any, 0, len(r.parts))
	for i, p := range r.parts {
		output = append(output, responsesOutput(fmt.Sprintf("%s_%d", r.id, i), p))
	}
	response := func(status string, output []any) object {
		return object{
			"id": "resp_" + r.id, "object": "response", "model": c.Model, "status": status, "output": output,
			"usage": object{
				"input_tokens": 100, "output_tokens": 20, "total_tokens": 120,
				"input_tokens_details": object{"cached_tokens": 0}, "output_tokens_details": object{"reasoning_tokens": 0},
			},
		}
	}
	if !c.Stream {
		writeJSON(w, http.StatusOK, response("completed", output))
		return
	}
	beginEvents(w)
	s := &responsesStream{w: w}
	s.send("response.created", object{"response": response("in_progress", []any{})})
	for i, p := range r.parts {
		item, _ := output[i].(object)
		at := object{"item_id": item["id"], "output_index": i}
		if p.call == nil {
			s.message(item, at, p.text)
		} else {
			s.call(item, at, p.call.input)
		}
		s.send("response.output_item.done", object{"output_index": i, "item": item})
	}
	s.send("response.completed", object{"response": response("completed", output)})
}

// responsesOutput returns a part as an item of the output.
func responsesOutput(id string, p replyPart) object {
	if p.call == nil {
		return object{
			"type": "message", "id": "m_" + id, "role": "assistant", "status": "completed",
			"content": []any{object{"type": "output_text", "text": p.text, "annotations": []any{}}},
		}
	}
	item := object{
		"type": "function_call", "id": "fc_" + p.call.id, "call_id": p.call.id,
		"name": p.call.tool.Name, "arguments": p.call.input, "status": "completed",
	}
	if p.call.tool.Namespace != "" {
		item["namespace"] = p.call.tool.Namespace
	}
	return item
}

// responsesStream numbers its events.
type responsesStream struct {
	w   http.ResponseWriter
	seq int
}

// send writes an event with the fields of all objects.
func (s *responsesStream) send(kind string, fields ...object) {
	v := object{"type": kind, "sequence_number": s.seq}
	for _, f := range fields {
		maps.Copy(v, f)
	}
	s.seq++
	writeEvent(s.w, kind, v)
}

func (s *responsesStream) message(item, at object, text string) {
	content := object{"content_index": 0}
	part := func(text string) object {
		return object{"part": object{"type": "output_text", "text": text, "annotations": []any{}}}
	}
	s.send("response.output_item.added", object{"output_index": at["output_index"], "item": emptyItem(item, "content", []any{})})
	s.send("response.content_part.added", at, content, part(""))
	s.send("response.output_text.delta", at, content, object{"delta": text})
	s.send("response.output_text.done", at, content, object{"text": text})
	s.send("response.content_part.done", at, content, part(text))
}

func (s *responsesStream) call(item, at object, input string) {
	s.send("response.output_item.added", object{"output_index": at["output_index"], "item": emptyItem(item, "arguments", "")})
	s.send("response.function_call_arguments.delta", at, object{"delta": input})
	s.send("response.function_call_arguments.done", at, object{"arguments": input})
}

// emptyItem returns an item as it is before its content has arrived.
func emptyItem(item object, field string, empty any) object {
	v := maps.Clone(item)
	v["status"], v[field] = "in_progress", empty
	return v
}
