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
	"github.com/fermata-hq/fermata/internal/process"
	"github.com/fermata-hq/fermata/internal/runner/command"
)

// workerDir makes this program a worker that runs one agent in the folder. workerScript is the agent.
const (
	workerDir    = "FERMATA_TEST_WORKER_DIR"
	workerScript = "FERMATA_TEST_WORKER_SCRIPT"
)

func TestMain(m *testing.M) {
	if process.IsWatchdog(os.Args) {
		process.RunWatchdog(os.Args, os.Stdin)
		return
	}
	if dir := os.Getenv(workerDir); dir != "" {
		process.EnableWatchdog()
		playWorker(dir)
		return
	}
	os.Exit(m.Run())
}

func playWorker(dir string) {
	r := command.New(command.Options{Command: shell(os.Getenv(workerScript))})
	claim := &fermata.Claim{Task: &fermata.Task{ID: "task_1"}, Run: &fermata.Run{ID: "run_1"}}
	if _, err := r.Run(context.Background(), claim, loggingHandle{&handle{dir: dir}}); err != nil {
		os.Exit(1)
	}
}

// loggingHandle passes on what the agent prints.
type loggingHandle struct{ *handle }

func (loggingHandle) Log() io.Writer { return os.Stdout }

// A worker that is killed leaves nothing of its agent behind: the processes that the agent started would go on with
// work that another worker begins again.
func TestAgentDiesWithItsWorker(t *testing.T) {
	t.Parallel()
	const work = `sh -c 'exec 3>alive; echo ready; sleep 1000; echo'`
	for name, script := range map[string]string{
		"the agent":                   `exec 3>alive; echo ready; exec sleep 1000`,
		"its child":                   work + `; echo end`,
		"a child in the background":   work + ` & wait`,
		"a child in another session":  `setsid ` + work + ` & wait`,
		"a child without environment": `env -i PATH="$PATH" ` + work + ` & wait`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkDiesWithWorker(t, script)
		})
	}
}

// checkDiesWithWorker runs the script as the agent of a worker, and kills the worker when the script has opened the pipe
// alive and printed that it is ready. The pipe ends when no process is left that has it open.
func checkDiesWithWorker(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "alive")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	dying := exec.Command(os.Args[0])
	dying.Env = append(os.Environ(), workerDir+"="+dir, workerScript+"="+script, "TMPDIR="+t.TempDir())
	printed, err := dying.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := dying.Start(); err != nil {
		t.Fatal(err)
	}
	alive, err := os.Open(pipe)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = alive.Close() }()
	if _, err := io.ReadFull(printed, make([]byte, len("ready\n"))); err != nil {
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
