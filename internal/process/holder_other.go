//go:build !unix

package process

import (
	"errors"
	"os"
)

// takeLock does nothing: the system does not report which process holds a lock.
func takeLock(*os.File) error { return nil }

// holderOf always fails.
func holderOf(string) (int, error) { return 0, errors.ErrUnsupported }

// sandboxHolder always fails.
func sandboxHolder(string, string) (int, error) { return 0, errors.ErrUnsupported }
