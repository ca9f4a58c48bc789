//go:build agents

package agents

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/scriptedmodel"
	"github.com/fermata-hq/fermata/test/agent"
)

var openCodeKind = kind{
	name: "opencode", env: (*agent.Room).OpenCode,
	write: func(name, text string) scriptedmodel.Part {
		return scriptedmodel.Call("write", map[string]any{"filePath": name, "content": text})
	},
}

func TestOpenCodeResumes(t *testing.T) {
	t.Parallel()
	testResume(t, openCodeKind)
}

func TestOpenCodeSessionIsGone(t *testing.T) {
	t.Parallel()
	testGone(t, openCodeKind, func(w *world) { remove(t, w.Room.Home, ".local", "share", "opencode") })
}

func TestOpenCodeIsInterrupted(t *testing.T) {
	t.Parallel()
	testInterrupt(t, openCodeKind)
}

// opencode itself refuses some calls for which it would ask a person at the terminal. Such a refusal does not end the
// task as done: the agent is told, and continues. A gate rule allows the call here, because the built-in rules would ask
// a person before opencode does.
func TestOpenCodeRefusesByItself(t *testing.T) {
	t.Parallel()
	first := 0
	name := filepath.Join(t.TempDir(), "elsewhere.txt")
	w := newWorld(t, openCodeKind, scriptedmodel.Script{Rules: []scriptedmodel.Rule{
		{Name: "write", When: scriptedmodel.When{Turn: &first}, Reply: []scriptedmodel.Part{{Text: "I begin."}, openCodeKind.write(name, "wet")}},
		{Name: "told", When: scriptedmodel.When{Last: "rejected permission"}, Reply: scriptedmodel.Say("I may not write there.")},
	}})
	w.rule(fermata.NewGateRule{Tool: "write", Decision: fermata.GateAllow})
	task := w.CreateTask("Paint the fence", "All of it.")
	w.RunWorkerOnce()
	if _, err := os.Stat(name); err == nil {
		t.Error("it was written")
	}
	if done := w.Task(task.ID); done.State != fermata.TaskDone || done.Summary != "I may not write there." {
		t.Errorf("the task is %s: %s\n%s", done.State, done.Summary, w.RunLog(task))
	}
}

var openCodeShell = shell{"bash", "command", "bash"}

func TestOpenCodeIsGated(t *testing.T) {
	t.Parallel()
	testGate(t, openCodeKind, openCodeShell)
}

func TestOpenCodeIsIsolated(t *testing.T) {
	t.Parallel()
	testGate(t, openCodeKind.isolated(), openCodeShell)
}

func TestOpenCodeLosesItsWorker(t *testing.T) {
	t.Parallel()
	testLostWorkers(t, openCodeKind)
}

func TestOpenCodeLeavesNothing(t *testing.T) {
	t.Parallel()
	testLeft(t, openCodeKind, openCodeShell)
}

func TestOpenCodeRunsNothingWithoutTheServer(t *testing.T) {
	t.Parallel()
	testClosed(t, openCodeKind, openCodeShell)
}

func TestOpenCodeDeniesEverything(t *testing.T) {
	t.Parallel()
	testDenies(t, openCodeKind)
}
