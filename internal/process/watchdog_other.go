//go:build !linux

package process

import "io"

// IsWatchdog returns false: only Linux shows which processes a program started.
func IsWatchdog([]string) bool { return false }

// RunWatchdog does nothing.
func RunWatchdog([]string, io.Reader) {}

// EnableWatchdog does nothing.
func EnableWatchdog() {}

func ensureWatchdog() {}

func watchProgram(int) (end func()) { return func() {} }
