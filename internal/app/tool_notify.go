package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/internal/tool"
)

// notifyTool is a tool that sends people a message over channels.
type notifyTool struct{ deliveries *delivery.Service }

// Info implements [tool.Tool].
func (notifyTool) Info() tool.Info {
	return tool.Info{
		Name: "notify", Description: "Tells people something, over channels. It asks for nothing.",
		Input: json.RawMessage(`{
			"type": "object", "additionalProperties": false, "required": ["title", "channels"],
			"properties": {
				"title": {"type": "string", "minLength": 1, "maxLength": 200},
				"body": {"type": "string", "maxLength": 20000},
				"channels": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 20},
				"members": {"type": "array", "items": {"type": "string"}, "maxItems": 50}
			}
		}`),
		Output: json.RawMessage(`{"type": "object", "additionalProperties": false, "properties": {"messages": {"type": "integer"}}}`),
	}
}

// Call implements [tool.Tool].
func (n notifyTool) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	var in struct {
		Title    string   `json:"title"`
		Body     string   `json:"body"`
		Channels []string `json:"channels"`
		Members  []string `json:"members"`
	}
	if err := tool.DecodeInput(c.Input, &in); err != nil {
		return tool.Result{}, err
	}
	sent, err := n.deliveries.Announce(ctx, c.Workspace, delivery.Announcement{
		Key: c.Key, TaskID: c.RunID, Title: in.Title, Body: in.Body, Channels: in.Channels, Members: in.Members,
	})
	var e *fermata.Error
	if errors.As(err, &e) && e.Code == fermata.CodeNotFound {
		return tool.Result{}, tool.Permanent(e)
	}
	note := fmt.Sprintf("%d messages are on their way", sent)
	if sent == 1 {
		note = "1 message is on its way"
	}
	return tool.Result{Output: map[string]any{"messages": sent}, Note: note}, err
}
