package seams

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/fermata-hq/fermata"
)

// agentVerbs are the acts of agents.
var agentVerbs = []verb{
	{
		name: "agent-prints", sentence: "The agent of %s prints a line",
		weight: func(v view) int { return weightIf(v.agent, 2) },
		act:    func(p *Play, r *playTask, _ int) { p.sendOrder(r, order{Do: "print", Text: "I work."}) },
	},
	{
		name: "agent-says", sentence: "The agent of %s writes into the thread",
		weight: func(v view) int { return weightIf(v.agent, 2) },
		act: func(p *Play, r *playTask, _ int) {
			p.sendOrder(r, order{Do: "call", Method: "POST", Path: "/v1/tasks/" + r.id + "/messages", Body: map[string]any{"body": "I work."}})
		},
	},
	{
		name: "agent-asks", sentence: "The agent of %s asks and works on", variants: askNames,
		weight: func(v view) int { return weightIf(v.agent && v.pending == nil, 6) },
		act:    (*Play).agentAsks,
	},
	{
		name: "agent-gates", sentence: "The agent of %s asks for leave to run a command", variants: []string{"the first", "the second"},
		weight: func(v view) int { return weightIf(v.agent, 6) },
		act:    (*Play).agentGates,
	},
	{
		name: "agent-looks", sentence: "The agent of %s asks for leave that a rule gives",
		weight: func(v view) int { return weightIf(v.agent, 4) },
		act:    (*Play).agentLooks,
	},
	{
		name: "late-gate", sentence: "A gate is asked in the name of %s, which was stopped",
		weight: func(v view) int { return weightIf(v.isStopped(), 8) },
		act:    (*Play).lateGate,
	},
	{
		name: "agent-deaf", sentence: "The agent of %s ignores SIGTERM from now on",
		weight: func(v view) int { return weightIf(v.agent && !v.deaf, 4) },
		act:    (*Play).agentIgnoresInbox,
	},
	{
		name: "agent-child", sentence: "The agent of %s starts a program in a session of its own",
		weight: func(v view) int { return weightIf(v.agent && !v.leftChild && !v.rough, 2) },
		act:    (*Play).agentChild,
	},
	{
		name: "agent-ends", sentence: "The agent of %s ends", variants: endNames(),
		weight: func(v view) int { return weightIf(v.agent, 26) },
		act:    (*Play).agentEnds,
	},
}

// Kinds of questions that agents ask.
var askNames = []string{"a text", "a text within a second, or the task fails", "a text within a second, or the default counts", "an approval of an action", "an approval by two people"}

func (p *Play) ask(n int) map[string]any {
	switch n % len(askNames) {
	case 1:
		return map[string]any{"question": "What now?", "timeout": shortTimeout, "on_timeout": "fail"}
	case 2:
		return map[string]any{"question": "What now?", "timeout": shortTimeout, "on_timeout": "default", "default": "as you like"}
	case 3:
		return map[string]any{"type": "approval", "question": "May I?", "timeout": "never", "action": map[string]any{"command": "make it " + p.w.newWord()}}
	case 4:
		return map[string]any{"type": "approval", "question": "May I?", "timeout": "never", "approvals": map[string]any{"required": 2}}
	default:
		return map[string]any{"question": "What now?", "timeout": "never"}
	}
}

func (p *Play) agentAsks(r *playTask, n int) {
	p.sendOrder(r, order{Do: "call", Method: "POST", Path: "/v1/tasks/" + r.id + "/questions", Body: p.ask(n)})
}

func (p *Play) agentGates(r *playTask, n int) {
	p.gate(r, "Bash", map[string]any{"command": fmt.Sprintf("echo %d", n%2)})
}

func (p *Play) agentLooks(r *playTask, _ int) { p.gate(r, freeTool, map[string]any{}) }

