package notice

import (
	"context"
	"log/slog"
	"net/http"
)

// Hear takes what came back over a channel and says what became of it. It
// returns an error when that is not known yet: the channel must not
// acknowledge then, so that the remote system, or the channel's own next look,
// brings it again.
type Hear func(ctx context.Context, in *Inbound) (Verdict, error)

// Env is what the server gives to a channel.
type Env struct {
	// Name is the channel's name in the workspace.
	Name string
	// PublicURL is where people and remote systems reach the server; empty when
	// that is not known.
	PublicURL string
	// HTTP sends requests out. It refuses private addresses unless they are
	// allowed.
	HTTP *http.Client
	// Load and Store keep a few bytes of the channel's own between runs, such
	// as how far a mailbox was read.
	Load  func(ctx context.Context, key string) (string, error)
	Store func(ctx context.Context, key, value string) error
	// Keep stores a value unless there is one, and returns the one that is kept:
	// of several that are first at the same time, all go on with the same.
	Keep func(ctx context.Context, key, value string) (string, error)
	Log  *slog.Logger
}
