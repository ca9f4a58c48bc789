//go:build linux

package cluster

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"time"
)

// lookEvery is the time between two checks of a condition.
const lookEvery = 100 * time.Millisecond

// await waits until the condition holds or ctx ends.
func await(ctx context.Context, what string, holds func() bool) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting until %s: %w", what, context.Cause(ctx))
		case <-tick.C:
		}
	}
	return nil
}

// canDial reports whether somebody accepts connections at an address.
func canDial(ctx context.Context, address string) bool {
	conn, err := (&net.Dialer{Timeout: askWithin}).DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

// explain adds the end of a program's log to an error.
func (c *Cluster) explain(err error, p *Process) error {
	if err == nil {
		return nil
	}
	text, _ := os.ReadFile(p.logFile)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return fmt.Errorf("%w\nthe end of %s:\n%s", err, p.logFile, strings.Join(lines[max(0, len(lines)-30):], "\n"))
}
