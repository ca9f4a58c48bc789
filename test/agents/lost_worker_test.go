package agents

import (
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/scriptedmodel"
	"github.com/fermata-hq/fermata/test/patience"
)

func TestAgentsLoseTheirWorkers(t *testing.T) {
	t.Parallel()
	testLostWorkers(t, claudeKind, codexKind)
}

// lostTask is a task whose worker was killed while its agent was thinking.
type lostTask struct {
	*world

	kind    string
	id      string
	session string
}

// testLostWorkers kills one worker of each kind of agent and wants the next worker to continue the same session. It
// waits for all leases at the same time.
func testLostWorkers(t *testing.T, kinds ...kind) {
	var lost []*lostTask
	for _, k := range kinds {
		lost = append(lost, loseWorker(t, k))
	}
	for _, l := range lost {
		l.continueSession()
	}
}

// loseWorker starts a task and kills its worker while the agent is thinking, long before a heartbeat is due.
func loseWorker(t *testing.T, k kind) *lostTask {
	t.Helper()
	first := 0
	w := newWorld(t, k, scriptedmodel.Script{Rules: []scriptedmodel.Rule{
		{Name: "look", When: scriptedmodel.When{Turn: &first}, Reply: []scriptedmodel.Part{{Text: "I begin."}, k.write("fence.txt", "wet")}},
		{Name: "think", Hold: true, Times: 1, Reply: scriptedmodel.Say("Nobody hears this.")},
		{Name: "again", Reply: scriptedmodel.Say("I went on.")},
	}})
	task := w.CreateTask("Paint the fence", "All of it.")
	worker := w.LaunchWorker("--lease", "15s") // the next worker waits until this lease has ended
	if _, err := w.Room.Model.Await(t.Context(), "think"); err != nil {
		t.Fatal(err)
	}
	patience.Await(t, "the session is known", func() bool { s := w.Task(task.ID).Session; return s != nil && s.ID != "" })
	l := &lostTask{world: w, kind: k.name, id: task.ID, session: w.Task(task.ID).Session.ID}
	worker.Kill()
	return l
}

// continueSession waits until the lease has ended, and checks that the next worker continues the session.
func (l *lostTask) continueSession() {
	l.Helper()
	l.AwaitState(l.id, fermata.TaskOpen)
	l.RunWorkerOnce()
	done := l.Task(l.id)
	if done.State != fermata.TaskDone || done.Summary != "I went on." || done.Session.ID != l.session {
		l.Fatalf("%s: the task is %s: %s, in the session %s after %s\n%s", l.kind, done.State, done.Summary, done.Session.ID, l.session, l.RunLog(done))
	}
	if text := l.OnlyConversation("again").Text(); strings.Count(text, "# Paint the fence") != 1 || !strings.Contains(text, "I begin.") {
		l.Errorf("%s: the session does not know what was: %s", l.kind, text)
	}
	l.CheckAgentsGone()
}
