package slack

import (
	"encoding/json"
	"strings"

	"github.com/fermata-hq/fermata/test/standin"
)

// renderMessage returns a message as a person sees it. Quotations and code follow a bar,
// because Slack shows them in boxes.
func renderMessage(channel string, m *message) standin.Message {
	seen := standin.Message{ID: channel + "/" + m.stamp}
	var blocks []object
	if err := json.Unmarshal(m.blocks, &blocks); err != nil {
		seen.Text = m.text
		return seen
	}
	var lines []string
	for _, b := range blocks {
		id, _ := b["block_id"].(string)
		if parts := strings.Split(id, "|"); len(parts) == 5 {
			seen.Question, seen.Closed = parts[2], parts[1] == "closed"
		}
		for _, e := range interactiveElements(b) {
			if e["type"] == "button" {
				seen.Buttons = append(seen.Buttons, textOf(e["text"]))
			}
		}
		if s := show(b); s != "" {
			lines = append(lines, s)
		}
	}
	seen.Text = strings.Join(lines, "\n")
	return seen
}

// plainText returns the text of a message, without markup.
func plainText(m *message) string {
	if s := renderMessage("", m).Text; s != "" {
		return s
	}
	return m.text
}

func interactiveElements(b object) []object {
	var all []object
	if list, ok := b["elements"].([]any); ok && b["type"] == "actions" {
		for _, e := range list {
			if o, ok := e.(object); ok {
				all = append(all, o)
			}
		}
	}
	for _, key := range []string{"accessory", "element"} {
		if o, ok := b[key].(object); ok {
			all = append(all, o)
		}
	}
	return all
}

func textOf(v any) string {
	o, _ := v.(object)
	s, _ := o["text"].(string)
	return s
}

func show(b object) string {
	switch b["type"] {
	case "header", "section":
		return textOf(b["text"])
	case "input":
		return textOf(b["label"])
	case "context":
		list, _ := b["elements"].([]any)
		parts := make([]string, len(list))
		for i, e := range list {
			parts[i] = textOf(e)
		}
		return strings.Join(parts, " · ")
	case "rich_text":
		list, _ := b["elements"].([]any)
		var all []string
		for _, e := range list {
			all = append(all, renderRichText(e))
		}
		return strings.Join(all, "\n")
	}
	return ""
}

func renderRichText(v any) string {
	o, _ := v.(object)
	list, _ := o["elements"].([]any)
	var sb strings.Builder
	for _, e := range list {
		sb.WriteString(textOf(e))
	}
	if o["type"] == "rich_text_quote" || o["type"] == "rich_text_preformatted" {
		return "│ " + strings.ReplaceAll(sb.String(), "\n", "\n│ ")
	}
	return sb.String()
}
