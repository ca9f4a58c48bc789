package workers

import (
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/test/process"
)

// A server with workers inside gets SIGTERM. It stops the agents and releases
// their tasks, and they are continued after the next start.
func TestStopHandsTasksBack(t *testing.T) {
	process.RunOnEachDatabase(t, func(t *testing.T, database []string) {
		marks := t.TempDir()
		inside := []string{"--workers", "1", "--", "sh", "-c", agent, "agent", marks}
		s := newShop(t, marks, database, inside...)
		task := s.create()
		running, command := s.agentOf("1"), s.command()
		s.server.Stop()
		s.gone(running)
		s.gone(command)

		token := s.server.FirstToken
		s.server = process.Serve(t, s.binary, database)
		s.admin = process.NewLoadBalancer(t, s.server).Client(t, token)
		back := s.becomes(task.ID, fermata.TaskOpen)
		if back.Attempts != 0 {
			t.Errorf("handing the task back counts as %d lost runs", back.Attempts)
		}
		s.runs(task.ID, fermata.RunReleased)
		s.server.Stop()

		s.server = process.Serve(t, s.binary, database, inside...)
		s.admin = process.NewLoadBalancer(t, s.server).Client(t, token)
		if done := s.becomes(task.ID, fermata.TaskDone); done.Summary != "by run 2" {
			t.Errorf("the task was completed %q", done.Summary)
		}
		s.runs(task.ID, fermata.RunReleased, fermata.RunFinished)
		report, err := s.admin.VerifyAudit(t.Context())
		if err != nil || !report.OK {
			t.Errorf("the audit chain: %+v, %v", report, err)
		}
	})
}
