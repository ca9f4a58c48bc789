package claude

import (
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/scriptedmodel"
	"github.com/fermata-hq/fermata/test/agent"
)

func TestMain(m *testing.M) { agent.Main(m) }

// lab is a lab whose agent is Claude Code.
type lab struct{ *agent.Lab }

// newLab starts a server and a worker. The model plays the rules.
func newLab(t *testing.T, rules ...rule) *lab {
	t.Helper()
	l := newServer(t, rules...)
	l.StartWorker()
	return l
}

// newServer starts a server without a worker.
func newServer(t *testing.T, rules ...rule) *lab {
	t.Helper()
	room := agent.NewRoom(t, scriptedmodel.Script{Rules: rules})
	return &lab{agent.NewLab(t, room, room.Claude(t), "--runner", "claude", "--program", agent.Program(t, "claude"))}
}

// createUntil creates a task, and returns it when a request to the model matches the
// rule.
func (l *lab) createUntil(rule string) *fermata.Task {
	l.Helper()
	task := l.CreateTask("Paint the fence", "All of it.")
	if _, err := l.Room.Model.Await(l.Context(), rule); err != nil {
		l.Fatal(err)
	}
	return task
}
