//go:build unix

package worker_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/agent"
	"github.com/fermata-hq/fermata/internal/runner/claude"
	"github.com/fermata-hq/fermata/internal/testkit"
	"github.com/fermata-hq/fermata/internal/worker"
	"github.com/fermata-hq/fermata/test/script"
)

// A program that ends before its session begins was told nothing. The receipt of the message shows that.
func TestAgentThatNeverBeganWasToldNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	program := filepath.Join(t.TempDir(), "agent")
	script.Write(t, program, "echo x >&2\nexit 1")
	task, err := w.agent.CreateTask(t.Context(), fermata.NewTask{Title: "Paint", Runner: claude.Name})
	testkit.OK(t, err)
	_, err = w.person.PostMessage(t.Context(), task.ID, "green, please")
	testkit.OK(t, err)
	wk, err := worker.New(w.agent, worker.Options{
		Name: "w1", Once: true, Copies: w.copies, Lease: time.Minute, Runners: []worker.Runner{claude.New(agent.Options{Program: program})},
	})
	testkit.OK(t, err)
	testkit.OK(t, wk.Run(t.Context()))
	w.awaitState(task.ID, fermata.TaskFailed)
	all, _, err := w.person.Messages(t.Context(), task.ID, "", 0)
	testkit.OK(t, err)
	if all[0].Handoff == fermata.HandoffHanded || all[0].HandedTo != "" {
		t.Errorf("the receipt is %+v", all[0])
	}
}
