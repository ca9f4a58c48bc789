package scriptedmodel

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Script says what the model replies. Its JSON form is
//
//	{
//	  "rules": [
//	    {"name": "ask",  "when": {"turn": 0}, "reply": [{"tool": "~ask_user", "input": {"question": "Deploy?"}}]},
//	    {"name": "done", "when": {"last": "Answered"}, "reply": [{"text": "Thanks, deploying."}]}
//	  ]
//	}
//
// Rules are tried in order, and the first that matches replies. A request that
// offers no tools is a side request (titles, summaries, classifiers): it gets
// Side, unless a rule is for side requests.
type Script struct {
	Rules []Rule `json:"rules"`
	// Side is the reply to side requests; empty says "ok".
	Side []Part `json:"side"`
	// Fallback is the reply where no rule matches; empty says "SCRIPT-END".
	Fallback []Part `json:"fallback"`
}

// Rule replies to a request whose conversation meets every condition.
type Rule struct {
	Name string `json:"name"`
	When When   `json:"when"`
	// Capture is a regular expression that is looked for in the system prompt and the
	// conversation; $1 in the inputs of the reply is what its first group found.
	Capture string `json:"capture"`
	// Times is how often the rule may be used; 0 is any number of times.
	Times int `json:"times"`
	// Hold keeps the reply back until [Model.Release] or until the client gives up.
	Hold bool `json:"hold"`
	// DelayMS is how long the reply takes, for programs that are driven by hand.
	DelayMS int `json:"delay_ms"`
	// Status replies with this HTTP error instead.
	Status int `json:"status"`
	// Stop overrides the reason for stopping, in the words of the wire.
	Stop  string `json:"stop"`
	Reply []Part `json:"reply"`
}

func (r *Rule) delay() time.Duration { return time.Duration(r.DelayMS) * time.Millisecond }

// When is a set of conditions; none always holds.
type When struct {
	// API is anthropic, responses, chat or gemini.
	API string `json:"api"`
	// Turn is the number of the assistant's turns so far.
	Turn *int `json:"turn"`
	// Last is in what came after the assistant's last turn: a text, a tool's result.
	Last string `json:"last"`
	// Any is anywhere in the conversation, NotAny nowhere.
	Any    string `json:"any"`
	NotAny string `json:"not_any"`
	// Offered is a tool on offer; "~x" is one whose name ends in x.
	Offered string `json:"offered"`
	// Side matches side requests instead of the main ones.
	Side bool `json:"side"`
}

// Part is a piece of a reply: a text, or a call of a tool. The tool "~x" is the
// offered one whose name ends in x, because clients prefix the names of MCP
// tools, each in its own way.
type Part struct {
	Text  string          `json:"text,omitempty"`
	Tool  string          `json:"tool,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
	// ID names the call; empty gives it one.
	ID string `json:"id,omitempty"`
}

// Say is a reply with a text.
func Say(text string) []Part { return []Part{{Text: text}} }

// Call is a part that calls a tool.
func Call(tool string, input any) Part {
	data, err := json.Marshal(input)
	if err != nil {
		panic(err) // the input is a literal in a test
	}
	return Part{Tool: tool, Input: data}
}

// Parse reads a script strictly: a condition that is misspelt would always hold.
func Parse(data []byte) (Script, error) {
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.DisallowUnknownFields()
	var s Script
	if err := dec.Decode(&s); err != nil {
		return Script{}, fmt.Errorf("read the script: %w", err)
	}
	return s, nil
}

// holds reports whether the conversation meets every condition.
func (w *When) holds(c *Conversation) bool {
	all := joinText(c.Items)
	switch {
	case w.Side != c.isSide():
	case w.API != "" && w.API != c.API:
	case w.Turn != nil && *w.Turn != c.Turns():
	case w.Last != "" && !strings.Contains(c.Last(), w.Last):
	case w.Any != "" && !strings.Contains(all, w.Any):
	case w.NotAny != "" && strings.Contains(all, w.NotAny):
	case w.Offered != "" && !c.offers(w.Offered):
	default:
		return true
	}
	return false
}
