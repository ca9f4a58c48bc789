package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// waitForTurn waits until no other gate of this user runs. It returns the function that releases the lock.
func waitForTurn(ctx context.Context, cache string, out io.Writer) (func(), error) {
	if err := os.MkdirAll(cache, 0o750); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(cache, "gate.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	again := time.NewTicker(time.Second)
	defer again.Stop()
	for said := false; ; {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = file.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock %s: %w", file.Name(), err)
		}
		if !said {
			fmt.Fprintln(out, "==> another gate runs on this machine; this one waits for its turn")
			said = true
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil, errors.Join(errors.New("interrupted while another gate ran"), file.Close())
		}
	}
}

// minDisk is the free disk space, in bytes, that a run needs on a machine without compiled files.
const minDisk = 6 << 30

// checkDisk returns an error if one of the folders has less free space than minimum, in bytes.
func checkDisk(minimum uint64, folders ...string) error {
	for _, folder := range folders {
		var room syscall.Statfs_t
		if err := syscall.Statfs(folder, &room); err != nil {
			return fmt.Errorf("room in %s: %w", folder, err)
		}
		if free := room.Bavail * uint64(room.Bsize); free < minimum {
			return fmt.Errorf("infrastructure: %s has %.1f GiB of room and the gate needs %.1f. Please remove what you do not need (`go clean -cache` and `make clean` remove what was built)",
				folder, gibibytes(free), gibibytes(minimum))
		}
	}
	return nil
}

func gibibytes(n uint64) float64 { return float64(n) / (1 << 30) }