// gate makes the agent ask for permission.
func (p *Play) gate(r *playTask, tool string, input any) {
	l := p.agent(r)
	if l == nil {
		return
	}
	g := Gate{Task: r.id, Run: l.Run, Tool: tool, Began: time.Now(), Stopped: p.describeStop(r, l.Run)}
	body := map[string]any{"task_id": r.id, "run_id": l.Run, "tool": tool, "input": input, "runner": "command"}
	got, err := p.sendOrderTo(l, order{Do: "call", Method: "POST", Path: "/v1/gates", Body: body})
	if err != nil || got.Status >= 400 || json.Unmarshal(got.Body, &g.Verdict) != nil {
		return
	}
	p.recordGate(r, g)
}

func (p *Play) recordGate(r *playTask, g Gate) {
	g.End = time.Now()
	if g.Stopped != p.describeStop(r, g.Run) {
		g.Stopped = ""
	}
	p.c.record(func() { p.c.Gates = append(p.c.Gates, g) })
}

// describeStop describes how the task or the given run was stopped, or returns "" if it was not.
func (p *Play) describeStop(r *playTask, run string) string {
	t := p.w.ledger.entryOf(r.id)
	switch state := p.w.ledger.runState(r.id, run); {
	case t.State.IsEnded():
		return "the task is " + string(t.State)
	case t.State == fermata.TaskDeferred && t.Reason == fermata.ReasonPaused:
		return "the task is paused"
	case run != "" && state != fermata.RunRunning:
		return "the run is " + string(state)
	default:
		return ""
	}
}

func (p *Play) lateGate(r *playTask, _ int) {
	g := Gate{Task: r.id, Tool: freeTool, Began: time.Now(), Stopped: p.describeStop(r, "")}
	p.recordAct(p.w.agents, "late gate", r, func(ctx context.Context) error {
		v, err := p.w.agents.Gate(ctx, fermata.GateCall{TaskID: r.id, Tool: freeTool, Input: json.RawMessage("{}"), Runner: "command"})
		if err == nil {
			g.Verdict = *v
			p.recordGate(r, g)
		}
		return err
	})
}

func (p *Play) agentIgnoresInbox(r *playTask, _ int) {
	if l := p.agent(r); l != nil {
		if _, err := p.sendOrderTo(l, order{Do: "deaf"}); err == nil {
			l.update(func() { l.deaf = true })
		}
	}
}

func (p *Play) agentChild(r *playTask, _ int) {
	if l := p.agent(r); l != nil {
		if _, err := p.sendOrderTo(l, order{Do: "child"}); err == nil {
			l.update(func() { l.leftChild = true })
		}
	}
}

// endings are the ways in which agents end.
var endings = []struct {
	name   string
	result map[string]any
	ask    int
	code   int
}{
	{name: "completed", result: map[string]any{"result": "completed", "summary": "It is done."}},
	{name: "completed", result: map[string]any{"result": "completed", "summary": "It is done."}},
	{name: "asking a text", ask: 0 + 1},
	{name: "asking a text", ask: 0 + 1},
	{name: "asking a text within a second, or the task fails", ask: 1 + 1},
	{name: "asking a text within a second, or the default counts", ask: 2 + 1},
	{name: "asking an approval of an action", ask: 3 + 1},
	{name: "asking an approval by two people", ask: 4 + 1},
	{name: "failed", result: map[string]any{"result": "failed", "summary": "It cannot be done."}},
	{name: "without a word"},
	{name: "with exit code 7", code: 7},
	{name: "blocked, by nothing that it names", result: map[string]any{"result": "blocked", "summary": "Something is in the way."}},
}

func endNames() []string {
	names := make([]string, len(endings))
	for i, e := range endings {
		names[i] = e.name
	}
	return names
}

func (p *Play) agentEnds(r *playTask, n int) {
	e := endings[n%len(endings)]
	o := order{Do: "end", Code: e.code}
	result := e.result
	if e.ask > 0 {
		result = map[string]any{"result": "needs_input", "question": p.ask(e.ask - 1)}
	}
	if result != nil {
		o.Result, _ = json.Marshal(result)
	}
	p.sendOrder(r, o)
}
