//go:build unix

package worker_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/agent"
	"github.com/fermata-hq/fermata/internal/runner/claude"
	"github.com/fermata-hq/fermata/internal/worker"
)

// A program that ends before its session begins was told nothing: the receipt of what
// was written says so.
func TestAgentThatNeverBeganWasToldNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	program := filepath.Join(t.TempDir(), "agent")
	must(t, os.WriteFile(program, []byte("#!/bin/sh\necho x >&2\nexit 1\n"), 0o700))
	task, err := w.agent.CreateTask(t.Context(), fermata.NewTask{Title: "Paint", Runner: claude.Name})
	must(t, err)
	_, err = w.person.PostMessage(t.Context(), task.ID, "green, please")
	must(t, err)
	wk, err := worker.New(w.agent, worker.Options{
		Name: "w1", Once: true, Copies: w.copies, Lease: time.Minute, Runners: []worker.Runner{claude.New(agent.Options{Program: program})},
	})
	must(t, err)
	must(t, wk.Run(t.Context()))
	w.await(task.ID, fermata.TaskFailed)
	all, _, err := w.person.Messages(t.Context(), task.ID, "", 0)
	must(t, err)
	if all[0].Receipt == fermata.ReceiptHanded || all[0].HandedTo != "" {
		t.Errorf("the receipt is %+v", all[0])
	}
}
