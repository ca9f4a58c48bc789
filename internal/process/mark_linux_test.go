package process_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/fermata-hq/fermata/internal/process"
	"github.com/fermata-hq/fermata/test/patience"
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
