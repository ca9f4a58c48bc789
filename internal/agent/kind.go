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
	// Name is what tasks call the runner; Program is looked up where no path is given.
	Name, Program string
	// PassEnv names the variables of the worker that this program needs beside the usual ones.
	PassEnv []string
	// Command returns the arguments of a turn, and the variables that it needs
	// beside those of [Turn.Env]. The prompt is on standard input.
	Command func(t *Turn) (args, env []string, err error)
	// Reader returns what translates the lines of one turn, in order. A line that
	// is not for it gives no event.
	Reader func() func(line []byte) []Event
	// AwaitKept waits, where it is not nil, until all that the turn reported is
	// in the session's record. It gives up by itself.
	AwaitKept func(ctx context.Context, t *Turn)
	// AskTool is what Fermata's tool ask_user is called for this program; empty is that.
	AskTool string
	// Instructed says that the program gives its model the instructions of MCP servers,
	// so that prompts need not say how to ask.
	Instructed bool
	// HooksStop says that a hook can end a turn of this program. Others are ended by
	// the runner when a hook leaves a question.
	HooksStop bool
	// TellsEnd says that the program's last event of a turn is one that ends it.
	TellsEnd bool
	// Resume are the arguments, before the session's id, with which a person opens a
	// session by hand; nil where the program cannot.
	Resume []string
	// Places names the variables that say where the program keeps its sessions. Who opens
	// one by hand needs those of the run.
	Places []string
	// Mode is what a session may do without asking, in the program's words, by the
	// worker's own arguments; nil where there is no such word.
	Mode func(extra []string) string
	// InUse tells from its last words, where it is not nil, that a turn did not begin
	// because another process has the session.
	InUse func(words string) bool
}

// Turn is one start of the program.
type Turn struct {
	Options
	// Session is the id of the session to resume; empty begins one.
	Session string
	// Dir is the working directory; Folder is for the run's own files.
	Dir, Folder string
	// Deferred is the call that the session's last turn put off, and that this one
	// tells the agent of.
	Deferred string
	// Asked is the question for which the agent is stopped; empty is none.
	Asked string
	// Env is the environment, with the task and the server in it.
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

// Event is what one line of the output says.
type Event struct {
	// Session is the session's id.
	Session string
	// Note is what the log of the run shows.
	Note string
	// Said is a message of the agent; the last one sums up its work.
	Said string
	// Opens and Closes name something under way, such as the call of a tool, during
	// which the agent is not stopped if that can wait.
	Opens, Closes string
	// Acts says that the agent acts from here on, so that the hook which runs when a
	// session begins has run. Where it has not, no gate is there and the agent is stopped.
	Acts bool
	// Ran is a call that is over, and that a hook has to have let through.
	Ran *Ran
	// Asked is the question on which the agent waits from here on.
	Asked string
	// Paused says that a hook ended the turn; Deferred is the call that it put off.
	Paused   bool
	Deferred string
	// Ended says that the turn is over. Where there are several, the last one counts.
	Ended bool
	// Trouble is an error that the agent reports; Fatal says that the turn failed for it.
	Trouble string
	Fatal   bool
	// Progress is how far the agent is by its own plan.
	Progress *fermata.Progress
}

// askTool is the usual name of the tool that asks.
const askTool = "ask_user"

// AskPerson is its name for programs that have a tool ask_user of their own: without
// a terminal, Gemini CLI hides its own tool, and every other of that name with it.
const AskPerson = "ask_person"

// ownTools are the tools of Fermata's MCP server.
var ownTools = []string{
	askTool, AskPerson, "post_question", "request_approval", "check_answer", "cancel_question", "report_progress", "read_messages", "approve",
}

// AskUser is the usual name of the tool that asks.
const AskUser = askTool

// DeskTools are the tools with which an agent asks and tells people something; the
// tool that asks has the name given. A person who installs Fermata allows these.
func DeskTools(askTool string) []string {
	return []string{askTool, "post_question", "request_approval", "check_answer", "cancel_question", "report_progress", "read_messages"}
}

// IsOwnTool reports whether Fermata's MCP server has a tool of that name. The name of
// another server may begin as Fermata's does, and its tools with it.
func IsOwnTool(name string) bool { return slices.Contains(ownTools, name) }

// Awaits returns the question for which an agent has to stop after a call of
// Fermata's tools: one that suspends the task and that nobody answered yet. It is
// empty where the agent may go on.
func Awaits(tool string, input json.RawMessage, output string) string {
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

// Step is one step of an agent's own plan.
type Step struct {
	Text string
	Done bool
}

// Todos are a plan as agents write it into the arguments of a tool. Where it has none,
// the progress is nil.
func Todos(input json.RawMessage) *fermata.Progress {
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
	steps := make([]Step, len(plan.Todos))
	for n, todo := range plan.Todos {
		steps[n] = Step{Text: cmp.Or(todo.Content, todo.Description), Done: todo.Status == "completed" || todo.Status == "cancelled"}
	}
	return Plan(steps)
}

// Plan is a plan as progress: how many steps are done, and the first that is not.
// It is nil where there is none.
func Plan(steps []Step) *fermata.Progress {
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
