package process_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
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

// What a program starts in a session of its own ends with it, whether it ends by itself
// or is stopped; what another program started goes on.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	other, endOther := context.WithCancel(t.Context())
	defer endOther()
	stays, ended := leaves(other, t, "wait")
	for _, then := range []string{"exit", "wait"} {
		ctx, stop := context.WithCancel(t.Context())
		gone, _ := leaves(ctx, t, then)
		if then == "wait" {
			stop()
		}
		if _, err := io.Copy(io.Discard, gone); err != nil {
			t.Error(err)
		}
		stop()
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

// leaves runs a program that starts another one in a session of its own. That one holds the
// pipe, whose other end is returned.
func leaves(ctx context.Context, t *testing.T, then string) (pipe *os.File, ended <-chan struct{}) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "alive")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var errs bytes.Buffer
	go func() {
		defer close(done)
		script := `setsid sh -c 'exec 3>"$1"; echo >&3; touch "$1.ready"; exec sleep 1000' sh "$1" &
			until [ -e "$1.ready" ]; do sleep 0.01; done; "$2"`
		_, err := process.Program{
			Argv: []string{"sh", "-c", script, "sh", name, then}, Env: os.Environ(), Stdout: io.Discard, Stderr: &errs,
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

// A process that is about to run another program has no environment for a moment. It ends all the same.
func TestNothingIsLeftThatStartsAnotherProgram(t *testing.T) {
	t.Parallel()
	for range 20 {
		name := filepath.Join(t.TempDir(), "alive")
		if err := syscall.Mkfifo(name, 0o600); err != nil {
			t.Fatal(err)
		}
		// It runs the same program anew for ever, in a session of its own.
		again := filepath.Join(t.TempDir(), "again")
		script.Write(t, again, "#!/bin/sh\nexec \"$0\"\n")
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
