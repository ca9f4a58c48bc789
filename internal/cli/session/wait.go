package session

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// ConnectionLostText tells the person that the connection broke, so the screen shows nothing new.
const ConnectionLostText = "(the connection broke; connecting again)"

// RetryDelay is the pause before a call is repeated after the server was unreachable.
const RetryDelay = time.Second

// WaitFlag is a flag with an optional duration.
type WaitFlag struct {
	// IsSet reports whether the command waits. Limit ends the wait; 0 is no limit.
	IsSet bool
	Limit time.Duration
}

// IsBool makes kong accept the flag without a value.
func (*WaitFlag) IsBool() bool { return true }

// Decode reads --wait, --wait=10m and --wait=false.
func (w *WaitFlag) Decode(ctx *kong.DecodeContext) error {
	w.IsSet = true
	if ctx.Scan.Peek().Type != kong.FlagValueToken {
		return nil
	}
	switch v := ctx.Scan.Pop().Value.(type) {
	case bool:
		w.IsSet = v
	case string:
		// A number is not a yes or no here: 0 would mean a wait that ends at once.
		if on, ok := notice.ParseYesNo(v); ok && strings.Trim(v, "01") != "" {
			w.IsSet = on
			return nil
		}
		d, err := fermata.Timeout(v).Duration()
		if err != nil || d <= 0 {
			return fmt.Errorf("%q is no length of time to wait, such as 10m", v)
		}
		w.Limit = d
	}
	return nil
}

// RetryUntilUp calls read until the server is up. It expects that an unreachable server comes back.
func (s *Session) RetryUntilUp(ctx context.Context, read func() error) error {
	for announced := false; ; announced = true {
		err := read()
		if !IsUnavailable(err) || ctx.Err() != nil {
			return err
		}
		s.WaitForServer(ctx, announced, RetryDelay)
	}
}

// IsUnavailable reports whether an error means that the server is unreachable or takes no calls at present.
func IsUnavailable(err error) bool {
	code := fermata.CodeOf(err)
	return code == fermata.CodeUnavailable || code == fermata.CodeRateLimited
}

// WaitForServer pauses before the next call. It prints the reason unless announced is true.
func (s *Session) WaitForServer(ctx context.Context, announced bool, d time.Duration) {
	if !announced {
		s.Stderr().Line("the server is away; still waiting")
	}
	Sleep(ctx, d)
}

// Sleep waits for d, or until ctx ends.
func Sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
