//go:build agents

package acp

import (
	"testing"

	"github.com/fermata-hq/fermata/test/agent"
)

func TestMain(m *testing.M) { agent.Main(m) }

// newLab starts a server. Its worker will run the command as the agent, which waits for
// people only one second before it is stopped.
func newLab(t *testing.T, room *agent.Room, env agent.Env, command ...string) *agent.Lab {
	t.Helper()
	l := agent.NewLab(t, room, env, "--runner", "acp", "--live-wait", "1s")
	l.Command = command
	return l
}
