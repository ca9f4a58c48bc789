package opencode

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/fermata-hq/fermata/internal/agent"
)

// event is a line of "opencode run --format json".
type event struct {
	Type      string `json:"type"`
	SessionID string `json:"sessionID"`
	Part      part   `json:"part"`
	Error     *struct {
		Name string `json:"name"`
		Data struct {
			Message string `json:"message"`
		} `json:"data"`
	} `json:"error"`
}

// part is a piece of a message of the agent.
type part struct {
	MessageID string `json:"messageID"`
	Text      string `json:"text"`
	Tool      string `json:"tool"`
	CallID    string `json:"callID"`
	State     struct {
		Status string          `json:"status"`
		Input  json.RawMessage `json:"input"`
		Output string          `json:"output"`
		Error  string          `json:"error"`
		Title  string          `json:"title"`
	} `json:"state"`
}

// read translates a line. A step of the agent, which is a message and the calls in it, is in progress from its start to
// its finish: opencode reports calls only when they have finished.
func read(line []byte) []agent.Event {
	var e event
	if json.Unmarshal(line, &e) != nil {
		return []agent.Event{{Note: string(line)}}
	}
	out := agent.Event{Session: e.SessionID}
	switch e.Type {
	case "step_start":
		out.Opens, out.Acts = e.Part.MessageID, true
	case "step_finish":
		out.Closes = e.Part.MessageID
	case "text":
		out.Said, out.Note = e.Part.Text, e.Part.Text
	case "tool_use":
		e.Part.addCall(&out)
	case "error":
		out.Trouble, out.Fatal = "the turn failed", true
		if e.Error != nil {
			out.Trouble = strings.TrimSpace(e.Error.Name + " " + e.Error.Data.Message)
		}
	}
	return []agent.Event{out}
}

// addCall handles a finished call.
func (p part) addCall(out *agent.Event) {
	out.Note = agent.OneLine("%s %s", p.Tool, cmp.Or(p.State.Title, string(p.State.Input)))
	if p.State.Status == "error" {
		out.Note += "\n" + agent.OneLine("! %s", p.State.Error)
	}
	if p.CallID != "" {
		out.Ran = &agent.FinishedCall{ID: p.CallID, Failed: p.State.Status == "error"}
	}
	if tool, ok := strings.CutPrefix(p.Tool, "fermata_"); ok {
		out.Asked = agent.AwaitedQuestion(tool, p.State.Input, p.State.Output)
	}
	if p.Tool == "todowrite" {
		out.Progress = agent.TodoProgress(p.State.Input)
	}
}
