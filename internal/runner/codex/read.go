package codex

import (
	"encoding/json"
	"fmt"

	"github.com/fermata-hq/fermata/internal/agent"
)

// event is a line of "codex exec --json".
type event struct {
	Type     string `json:"type"`
	ThreadID string `json:"thread_id"`
	Message  string `json:"message"`
	Error    *struct {
		Message string `json:"message"`
	} `json:"error"`
	Item item `json:"item"`
}

// item is a step of the agent.
type item struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Status  string `json:"status"`
	Text    string `json:"text"`
	Message string `json:"message"`
	Query   string `json:"query"`

	Command  string `json:"command"`
	ExitCode *int   `json:"exit_code"`

	Server    string          `json:"server"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Result    *struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
		Structured json.RawMessage `json:"structured_content"`
	} `json:"result"`
	Error *struct {
		Message string `json:"message"`
	} `json:"error"`

	Changes []struct {
		Path string `json:"path"`
		Kind string `json:"kind"`
	} `json:"changes"`
	Items []struct {
		Text      string `json:"text"`
		Completed bool   `json:"completed"`
	} `json:"items"`
}

// read translates a line.
func read(line []byte) []agent.Event {
	var e event
	if json.Unmarshal(line, &e) != nil {
		return []agent.Event{{Note: string(line)}}
	}
	switch e.Type {
	case "thread.started":
		return []agent.Event{{Session: e.ThreadID, Note: "session " + e.ThreadID}}
	case "turn.completed":
		return []agent.Event{{Ended: true}}
	case "turn.failed":
		trouble := "the turn failed"
		if e.Error != nil {
			trouble = e.Error.Message
		}
		return []agent.Event{{Trouble: trouble, Fatal: true}}
	case "error":
		return []agent.Event{{Trouble: e.Message}}
	case "item.started":
		return e.Item.startEvents()
	case "item.updated":
		return e.Item.planEvents()
	case "item.completed":
		return e.Item.completedEvents()
	default:
		return nil
	}
}

func (i item) startEvents() []agent.Event {
	switch i.Type {
	case "command_execution":
		return []agent.Event{{Opens: i.ID, Acts: true, Note: agent.OneLine("$ %s", i.Command)}}
	case "mcp_tool_call":
		return []agent.Event{{Opens: i.ID, Acts: true, Note: agent.OneLine("%s.%s %s", i.Server, i.Tool, i.Arguments)}}
	case "todo_list":
		return i.planEvents()
	default:
		return []agent.Event{{Opens: i.ID, Acts: true}}
	}
}

func (i item) completedEvents() []agent.Event {
	e := agent.Event{Closes: i.ID}
	switch i.Type {
	case "agent_message":
		e.Said, e.Note = i.Text, i.Text
	case "error":
		e.Note = "! " + i.Message
	case "command_execution":
		if i.ExitCode != nil {
			e.Ran = &agent.FinishedCall{Failed: *i.ExitCode < 0}
		}
		if i.ExitCode != nil && *i.ExitCode != 0 {
			e.Note = fmt.Sprintf("  exit code %d", *i.ExitCode)
		}
	case "file_change":
		e.Ran = &agent.FinishedCall{Failed: i.Status == "failed"}
		for _, c := range i.Changes {
			e.Note += agent.OneLine("%s %s", c.Kind, c.Path) + "\n"
		}
	case "web_search":
		e.Note = agent.OneLine("search: %s", i.Query)
	case "mcp_tool_call":
		e.Ran = &agent.FinishedCall{Failed: i.Status == "failed"}
		if i.Server == "fermata" {
			e.Asked = agent.AwaitedQuestion(i.Tool, i.Arguments, i.output())
		}
		if i.Error != nil {
			e.Note = agent.OneLine("! %s.%s: %s", i.Server, i.Tool, i.Error.Message)
		}
	case "todo_list":
		return i.planEvents()
	}
	return []agent.Event{e}
}

// output returns the result of an MCP tool.
func (i item) output() string {
	if i.Result == nil {
		return ""
	}
	if len(i.Result.Structured) > 0 && string(i.Result.Structured) != "null" {
		return string(i.Result.Structured)
	}
	if len(i.Result.Content) == 0 {
		return ""
	}
	return i.Result.Content[0].Text
}

// planEvents returns the agent's own plan as progress.
func (i item) planEvents() []agent.Event {
	if i.Type != "todo_list" {
		return nil
	}
	steps := make([]agent.PlanStep, len(i.Items))
	for n, step := range i.Items {
		steps[n] = agent.PlanStep{Text: step.Text, Done: step.Completed}
	}
	return []agent.Event{{Progress: agent.PlanProgress(steps)}}
}
