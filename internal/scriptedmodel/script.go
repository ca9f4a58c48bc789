package scriptedmodel

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Script holds the replies of the model. Its JSON form is
//
//	{
//	  "rules": [
//	    {"name": "ask",  "when": {"turn": 0}, "reply": [{"tool": "~ask_user", "input": {"question": "Deploy?"}}]},
//	    {"name": "done", "when": {"last": "Answered"}, "reply": [{"text": "Thanks, deploying."}]}
//	  ]
//	}
//
// Rules are tried in order, and the first that matches replies. A request that offers no tools is a side request
// (titles, summaries, classifiers). It gets Side, unless a rule is for side requests.
type Script struct {
	Rules []Rule `json:"rules"`
	// Side is the reply to side requests. Empty means "ok".
	Side []Part `json:"side"`
	// Fallback is the reply if no rule matches. Empty means "SCRIPT-END".
	Fallback []Part `json:"fallback"`
}

// Rule replies to a request whose conversation meets every condition.
type Rule struct {
	Name string `json:"name"`
	When When   `json:"when"`
	// Capture is a regular expression for the system prompt and the conversation. In the inputs of the reply, $1 is the
	// match of its first group.
	Capture string `json:"capture"`
	// Times is how often the rule may be used. 0 means any number of times.
	Times int `json:"times"`
	// Hold holds the reply back until [Model.Release], or until the client gives up.
	Hold bool `json:"hold"`
	// DelayMS is how long the reply takes, in milliseconds, for programs that are driven by hand.
	DelayMS int `json:"delay_ms"`
	// Status is an HTTP status with which to reply with an error instead.
	Status int `json:"status"`
	// Stop overrides the stop reason, in the words of the wire format.
	Stop  string `json:"stop"`
	Reply []Part `json:"reply"`
}

func (r *Rule) delay() time.Duration { return time.Duration(r.DelayMS) * time.Millisecond }

// When is a set of conditions. Without conditions it always holds.
type When struct {
	// API is anthropic, responses, chat or gemini.
	API string `json:"api"`
	// Turn is the number of the assistant's turns so far.
	Turn *int `json:"turn"`
	// Last must occur after the assistant's last turn: in a text, or in a tool's result.
	Last string `json:"last"`
	// Any must occur anywhere in the conversation, NotAny nowhere.
	Any    string `json:"any"`
	NotAny string `json:"not_any"`
	// Offered is a tool on offer. "~x" means a tool whose name ends in x.
	Offered string `json:"offered"`
	// Side matches side requests instead of the main ones.
	Side bool `json:"side"`
}

// Part is a piece of a reply: a text, or a call of a tool. The tool "~x" is the offered tool whose name ends in x,
// because each client adds its own prefix to the names of MCP tools.
type Part struct {
	Text  string          `json:"text,omitempty"`
	Tool  string          `json:"tool,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
	// ID is the id of the call. If it is empty, the call gets a new one.
	ID string `json:"id,omitempty"`
}

// Say returns a reply with a text.
func Say(text string) []Part { return []Part{{Text: text}} }

// Call returns a part that calls a tool.
func Call(tool string, input any) Part {
	data, err := json.Marshal(input)
	if err != nil {
		panic(err) // the input is a literal in a test
	}
	return Part{Tool: tool, Input: data}
}

// Parse reads a script strictly, because a misspelt condition would always hold.
func Parse(data []byte) (Script, error) {
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.DisallowUnknownFields()
	var s Script
	if err := dec.Decode(&s); err != nil {
		return Script{}, fmt.Errorf("read the script: %w", err)
	}
	return s, nil
}

// isMet reports whether the conversation meets every condition.
func (w *When) isMet(c *Conversation) bool {
	all := joinText(c.Entries)
	switch {
	case w.Side != c.isSideRequest():
	case w.API != "" && w.API != c.API:
	case w.Turn != nil && *w.Turn != c.Turns():
	case w.Last != "" && !strings.Contains(c.Last(), w.Last):
	case w.Any != "" && !strings.Contains(all, w.Any):
	case w.NotAny != "" && strings.Contains(all, w.NotAny):
	case w.Offered != "" && !c.hasTool(w.Offered):
	default:
		return true
	}
	return false
}
