//go:build !linux

package store

import "syscall"

// setUserTimeout does nothing on this system: keepalives detect a connection whose other end is gone.
func setUserTimeout(_, _ string, _ syscall.RawConn) error { return nil }
