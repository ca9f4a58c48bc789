package agent

import (
	"cmp"
	"context"
	"encoding/json"

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
	// Asked is the question on which the agent waits from here on. Ends says that
	// the program knows, and ends by itself.
	Asked string
	Ends  bool
	// Trouble is an error that the agent reports; Fatal says that the turn failed for it.
	Trouble string
	Fatal   bool
	// Progress is how far the agent is by its own plan.
	Progress *fermata.Progress
}

// askTool is the usual name of the tool that asks.
const askTool = "ask_user"

// Awaits returns the question for which an agent has to stop after a call of
// Fermata's tools: one that suspends the task and that nobody answered yet. It is
// empty where the agent may go on.
func Awaits(tool string, input json.RawMessage, output string) string {
	if tool != askTool && tool != "request_approval" {
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
