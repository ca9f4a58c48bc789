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

// kind is what tests need to know of an agent program.
type kind struct {
	name string
	env  func(*agent.Room, testing.TB) agent.Env
	// args are further arguments of the program, and flags those of the worker.
	args, flags []string
	// write is the call with which this agent writes a file of the working copy.
	write func(name, text string) scriptedmodel.Part
	// ask is how the model calls the tool that asks.
	ask string
	// allow is a tool that a rule of the gates allows.
	allow string
}

// isolated is the same program in a sandbox, where it is gated, stopped and resumed
// as anywhere else.
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
