//go:build !linux

package agent

import (
	"errors"
	"syscall"
)

func isolatedAttributes() (*syscall.SysProcAttr, error) {
	return nil, errors.New("only Linux has network namespaces")
}

func raiseLoopback() error { return nil }
