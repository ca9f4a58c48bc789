package notice

import (
	"context"
	"log/slog"
	"net/http"
)

// InboundHandler processes a message that came back over a channel, and returns what
// became of it. It returns an error if the outcome is not known yet. The
// channel must not acknowledge the message then, so that the remote system, or
// the channel's next poll, delivers it again.
type InboundHandler func(ctx context.Context, in *Inbound) (Verdict, error)

// Env holds the settings and functions that the server gives to a channel.
type Env struct {
	// Name is the channel's name in the workspace.
	Name string
	// PublicURL is the address at which people and remote systems reach the
	// server. It is empty if the address is not known.
	PublicURL string
	// HTTP sends requests. It refuses private addresses unless they are
	// allowed.
	HTTP *http.Client
	// Load and Store keep a few bytes for the channel across restarts, such as
	// the position up to which a mailbox was read.
	Load  func(ctx context.Context, key string) (string, error)
	Store func(ctx context.Context, key, value string) error
	// LoadOrStore stores a value unless the key has one already, and returns the
	// stored value. If several callers are first at the same time, all of them
	// get the same value.
	LoadOrStore func(ctx context.Context, key, value string) (string, error)
	Log         *slog.Logger
}
