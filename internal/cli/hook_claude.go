package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fermata-hq/fermata"
)

type hookClaudeCommand struct{}

func (hookClaudeCommand) Help() string {
	return `The runner claude sets this up: Claude Code calls it before and after a tool runs, with the call as JSON on standard input. A call that a person has to decide is put off, the agent ends, and the worker resumes it with the answer. Where nobody can be asked, the tool does not run (exit code 2).

Examples:

    echo '{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"1","session_id":"s","tool_input":{"command":"ls"}}' |
        FERMATA_TASK=3f9k2a fermata hook claude`
}

func (hookClaudeCommand) Run(ctx context.Context, s *session) error {
	return s.runHook(ctx, answerClaude)
}

// ownTools begins the names of Fermata's tools in Claude Code.
const ownTools = "mcp__fermata__"

// answerClaude says what becomes of a call; nil leaves it to Claude Code.
func answerClaude(ctx context.Context, h *hookRun) (*hookReply, error) {
	switch h.Event {
	case "PreToolUse":
		return h.beforeClaude(ctx)
	case "PostToolUse":
		return h.afterClaude(), nil
	case "":
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "the call names no hook_event_name")
	default:
		// An event of which Fermata makes nothing.
		return nil, nil //nolint:nilnil // no opinion is an answer
	}
}

func (h *hookRun) beforeClaude(ctx context.Context) (*hookReply, error) {
	switch {
	case strings.HasPrefix(h.Tool, ownTools):
		return nil, nil //nolint:nilnil // asking needs no permission
	case h.Tool == "AskUserQuestion":
		return h.askUserQuestion(ctx)
	case h.Tool == "ExitPlanMode":
		return h.exitPlanMode(ctx)
	default:
		return h.gate(ctx)
	}
}

// afterClaude stops the agent when what it asked waits for a person.
func (h *hookRun) afterClaude() *hookReply {
	if h.Tool != ownTools+"ask_user" && h.Tool != ownTools+"request_approval" {
		return nil
	}
	var asked struct {
		Type fermata.QuestionType `json:"type"`
	}
	// What the tool was given is not read strictly: the server did that.
	_ = json.Unmarshal(h.Input, &asked)
	id, pending := pendingIn(h.Response)
	if !pending || asked.Type == fermata.NonBlocking {
		return nil
	}
	h.leave(stoppedFile, id)
	stop := false
	return &hookReply{Continue: &stop, StopReason: "waiting for a person: " + id}
}

// stoppedFile is where the runner finds the question for which the agent
// stopped.
const stoppedFile = "stopped"

// pendingIn returns the question of a tool's result when it is pending. The result is
// the tool's JSON as a text, in blocks of text, or as it is.
func pendingIn(raw json.RawMessage) (id string, pending bool) {
	var state struct {
		Status     fermata.QuestionStatus `json:"status"`
		QuestionID string                 `json:"question_id"`
	}
	var text string
	var blocks []struct {
		Text string `json:"text"`
	}
	switch {
	case json.Unmarshal(raw, &text) == nil:
		raw = json.RawMessage(text)
	case json.Unmarshal(raw, &blocks) == nil && len(blocks) > 0:
		raw = json.RawMessage(blocks[0].Text)
	}
	if json.Unmarshal(raw, &state) != nil {
		return "", false
	}
	return state.QuestionID, state.Status == fermata.Pending
}

// leave writes a file for the runner. Where that fails, the runner does not
// take the stop for Fermata's, and says so.
func (h *hookRun) leave(name, text string) {
	if h.folder != "" {
		_ = os.WriteFile(filepath.Join(h.folder, name), []byte(text), 0o600)
	}
}

// mayDefer reports whether this call is the one that the turn puts off: of two,
// Claude Code would forget the first.
func (h *hookRun) mayDefer() (bool, error) {
	if h.folder == "" {
		return true, nil
	}
	name := filepath.Join(h.folder, "deferred")
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		data, err := os.ReadFile(name)
		return string(data) == h.CallID, err
	}
	if err != nil {
		return false, err
	}
	_, err = file.WriteString(h.CallID)
	return true, errors.Join(err, file.Close())
}
