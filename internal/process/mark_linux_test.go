package process_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fermata-hq/fermata/internal/process"
	"github.com/fermata-hq/fermata/test/patience"
	driven "github.com/fermata-hq/fermata/test/process"
	"github.com/fermata-hq/fermata/test/script"
)

// A process that a program starts in a session of its own ends with the program, whether the program ends by itself or
// is stopped. A process of another program goes on.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	other, endOther := context.WithCancel(t.Context())
	defer endOther()
	stays, ended := runWithChild(other, t, ownSession, "wait")
	for _, how := range []string{ownSession, noEnvironment} {
		for _, then := range []string{"exit", "wait"} {
			ctx, stop := context.WithCancel(t.Context())
			gone, _ := runWithChild(ctx, t, how, then)
			if then == "wait" {
				stop()
			}
			if _, err := io.Copy(io.Discard, gone); err != nil {
				t.Error(err)
			}
			stop()
		}
	}
	if err := stays.SetReadDeadline(time.Now()); err != nil {
		t.Fatal(err)
	}
	if n, err := stays.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the other program's child is gone: read %d, %v", n, err)
	}
	endOther()
	patience.Receive(t, "the other program ends", ended)
}

// A program leads a session of its own, without a terminal. So it writes nothing to a person's terminal, and reads
// nothing there.
func TestAProgramHasNoTerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	script := `echo $$; cut -d " " -f 6 /proc/$$/stat; if (exec 3<>/dev/tty) 2>&-; then echo a terminal; fi`
	if _, err := (process.Program{Argv: []string{"sh", "-c", script}, Env: os.Environ(), Stdout: &out, Stderr: &out}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if said := strings.Fields(out.String()); len(said) != 2 || said[0] != said[1] {
		t.Errorf("its number and its session are %q", said)
	}
}

// ownSession starts a program in a session of its own. noEnvironment starts it in another process group, without the
// mark.
const (
	ownSession    = "setsid"
	noEnvironment = "env -i"
)

// runWithChild runs a program that starts another one with the command how. The other one holds the pipe, whose read
// end is returned.
func runWithChild(ctx context.Context, t *testing.T, how, then string) (pipe *os.File, ended <-chan struct{}) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "alive")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var errs bytes.Buffer
	go func() {
		defer close(done)
		script := `set -m; ` + how + ` sh -c 'exec 3>"$1"; echo >&3; touch "$1.ready"; exec sleep 1000' sh "$1" &
			until [ -e "$1.ready" ]; do sleep 0.01; done; "$2"`
		_, err := process.Program{
			Argv: []string{"bash", "-c", script, "bash", name, then}, Env: os.Environ(), Stdout: io.Discard, Stderr: &errs,
		}.Run(ctx)
		if err != nil {
			t.Error(err)
		}
	}()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	if _, err := file.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	return file, done
}

// A process that keeps executing other programs is never taken for a process without the mark.
func TestAMarkIsNeverLost(t *testing.T) {
	t.Parallel()
	again := filepath.Join(t.TempDir(), "again")
	script.Write(t, again, `exec "$0"`)
	// Programs of this process have other marks, so tests that end them do not touch this one. The mark is the last
	// variable, as it is in a run.
	cmd := exec.Command(again)
	cmd.Env = []string{"LONG=" + strings.Repeat("x", 20_000), process.MarkEnv + "=of-a-test"}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := strconv.Itoa(cmd.Process.Pid)
	for range 5_000 {
		if marked, unknown := process.IsMarked(pid, "of-a-test"); !marked && !unknown {
			t.Error("a process with the mark seems to have none")
			break
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// A killed process is not taken for gone before it has ended, although its environment disappears sooner.
func TestAProcessThatEndsIsNotGone(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sh", "-c", `exec 3>"$1"; rm "$1"; head -c 64000000 /dev/zero >&3; echo; exec cat`, "sh", filepath.Join(t.TempDir(), "large"))
	cmd.Env = append(os.Environ(), process.MarkEnv+"=of-another-test")
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := output.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	// The kernel frees the file after the memory of the process, and that takes a while.
	pid := strconv.Itoa(cmd.Process.Pid)
	for running := true; running; {
		marked, unknown := process.IsMarked(pid, "of-another-test")
		if running = driven.IsRunning(cmd.Process.Pid); running && !marked && !unknown {
			t.Error("a process that has not ended seems to be gone")
			break
		}
	}
	_ = cmd.Wait()
}

// A process without an environment has no mark, and this is not reported as unknown.
func TestAProcessWithoutAnEnvironment(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("cat")
	cmd.Env = []string{}
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := strconv.Itoa(cmd.Process.Pid)
	if marked, unknown := process.IsMarked(pid, "of-a-test"); marked || unknown {
		t.Errorf("marked %t, unknown %t", marked, unknown)
	}
	_ = input.Close()
	_ = cmd.Wait()
	if marked, unknown := process.IsMarked(pid, "of-a-test"); marked || unknown {
		t.Errorf("gone: marked %t, unknown %t", marked, unknown)
	}
}

// A process that is about to execute another program has no environment for a moment. It is ended all the same.
func TestNothingIsLeftThatStartsAnotherProgram(t *testing.T) {
	t.Parallel()
	for range 20 {
		name := filepath.Join(t.TempDir(), "alive")
		if err := syscall.Mkfifo(name, 0o600); err != nil {
			t.Fatal(err)
		}
		// The script executes itself for ever, in a session of its own.
		again := filepath.Join(t.TempDir(), "again")
		script.Write(t, again, `exec "$0"`)
		begin := `setsid sh -c 'exec 3>"$1"; echo $$ >&3; exec "$2"' sh "$1" "$2" & until [ -s "$3" ]; do sleep 0.01; done`
		seen := filepath.Join(t.TempDir(), "seen")
		ended := make(chan error, 1)
		go func() {
			_, err := process.Program{
				Argv: []string{"sh", "-c", begin, "sh", name, again, seen}, Env: os.Environ(), Stdout: io.Discard, Stderr: io.Discard,
			}.Run(t.Context())
			ended <- err
		}()
		pipe, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(pipe).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(seen, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := patience.Receive(t, "the program ends", ended); err != nil {
			t.Fatal(err)
		}
		if driven.IsRunning(pid) {
			t.Errorf("process %d goes on", pid)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		_ = pipe.Close()
	}
}
