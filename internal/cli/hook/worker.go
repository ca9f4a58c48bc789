package hook

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/agent"
)

// handleWorkerEvent handles an event of a worker's agent. It leaves a note for the runner about each call that it
// passed or refused. A call that ran without such a note was not gated.
func (h *gateHook) handleWorkerEvent(ctx context.Context) error {
	err := h.decideWorkerEvent(ctx)
	if h.event.Name != h.beforeEvent || h.runFolder == "" {
		return err
	}
	return errors.Join(err, h.noteCall(err == nil && h.passed))
}

// noteCall writes the note about a call.
func (h *gateHook) noteCall(passed bool) error {
	name := agent.CallFilePrefix(passed, cmp.Or(h.event.CallID, h.event.Tool)) + rand.Text()
	calls := filepath.Join(h.runFolder, agent.CallsFolder)
	if err := os.MkdirAll(calls, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(calls, name), nil, 0o600)
}

// decideWorkerEvent handles the event. A call that a person has to decide stops the agent, and the worker resumes it
// with the answer.
func (h *gateHook) decideWorkerEvent(ctx context.Context) error {
	if h.Task == "" {
		return fermata.Errorf(fermata.CodeInvalidRequest, "there is no task: FERMATA_TASK is not set").
			WithHint("with --worker this hook is for the agents of workers; fermata install sets up the one for a person's desk")
	}
	switch {
	case h.event.Name == sessionStart:
		return h.writeRunFile(agent.GatedFile, "")
	case h.isOwnTool() && h.event.Name == h.afterEvent:
		return h.writeReply(h.replyAfterAsk(), nil)
	case h.isOwnTool() || h.afterEvent != "" && h.event.Name == h.afterEvent:
		h.passed = true
		return nil // an agent may always ask, and a tool that has run needs no check
	case h.event.Name != h.beforeEvent:
		return h.unknownEventError()
	}
	if err := h.connect(); err != nil {
		return err
	}
	if askTool := h.askTools[h.event.Tool]; askTool != nil {
		return h.writeReply(askTool(h, ctx))
	}
	return h.decideCall(ctx)
}

func (h *gateHook) isHarmless() bool { return h.needsNoApproval != nil && h.needsNoApproval(&h.event) }

// isGated reports whether a rule names the call, or no call of the task may run.
func (h *gateHook) isGated(ctx context.Context, call fermata.GateCall) (bool, error) {
	call.DryRun = true
	v, err := h.requestVerdict(ctx, call)
	return err == nil && (v.Rule != nil || v.DecidedBy == fermata.ActorSystem), err
}

// replyAfterAsk ends the turn if the agent's question is pending.
func (h *gateHook) replyAfterAsk() any {
	tool := h.event.MCPContext.Tool
	if tool == "" {
		tool = strings.TrimPrefix(h.event.Tool, h.mcpPrefix)
	}
	for _, text := range toolTexts(h.event.Response) {
		if id := agent.AwaitedQuestion(tool, h.event.Input, text); id != "" {
			// If this fails, the runner does not know that Fermata stopped the agent, and reports that.
			_ = h.writeRunFile(agent.StoppedFile, id)
			return stopReply(id)
		}
	}
	return nil
}

// stopForQuestion ends the turn before a call that a person has to decide. The runner reads the question's id from the
// run's folder.
func (h *gateHook) stopForQuestion(question string) (any, error) {
	if h.endTurn != nil {
		return h.endTurn(h, question)
	}
	if err := h.writeRunFile(agent.StoppedFile, question); err != nil {
		return nil, err
	}
	return h.verdictReply(&h.event, denial(waitReason(question)+". It has not run. You are stopped, and resumed with the decision; "+
		"once it is approved, make exactly this call again"))
}

// writeRunFile writes a file for the runner.
func (h *gateHook) writeRunFile(name, text string) error {
	if h.runFolder == "" {
		return nil
	}
	// The runner may read the file at any time, and must not see half of it.
	path := filepath.Join(h.runFolder, name)
	file, err := os.CreateTemp(h.runFolder, name+"-*")
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// claimDeferral claims the one deferral of this turn for the call, and reports whether it got it. If a turn deferred
// two calls, Claude Code would forget the first one.
func (h *gateHook) claimDeferral() (bool, error) {
	if h.runFolder == "" {
		return true, nil
	}
	name := filepath.Join(h.runFolder, agent.DeferredFile)
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		data, err := os.ReadFile(name)
		return string(data) == h.event.CallID, err
	}
	if err != nil {
		return false, err
	}
	_, err = file.WriteString(h.event.CallID)
	if err := errors.Join(err, file.Close()); err != nil {
		return false, fmt.Errorf("note the call: %w", err)
	}
	return true, nil
}
