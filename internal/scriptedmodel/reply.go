package scriptedmodel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// reply is a reply that a wire format writes.
type reply struct {
	// id is unique among the replies of the model.
	id    string
	rule  *Rule
	parts []replyPart
}

// replyPart is a text, or a call if call is set.
type replyPart struct {
	text string
	call *call
}

// call is a call of a known tool.
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

// stopReason returns the stop reason: that of the rule, or else tool if the reply has a call, or else text.
func (r *reply) stopReason(text, tool string) string {
	switch {
	case r.rule.Stop != "":
		return r.rule.Stop
	case r.hasCall():
		return tool
	default:
		return text
	}
}

// newReply fills in the ids, tools and captures that the script leaves open.
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

// describe returns the reply for people, one line for each part.
func (r *reply) describe() []string {
	var lines []string
	if r.rule.Status != 0 {
		lines = append(lines, fmt.Sprintf("HTTP %d", r.rule.Status))
	}
	for _, p := range r.parts {
		if p.call != nil {
			lines = append(lines, "call "+p.call.tool.FullName()+" "+p.call.input)
		} else {
			lines = append(lines, "text "+p.text)
		}
	}
	return lines
}
