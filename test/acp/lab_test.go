//go:build agents

package acp

import (
	"testing"

	"github.com/fermata-hq/fermata/test/agent"
)

func TestMain(m *testing.M) { agent.Main(m) }

// start starts a server and a worker whose agent is the command. It waits for people a
// second only.
func start(t *testing.T, room *agent.Room, env agent.Env, command ...string) *agent.Lab {
	t.Helper()
	l := agent.NewLab(t, room, env, "--runner", "acp", "--live-wait", "1s")
	l.Command = command
	l.StartWorker()
	return l
}
