package cli

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

// inWorker handles an event of a worker's agent. It leaves a note for the runner about each call that it passed or
// refused. A call that ran without such a note was not gated.
func (h *gateHook) inWorker(ctx context.Context) error {
	err := h.attend(ctx)
	if h.in.Event != h.before || h.folder == "" {
		return err
	}
	return errors.Join(err, h.noteCall(err == nil && h.passed))
}

// noteCall writes the note about a call.
func (h *gateHook) noteCall(passed bool) error {
	name := agent.NameCall(passed, cmp.Or(h.in.CallID, h.in.Tool)) + rand.Text()
	calls := filepath.Join(h.folder, agent.CallsFolder)
	if err := os.MkdirAll(calls, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(calls, name), nil, 0o600)
}

// attend handles the event. A call that a person has to decide stops the agent, and the worker resumes it with the
// answer.
func (h *gateHook) attend(ctx context.Context) error {
	if h.Task == "" {
		return fermata.Errorf(fermata.CodeInvalidRequest, "there is no task: FERMATA_TASK is not set").
			WithHint("with --worker this hook is for the agents of workers; fermata install sets up the one for a person's desk")
	}
	switch {
	case h.in.Event == sessionStart:
		return h.leave(agent.GatedFile, "")
	case h.isOwnTool() && h.in.Event == h.after:
		return h.say(h.afterAsk(), nil)
	case h.isOwnTool() || h.after != "" && h.in.Event == h.after:
		h.passed = true
		return nil // an agent may always ask, and a tool that has run needs no check
	case h.in.Event != h.before:
		return h.unknown()
	}
	if err := h.connect(); err != nil {
		return err
	}
	if asks := h.asking[h.in.Tool]; asks != nil {
		return h.say(asks(h, ctx))
	}
	return h.gate(ctx)
}

func (h *gateHook) isHarmless() bool { return h.harmless != nil && h.harmless(&h.in) }

// isNamed reports whether a rule names the call, or no call of the task may run.
func (h *gateHook) isNamed(ctx context.Context, call fermata.GateCall) (bool, error) {
	call.DryRun = true
	v, err := h.ask(ctx, call)
	return err == nil && (v.Rule != nil || v.DecidedBy == fermata.ActorSystem), err
}

// afterAsk ends the turn if the agent's question is pending.
func (h *gateHook) afterAsk() any {
	tool := h.in.MCPContext.Tool
	if tool == "" {
		tool = strings.TrimPrefix(h.in.Tool, h.mcpPrefix)
	}
	for _, text := range toolTexts(h.in.Response) {
		if id := agent.Awaits(tool, h.in.Input, text); id != "" {
			// If this fails, the runner does not know that Fermata stopped the agent, and reports that.
			_ = h.leave(agent.StoppedFile, id)
			return stopFor(id)
		}
	}
	return nil
}

// putOff ends the turn before a call that a person has to decide. The runner finds the question.
func (h *gateHook) putOff(question string) (any, error) {
	if h.pause != nil {
		return h.pause(h, question)
	}
	if err := h.leave(agent.StoppedFile, question); err != nil {
		return nil, err
	}
	return h.decide(&h.in, refuse(waitingFor(question)+". It has not run. You are stopped, and resumed with the decision; "+
		"once it is approved, make exactly this call again"))
}

// leave writes a file for the runner.
func (h *gateHook) leave(name, text string) error {
	if h.folder == "" {
		return nil
	}
	// The runner may read the file at any time, and must not see half of it.
	path := filepath.Join(h.folder, name)
	file, err := os.CreateTemp(h.folder, name+"-*")
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// mayDefer reports whether the turn may defer this call. If a turn deferred two calls, Claude Code would forget the
// first one.
func (h *gateHook) mayDefer() (bool, error) {
	if h.folder == "" {
		return true, nil
	}
	name := filepath.Join(h.folder, agent.DeferredFile)
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		data, err := os.ReadFile(name)
		return string(data) == h.in.CallID, err
	}
	if err != nil {
		return false, err
	}
	_, err = file.WriteString(h.in.CallID)
	if err := errors.Join(err, file.Close()); err != nil {
		return false, fmt.Errorf("note the call: %w", err)
	}
	return true, nil
}
