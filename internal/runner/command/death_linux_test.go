package command_test

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/runner/command"
)

// workerDir makes this program a worker that runs one agent in the folder.
const workerDir = "FERMATA_TEST_WORKER_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(workerDir); dir != "" {
		playWorker(dir)
		return
	}
	os.Exit(m.Run())
}

func playWorker(dir string) {
	r := command.New(command.Options{Command: shell("exec 3>alive; echo ready >&3; exec sleep 1000")})
	claim := &fermata.Claim{Task: &fermata.Task{ID: "task_1"}, Run: &fermata.Run{ID: "run_1"}}
	if _, err := r.Run(context.Background(), claim, &handle{dir: dir}); err != nil {
		os.Exit(1)
	}
}

func TestAgentDiesWithItsWorker(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "alive")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	dying := exec.Command(os.Args[0])
	dying.Env = append(os.Environ(), workerDir+"="+dir, "TMPDIR="+t.TempDir())
	if err := dying.Start(); err != nil {
		t.Fatal(err)
	}
	alive, err := os.Open(pipe)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = alive.Close() }()
	if _, err := io.ReadFull(alive, make([]byte, len("ready\n"))); err != nil {
		t.Fatal(err)
	}
	if err := dying.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = dying.Wait()
	if _, err := io.Copy(io.Discard, alive); err != nil {
		t.Error(err)
	}
}
