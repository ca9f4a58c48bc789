package slack

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"unicode/utf8"
)

type object = map[string]any

// checkBlocks refuses the blocks that Slack refuses. The limits come from
// Slack's Block Kit reference.
func checkBlocks(raw []byte, modal bool) error {
	var blocks []object
	if err := json.Unmarshal(raw, &blocks); err != nil {
		return refuse("invalid_blocks_format")
	}
	maxBlocks := 50
	if modal {
		maxBlocks = 100
	}
	if len(blocks) > maxBlocks {
		return refuse("invalid_blocks", fmt.Sprintf("no more than %d items allowed", maxBlocks))
	}
	total := 0
	ids := map[string]bool{}
	for i, b := range blocks {
		id, _ := b["block_id"].(string)
		if id != "" && ids[id] || len(id) > 255 {
			return refuse("invalid_blocks", fmt.Sprintf("block_id of blocks[%d] is too long or not unique", i))
		}
		ids[id] = true
		if why := checkBlock(b, modal); why != "" {
			return refuse("invalid_blocks", fmt.Sprintf("blocks[%d]: %s", i, why))
		}
		total += length(b)
	}
	if total > 13_000 && !modal {
		return refuse("msg_blocks_too_long")
	}
	return nil
}

// length counts the characters of all texts.
func length(v any) int {
	n := 0
	switch v := v.(type) {
	case object:
		for key, inner := range v {
			if s, ok := inner.(string); ok && key == "text" {
				n += utf8.RuneCountInString(s)
			} else if key != "value" {
				n += length(inner)
			}
		}
	case []any:
		for _, inner := range v {
			n += length(inner)
		}
	}
	return n
}

func checkBlock(b object, modal bool) string {
	switch b["type"] {
	case "header":
		if why := checkTextObject(b["text"], 150, "plain_text"); why != "" {
			return "header " + why
		}
	case "section":
		if why := checkTextObject(b["text"], 3000, ""); why != "" {
			return "section " + why
		}
		if a, ok := b["accessory"].(object); ok {
			return checkElement(a, "section")
		}
	case "context":
		list, _ := b["elements"].([]any)
		if len(list) == 0 || len(list) > 10 {
			return "context needs 1 to 10 elements"
		}
		for _, e := range list {
			if why := checkTextObject(e, 3000, ""); why != "" {
				return "context " + why
			}
		}
	case "actions":
		return checkActions(b)
	case "rich_text":
		if length(b) == 0 || length(b) > 3000 {
			return "rich_text is empty or too long"
		}
	case "input":
		if !modal {
			return "input belongs in a modal here"
		}
		if why := checkTextObject(b["label"], 2000, "plain_text"); why != "" {
			return "label " + why
		}
		e, ok := b["element"].(object)
		if !ok {
			return "input has no element"
		}
		return checkElement(e, "input")
	default:
		return fmt.Sprintf("unsupported type %v", b["type"])
	}
	return ""
}

func checkActions(b object) string {
	list, _ := b["elements"].([]any)
	if len(list) == 0 || len(list) > 25 {
		return "actions needs 1 to 25 elements"
	}
	ids := map[string]bool{}
	for _, e := range list {
		element, ok := e.(object)
		if !ok {
			return "no element"
		}
		id, _ := element["action_id"].(string)
		if id == "" || ids[id] || len(id) > 255 {
			return "action_id is missing or not unique"
		}
		ids[id] = true
		if why := checkElement(element, "actions"); why != "" {
			return why
		}
	}
	return ""
}

func checkTextObject(v any, maxLength int, kind string) string {
	o, ok := v.(object)
	if !ok {
		return "has no text object"
	}
	s, _ := o["text"].(string)
	n := utf8.RuneCountInString(s)
	switch {
	case kind != "" && o["type"] != kind:
		return "must be " + kind
	case o["type"] != "plain_text" && o["type"] != "mrkdwn":
		return "has no valid type"
	case n == 0:
		return "is empty"
	case n > maxLength:
		return fmt.Sprintf("must be less than %d characters", maxLength+1)
	}
	if o["type"] == "mrkdwn" {
		if err := checkText(s); err != nil {
			return err.Error()
		}
	}
	return ""
}

