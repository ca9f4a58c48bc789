package scriptedmodel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// reply is what a wire format writes.
type reply struct {
	// id is unlike that of any other reply of the model.
	id    string
	rule  *Rule
	parts []replyPart
}

// replyPart is a text, or a call where tool is set.
type replyPart struct {
	text string
	call *call
}

// call is a call whose tool is known.
type call struct {
	tool Tool
	id   string
	// input is a JSON object.
	input string
}

func (r *reply) hasCall() bool {
	for _, p := range r.parts {
		if p.call != nil {
			return true
		}
	}
	return false
}

// stop is the reason for stopping: the rule's, else one of the two.
func (r *reply) stop(text, tool string) string {
	switch {
	case r.rule.Stop != "":
		return r.rule.Stop
	case r.hasCall():
		return tool
	default:
		return text
	}
}

// newReply fills in what the script leaves open.
func newReply(seq int, rule *Rule, c *Conversation) *reply {
	r := &reply{id: fmt.Sprintf("reply_%04d", seq), rule: rule}
	found := c.capture(rule.Capture)
	for i, p := range rule.Reply {
		if p.Tool == "" {
			r.parts = append(r.parts, replyPart{text: p.Text})
			continue
		}
		tool, _ := c.resolve(p.Tool)
		id, input := p.ID, bytes.Buffer{}
		if id == "" {
			id = fmt.Sprintf("call_%04d_%d", seq, i)
		}
		if len(p.Input) == 0 || json.Compact(&input, p.Input) != nil {
			input.Reset()
			input.WriteString("{}")
		}
		filled := strings.ReplaceAll(input.String(), "$1", found)
		r.parts = append(r.parts, replyPart{call: &call{tool: tool, id: id, input: filled}})
	}
	return r
}

// describe is the reply for people, a line a part.
func (r *reply) describe() []string {
	var lines []string
	if r.rule.Status != 0 {
		lines = append(lines, fmt.Sprintf("HTTP %d", r.rule.Status))
	}
	for _, p := range r.parts {
		if p.call != nil {
			lines = append(lines, "call "+p.call.tool.Full()+" "+p.call.input)
		} else {
			lines = append(lines, "text "+p.text)
		}
	}
	return lines
}
