package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/fermata-hq/fermata"
)

// hookPatience is how long a hook may take. It is less than what the program is
// told to wait, because it lets a tool pass whose hook is late.
const hookPatience = 45 * time.Second

// hookRun is one call of a hook in the run of a worker.
type hookRun struct {
	hookEvent
	Response json.RawMessage `json:"tool_response"`
	Mode     string          `json:"permission_mode"`

	s *session
	// task is what the worker runs the agent for.
	task string
	// folder is the run's, where the worker's runner learns why the agent stopped.
	folder string
}

// hookReply is what a hook prints.
type hookReply struct {
	Continue   *bool         `json:"continue,omitempty"`
	StopReason string        `json:"stopReason,omitempty"`
	Specific   *hookSpecific `json:"hookSpecificOutput,omitempty"`
}

// Decisions about a tool call. No decision leaves it to the program.
const (
	hookAllow = "allow"
	hookDeny  = "deny"
	hookDefer = "defer"
)

// runHook reads the call, lets answer decide, and prints what it says.
// Whatever goes wrong keeps the tool from running.
func (s *session) runHook(ctx context.Context, answer func(context.Context, *hookRun) (*hookReply, error)) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the hook broke: %v", r)
		}
		if err != nil {
			fmt.Fprintf(s.err, "fermata: this call may not run: %s\n", oneLine(hookError(err)))
			err = outcome(exitBlocked)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, hookPatience)
	defer cancel()
	h, err := s.readHook()
	if err != nil {
		return err
	}
	reply, err := answer(ctx, h)
	if err != nil || reply == nil {
		return err
	}
	return s.jsonLine(reply)
}

func (s *session) readHook() (*hookRun, error) {
	h := &hookRun{s: s, task: os.Getenv("FERMATA_TASK"), folder: os.Getenv("FERMATA_RUN_FOLDER")}
	data, err := io.ReadAll(io.LimitReader(s.lines, maxHookInput+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the call: %w", err)
	case len(data) > maxHookInput:
		return nil, fmt.Errorf("the call has more than %d bytes", maxHookInput)
	}
	if err := json.Unmarshal(data, h); err != nil {
		return nil, fmt.Errorf("the call on standard input is not the JSON of a hook: %w", err)
	}
	if h.Tool == "" {
		return nil, fmt.Errorf("the call names no tool")
	}
	if h.task == "" {
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "there is no task: FERMATA_TASK is not set").
			WithHint("this hook is for the agents of workers; fermata install claude sets up the one for a person's desk")
	}
	return h, nil
}

// decide is a reply about the tool call.
func (h *hookRun) decide(decision, reason string) *hookReply {
	return &hookReply{Specific: &hookSpecific{Event: h.Event, Decision: decision, Reason: reason}}
}
