package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/fermata-hq/fermata"
)

// hookCommand is what agent programs call before and after a tool runs.
type hookCommand struct {
	Claude     hookClaudeCommand     `cmd:"" help:"Called by Claude Code in the run of a worker."`
	ClaudeDesk hookClaudeDeskCommand `cmd:"" name:"claude-desk" help:"Called by Claude Code at a person's desk."`
	Codex      hookCodexCommand      `cmd:"" help:"Called by Codex."`
	Gemini     hookGeminiCommand     `cmd:"" help:"Called by Gemini CLI."`
}

// hookPatience is how long a hook may take. It is less than what the programs
// are told to wait, because they let a tool pass whose hook is late.
const hookPatience = 45 * time.Second

// exitBlock is the exit code by which a hook keeps a tool from running, with
// the reason on standard error. Any other failure lets it pass.
const exitBlock = 2

// hookInput is what the programs send, as far as it is read.
type hookInput struct {
	SessionID string          `json:"session_id"`
	Dir       string          `json:"cwd"`
	Event     string          `json:"hook_event_name"`
	Tool      string          `json:"tool_name"`
	Input     json.RawMessage `json:"tool_input"`
	Response  json.RawMessage `json:"tool_response"`
	CallID    string          `json:"tool_use_id"`
	Mode      string          `json:"permission_mode"`
}

// longestHookInput bounds what is read; tools report whole files.
const longestHookInput = 64 << 20

// hookRun is one call of a hook.
type hookRun struct {
	hookInput
	s *session
	// task and run are what a worker runs the agent for; both are empty when a
	// person does.
	task, run string
	// folder is the run's, where the worker's runner learns why the agent stopped.
	folder string
}

// hookReply is what a hook prints.
type hookReply struct {
	Continue   *bool         `json:"continue,omitempty"`
	StopReason string        `json:"stopReason,omitempty"`
	Specific   *hookDecision `json:"hookSpecificOutput,omitempty"`
}

// hookDecision is what becomes of a tool call.
type hookDecision struct {
	Event    string          `json:"hookEventName"`
	Decision string          `json:"permissionDecision"`
	Reason   string          `json:"permissionDecisionReason,omitempty"`
	Input    json.RawMessage `json:"updatedInput,omitempty"`
}

// Decisions about a tool call. No decision leaves it to the program.
const (
	hookAllow = "allow"
	hookDeny  = "deny"
	hookDefer = "defer"
)

// runHook reads the call, lets answer decide, and prints what it says.
// Whatever goes wrong blocks the tool.
func runHook(ctx context.Context, s *session, answer func(context.Context, *hookRun) (*hookReply, error)) error {
	ctx, cancel := context.WithTimeout(ctx, hookPatience)
	defer cancel()
	h, err := readHook(s)
	var reply *hookReply
	if err == nil {
		reply, err = answer(ctx, h)
	}
	if err != nil {
		fmt.Fprintf(s.err, "fermata: the tool may not run, because nobody could be asked: %s\n", clean(hookTrouble(err)))
		return outcome(exitBlock)
	}
	if reply == nil {
		return nil
	}
	return json.NewEncoder(s.out).Encode(reply)
}

func readHook(s *session) (*hookRun, error) {
	data, err := io.ReadAll(io.LimitReader(s.stdin, longestHookInput+1))
	if err != nil {
		return nil, err
	}
	if len(data) > longestHookInput {
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "the call has more than %d bytes", longestHookInput)
	}
	h := &hookRun{
		s: s, task: os.Getenv("FERMATA_TASK"), run: os.Getenv("FERMATA_RUN"), folder: os.Getenv("FERMATA_RUN_FOLDER"),
	}
	if err := json.Unmarshal(data, &h.hookInput); err != nil {
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "the call cannot be read: %w", err)
	}
	return h, nil
}

// hookTrouble is an error with its hint, in one line.
func hookTrouble(err error) string {
	e, ok := errors.AsType[*fermata.Error](err)
	if !ok || e.Hint == "" {
		return err.Error()
	}
	return e.Error() + " (" + e.Hint + ")"
}

// decide is a reply about the tool call.
func (h *hookRun) decide(decision, reason string) *hookReply {
	return &hookReply{Specific: &hookDecision{Event: h.Event, Decision: decision, Reason: reason}}
}
