package store

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// setUserTimeout makes the kernel end a connection when the other end does not acknowledge data within deadAfter.
func setUserTimeout(_, _ string, c syscall.RawConn) error {
	var setErr error
	err := c.Control(func(fd uintptr) {
		setErr = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(deadAfter.Milliseconds()))
	})
	if err != nil || setErr == unix.ENOPROTOOPT || setErr == unix.EOPNOTSUPP {
		// A Unix socket has no such limit and needs none.
		return err
	}
	return setErr
}
