package delivery

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/fermata-hq/fermata/internal/notice"
)

// Channel carries messages to people or machines. One value serves one
// configured channel and is used by many goroutines. How a failed Send or Update
// goes on is told by a [notice.SendError]; any other error is tried again later.
type Channel interface {
	// Check asks the remote system whether the settings work, and says what is
	// wrong with the remedy as a hint.
	Check(ctx context.Context) error
	// Send sends a message. It may be called again for the same delivery when
	// it is not known whether the first one arrived.
	Send(ctx context.Context, n *notice.Notice) (notice.Receipt, error)
	// Update makes a message that was sent say what the notice says now. A
	// channel whose messages cannot be changed sends what people there expect
	// instead, or nothing.
	Update(ctx context.Context, n *notice.Notice, sent notice.Receipt) (notice.Receipt, error)
}

// Receiver is a channel to which the remote system sends HTTP requests, below
// /v1/inbound/{name of the channel}/. The handler checks signatures, freshness
// and repetition before it hears anything, and answers in time.
type Receiver interface {
	Handler(hear notice.Hear) http.Handler
}

// Listener is a channel that fetches what came back: it keeps a connection or
// looks again and again, until ctx ends. One process at a time listens.
type Listener interface {
	Listen(ctx context.Context, hear notice.Hear) error
}

// Voucher is a channel that says whether its remote system vouches for who answers
// there. Where it does not, an answer is as strong as a link.
type Voucher interface {
	Vouches() bool
}

// Keyed is a channel with a key that pages give to browsers.
type Keyed interface {
	PublicKey(ctx context.Context) (string, error)
}

// DeviceTaker is a channel that says which devices it sends to.
type DeviceTaker interface {
	MayAdd(subscription json.RawMessage) error
}

// Audience says to whom the messages of a channel go.
type Audience int

// Audiences.
const (
	// ToPlace is one message to a place of the channel's own.
	ToPlace Audience = iota
	// ToPeople is one message to each person who can be reached there.
	ToPeople
	// ToPeopleOrPlace is a message to each person, and one to the place where
	// nobody can be reached.
	ToPeopleOrPlace
	// ToAsker is one message to the address that the question itself names for
	// its outcome. Nobody hears of a question there.
	ToAsker
)

// Kind makes the channels of one kind.
type Kind struct {
	Name string
	To   Audience
	// BuiltIn says that there is one channel of the kind, named after it, which
	// comes with the server. Fixed are its settings where the server was given
	// them; nil lets them be changed.
	BuiltIn bool
	Fixed   json.RawMessage
	// Prepare completes settings before they are stored; nil takes them as they
	// are. What it adds is shown once, secrets too.
	Prepare func(before, after json.RawMessage) (json.RawMessage, error)
	// Settings is the JSON Schema of the settings, Secrets names those of them
	// that are never shown again.
	Settings json.RawMessage
	Secrets  []string
	// Public says that people who may not read the project can see what is
	// sent: context is withheld there unless the question shares it.
	Public bool
	// Open makes a channel of settings that fit the schema; secrets are among
	// them. It connects to nothing.
	Open func(settings json.RawMessage, env notice.Env) (Channel, error)
}
