package agents

import (
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/scriptedmodel"
	"github.com/fermata-hq/fermata/test/agent"
)

// world is a lab for one kind of agent.
type world struct {
	*agent.Lab
	kind kind
}

// kind describes an agent program to the tests.
type kind struct {
	name string
	env  func(*agent.Room, testing.TB) agent.Env
	// args are further arguments of the program, and flags those of the worker.
	args, flags []string
	// write returns the call with which this agent writes a file of the working copy.
	write func(name, text string) scriptedmodel.Part
	// ask is the name of the tool that asks, as the model calls it. If it is empty, the name is ~ask_user.
	ask string
	// allow is a tool that a gate rule allows, or "".
	allow string
}

// isolated returns the same program in a sandbox. It must be gated, stopped and resumed
// there as without one.
func (k kind) isolated() kind {
	k.flags = append(k.flags, "--isolate")
	return k
}

func newWorld(t *testing.T, k kind, script scriptedmodel.Script) *world {
	t.Helper()
	room := agent.NewRoom(t, script)
	flags := append([]string{"--runner", k.name, "--program", agent.Program(t, k.name)}, k.flags...)
	w := &world{agent.NewLab(t, room, k.env(room, t), flags...), k}
	w.Command = k.args
	if k.allow != "" {
		w.rule(fermata.NewGateRule{Tool: k.allow, Decision: fermata.GateAllow})
	}
	return w
}
