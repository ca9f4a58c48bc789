//go:build !unix

package process

import (
	"errors"
	"os"
)

// hold does nothing: the system does not tell who holds a lock.
func hold(*os.File) error { return nil }

// holderOf knows of no holder.
func holderOf(string) (int, error) { return 0, errors.ErrUnsupported }

// sandboxHolder knows of none either.
func sandboxHolder(string, string) (int, error) { return 0, errors.ErrUnsupported }
