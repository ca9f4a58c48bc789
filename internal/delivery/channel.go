package delivery

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/fermata-hq/fermata/internal/notice"
)

// Channel carries messages to people or machines. One value serves one
// configured channel, and many goroutines use it. A failed Send or Update
// returns a [notice.SendError] that says whether and when to try again. After
// any other error, the call is repeated later.
type Channel interface {
	// Check asks the remote system whether the settings work. The error says
	// what is wrong, with the remedy as a hint.
	Check(ctx context.Context) error
	// Send sends a message. It may be called again for the same delivery if it
	// is unknown whether the first message arrived.
	Send(ctx context.Context, n *notice.Notice) (notice.SentMessage, error)
	// Update changes a sent message to the current contents of the notice. A
	// channel whose messages cannot be changed sends another message that
	// people expect there, or nothing.
	Update(ctx context.Context, n *notice.Notice, sent notice.SentMessage) (notice.SentMessage, error)
}

// Receiver is a channel to which the remote system sends HTTP requests, below
// /v1/inbound/{name of the channel}/. Before the handler calls hear, it checks
// the signature and the age of a request, and detects repetitions. It replies
// within the time limit of the remote system.
type Receiver interface {
	Handler(hear notice.InboundHandler) http.Handler
}

// Listener is a channel that fetches incoming messages: it keeps a connection
// or polls, until ctx ends. Only one process at a time listens.
type Listener interface {
	Listen(ctx context.Context, hear notice.InboundHandler) error
}

// Voucher is a channel that reports whether its remote system vouches for the
// identity of the people there. If it does not, an answer has the assurance of
// a link.
type Voucher interface {
	Vouches() bool
}

// KeyProvider is a channel with a public key that pages give to browsers.
type KeyProvider interface {
	PublicKey(ctx context.Context) (string, error)
}

// DeviceChecker is a channel that decides to which devices it sends.
type DeviceChecker interface {
	CheckDevice(subscription json.RawMessage) error
}

// Audience says which recipients the messages of a channel have.
type Audience int

// Audiences.
const (
	// ToPlace is one message to the channel's own place.
	ToPlace Audience = iota
	// ToPeople is one message to each person who can be reached over the
	// channel.
	ToPeople
	// ToPeopleOrPlace is a message to each person. If no person can be reached,
	// it is one message to the channel's own place.
	ToPeopleOrPlace
	// ToAsker is one message with the outcome of a question, to the address
	// that the question names. No person receives questions over such a
	// channel.
	ToAsker
)

// Kind describes one kind of channel, and opens the channels of this kind.
type Kind struct {
	Name     string
	Audience Audience
	// BuiltIn reports whether there is one channel of the kind, named after it,
	// which comes with the server. FixedSettings are its settings if the
	// server was started with them; if they are nil, the settings can be changed.
	BuiltIn       bool
	FixedSettings json.RawMessage
	// Prepare completes settings before they are stored; nil stores them as
	// they are. The values that it adds are shown once, even secrets.
	Prepare func(before, after json.RawMessage) (json.RawMessage, error)
	// Settings is the JSON Schema of the settings. Secrets are the names of the
	// secret settings. Once stored, their values are never shown.
	Settings json.RawMessage
	Secrets  []string
	// Public reports whether people who may not read the project can see the
	// messages. Then a message contains no context unless the question shares
	// it.
	Public bool
	// Open creates a channel from settings that match the schema and include
	// the secrets. It opens no connection.
	Open func(settings json.RawMessage, env notice.Env) (Channel, error)
}