var elementsOf = map[string][]string{
	"actions": {"button", "static_select", "datepicker", "radio_buttons", "checkboxes"},
	"section": {"button", "static_select", "multi_static_select", "datepicker", "radio_buttons", "checkboxes"},
	"input":   {"plain_text_input", "number_input", "static_select", "multi_static_select", "datepicker", "radio_buttons", "checkboxes"},
}

func checkElement(e object, in string) string {
	kind, _ := e["type"].(string)
	if !slices.Contains(elementsOf[in], kind) {
		return kind + " does not belong in " + in
	}
	if c, ok := e["confirm"].(object); ok {
		if why := checkConfirm(c); why != "" {
			return why
		}
	}
	switch kind {
	case "button":
		value, _ := e["value"].(string)
		address, _ := e["url"].(string)
		if len(value) > 2000 || len(address) > 3000 {
			return "button carries too much"
		}
		return checkTextObject(e["text"], 75, "plain_text")
	case "static_select", "multi_static_select", "radio_buttons", "checkboxes":
		maxOptions := 100
		if kind == "radio_buttons" || kind == "checkboxes" {
			maxOptions = 10
		}
		return checkOptions(e, maxOptions)
	case "plain_text_input":
		for _, key := range []string{"max_length", "min_length"} {
			if n, ok := e[key].(float64); ok && (n < 0 || n > 3000) {
				return key + " is out of range"
			}
		}
	}
	return ""
}

func checkOptions(e object, maxOptions int) string {
	list, _ := e["options"].([]any)
	if len(list) == 0 || len(list) > maxOptions {
		return fmt.Sprintf("needs 1 to %d options", maxOptions)
	}
	seen := map[string]bool{}
	for _, o := range list {
		option, _ := o.(object)
		if why := checkTextObject(option["text"], 75, "plain_text"); why != "" {
			return "option " + why
		}
		value, _ := option["value"].(string)
		if value == "" || utf8.RuneCountInString(value) > 150 || seen[value] {
			return "option value is empty, too long or not unique"
		}
		seen[value] = true
	}
	return ""
}

func checkConfirm(c object) string {
	for key, maxLength := range map[string]int{"title": 100, "text": 300, "confirm": 30, "deny": 30} {
		if why := checkTextObject(c[key], maxLength, ""); why != "" {
			return "confirm " + key + " " + why
		}
	}
	return ""
}

func checkView(raw json.RawMessage) error {
	var v struct {
		Type     string          `json:"type"`
		Title    object          `json:"title"`
		Submit   object          `json:"submit"`
		Close    object          `json:"close"`
		Metadata string          `json:"private_metadata"`
		Blocks   json.RawMessage `json:"blocks"`
	}
	if err := json.Unmarshal(raw, &v); err != nil || v.Type != "modal" {
		return refuse("invalid_arguments", "view is no modal")
	}
	for _, o := range []object{v.Title, v.Submit, v.Close} {
		if o == nil {
			continue
		}
		if why := checkTextObject(o, 24, "plain_text"); why != "" {
			return refuse("invalid_arguments", "view "+why)
		}
	}
	if len(v.Metadata) > 3000 {
		return refuse("invalid_arguments", "private_metadata is too long")
	}
	return checkBlocks(v.Blocks, true)
}

// controlSequence matches text that Slack reads as a mention, a link or a date.
var controlSequence = regexp.MustCompile(`<([^<>]*)>`)

// mentionLine matches the only text of Fermata that mentions people.
var mentionLine = regexp.MustCompile(`^For (<(@|!subteam\^)[A-Z0-9]+>|<!here>|<!channel>|“[^<>]*”|, )+$`)

// checkText refuses mentions and links. Fermata's texts have none, except for
// the line that names the people that a question is for. So any other mention
// or link comes from another person's words.
func checkText(s string) error {
	if mentionLine.MatchString(s) {
		return nil
	}
	for _, m := range controlSequence.FindAllStringSubmatch(s, -1) {
		if len(m[1]) < 6 || m[1][:6] != "!date^" {
			return refuse("standin_found_markup", m[0])
		}
	}
	return nil
}
