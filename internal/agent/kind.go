package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/fermata-hq/fermata"
)

// Kind describes one agent program.
type Kind struct {
	// Name is the runner's name in tasks. Program is the file name of the agent program, which is looked up if no path
	// is given.
	Name, Program string
	// PassEnv names variables of the worker that this program needs besides the usual ones.
	PassEnv []string
	// Command returns the arguments of a turn, and the variables that it needs besides those of [Turn.Env]. The prompt
	// is on standard input.
	Command func(t *Turn) (args, env []string, err error)
	// Reader returns a function that turns each line of one turn's output into events. The lines come in order. An
	// unknown line gives no event.
	Reader func() func(line []byte) []Event
	// AwaitRecord waits until everything that the turn reported is in the session's record. It has its own time limit.
	// It may be nil.
	AwaitRecord func(ctx context.Context, t *Turn)
	// AskTool is this program's name for Fermata's tool ask_user. Empty means ask_user.
	AskTool string
	// ReadsInstructions is true if the program gives its model the instructions of MCP servers. Then prompts need not
	// say how to ask.
	ReadsInstructions bool
	// HooksStop is true if a hook can end a turn of this program. Otherwise the runner ends the program when a hook
	// leaves a question.
	HooksStop bool
	// TellsEnd is true if the program ends each turn with an event that has Ended set. A turn without that event has
	// failed.
	TellsEnd bool
	// Resume holds the arguments, before the session's id, with which a person opens a session by hand. It is nil if
	// the program has no such command.
	Resume []string
	// SessionEnv names the variables that say where the program keeps its sessions. A person needs the run's values to
	// open one by hand.
	SessionEnv []string
	// Mode returns the program's own name for what a session may do without asking. It reads the worker's extra
	// arguments. Mode is nil if the program has no such names.
	Mode func(extra []string) string
	// InUse reports whether a turn did not begin because another process uses the session. words are the last lines of
	// the program's error output. InUse may be nil.
	InUse func(words string) bool
}

// Turn is one start of the program.
type Turn struct {
	Options
	// Session is the id of the session to resume. Empty begins a new one.
	Session string
	// Dir is the working directory. Folder is for the run's own files.
	Dir, Folder string
	// DeferredCall is the call that the session's last turn deferred, if this turn gives the agent a text with the
	// reply to it.
	DeferredCall string
	// AskedQuestion is the id of the question for which the agent is stopped, or empty.
	AskedQuestion string
	// Env is the environment, with the variables for the task and the server.
	Env []string
}

// Getenv returns a variable of the turn.
func (t *Turn) Getenv(name string) string {
	for i := len(t.Env) - 1; i >= 0; i-- {
		if n := len(name); len(t.Env[i]) > n && t.Env[i][:n] == name && t.Env[i][n] == '=' {
			return t.Env[i][n+1:]
		}
	}
	return ""
}

// Event is the meaning of one line of the output.
type Event struct {
	// Session is the session's id.
	Session string
	// Note is a line for the log of the run.
	Note string
	// Said is a message of the agent. The last one sums up its work.
	Said string
	// Opens and Closes name an action in progress, such as a tool call. The agent is not stopped during it, unless it
	// takes too long.
	Opens, Closes string
	// Acts is true when the agent begins to act, so the hook at the beginning of a session must have run. If it has not
	// run, there is no gate, and the agent is stopped.
	Acts bool
	// Ran is a call that has finished. A hook must have let it through.
	Ran *FinishedCall
	// Asked is the id of a question for which the agent waits from then on.
	Asked string
	// Paused is true if a hook ended the turn. Deferred is the call that the hook deferred.
	Paused   bool
	Deferred string
	// Ended is true if the turn has ended. If there are several such events, the last one counts.
	Ended bool
	// Trouble is an error that the agent reports. Fatal is true if the turn failed because of it.
	Trouble string
	Fatal   bool
	// Progress is how far the agent is by its own plan.
	Progress *fermata.Progress
}

// askTool is the usual name of the tool that asks.
const askTool = "ask_user"

// AskPerson is the tool's name for programs that have a tool ask_user of their own. Without a terminal, Gemini CLI
// hides its own tool, and every other tool of that name.
const AskPerson = "ask_person"

// ownTools are the tools of Fermata's MCP server.
var ownTools = []string{
	askTool, AskPerson, "post_question", "request_approval", "check_answer", "cancel_question", "report_progress", "read_messages", "approve",
}

// AskUser is the usual name of the tool that asks.
const AskUser = askTool

// ToolNames returns the tools with which an agent asks people and reports to them. askTool is the name of the tool that
// asks. A person who installs Fermata allows these tools.
func ToolNames(askTool string) []string {
	return []string{askTool, "post_question", "request_approval", "check_answer", "cancel_question", "report_progress", "read_messages"}
}

// IsOwnTool reports whether Fermata's MCP server has a tool of that name. It compares whole names, because the names of
// another server and its tools may begin like Fermata's.
func IsOwnTool(name string) bool { return slices.Contains(ownTools, name) }

// AwaitedQuestion returns the id of the question for which an agent has to stop after a call of one of Fermata's tools:
// a pending question that suspends the task. It returns "" if the agent may go on.
func AwaitedQuestion(tool string, input json.RawMessage, output string) string {
	if tool != askTool && tool != AskPerson && tool != "request_approval" {
		return ""
	}
	var asked struct {
		Type fermata.QuestionType `json:"type"`
	}
	var state struct {
		QuestionID string                 `json:"question_id"`
		Status     fermata.QuestionStatus `json:"status"`
	}
	if json.Unmarshal([]byte(output), &state) != nil || state.Status != fermata.Pending {
		return ""
	}
	json.Unmarshal(input, &asked) //nolint:errcheck // a call without a readable type is of the default one
	if asked.Type == fermata.NonBlocking {
		return ""
	}
	return state.QuestionID
}

// PlanStep is one step of an agent's own plan.
type PlanStep struct {
	Text string
	Done bool
}

// TodoProgress returns the progress of a plan in the form in which agents write it into the arguments of a tool. It
// returns nil if there is no plan.
func TodoProgress(input json.RawMessage) *fermata.Progress {
	var plan struct {
		Todos []struct {
			Content     string `json:"content"`
			Description string `json:"description"`
			Status      string `json:"status"`
		} `json:"todos"`
	}
	if json.Unmarshal(input, &plan) != nil {
		return nil
	}
	steps := make([]PlanStep, len(plan.Todos))
	for n, todo := range plan.Todos {
		steps[n] = PlanStep{Text: cmp.Or(todo.Content, todo.Description), Done: todo.Status == "completed" || todo.Status == "cancelled"}
	}
	return PlanProgress(steps)
}

// PlanProgress returns a plan as progress: how many steps are done, and the text of the first open step. It returns nil
// for an empty plan.
func PlanProgress(steps []PlanStep) *fermata.Progress {
	if len(steps) == 0 {
		return nil
	}
	p := &fermata.Progress{Total: float64(len(steps))}
	for _, step := range steps {
		if step.Done {
			p.Current++
		} else if p.Message == "" {
			p.Message = step.Text
		}
	}
	p.Message = cmp.Or(p.Message, steps[len(steps)-1].Text)
	return p
}
