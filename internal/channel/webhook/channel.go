// Package webhook sends events and messages to other programs in the format of Standard Webhooks
// (standardwebhooks.com). It sends one signed POST for each delivery, and repeats it with the same id until the
// receiver accepts it.
package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/outbound"
)

// Name is the kind of these channels.
const Name = "webhook"

const (
	// responseTimeout is the time limit for a receiver's response.
	responseTimeout = 15 * time.Second
	// maxResponseBytes is how many bytes of a response are read. They are discarded.
	maxResponseBytes = 64 << 10
)

// Channel sends to one address. It is safe for concurrent use.
type Channel struct {
	poster
	name string
	url  string
}

// poster signs and posts messages.
type poster struct {
	signer signer
	http   *http.Client
	now    func() time.Time
}

func newPoster(k keys, env notice.Env) (poster, error) {
	sign, err := newSigner(k)
	p := poster{signer: sign, http: env.HTTP, now: time.Now}
	if k.AllowPrivate {
		p.http = outbound.Client(outbound.Options{AllowPrivate: true})
	}
	return p, err
}

// Open creates a channel from its settings. It connects to nothing.
func Open(raw json.RawMessage, env notice.Env) (*Channel, error) {
	s, err := parseSettings(raw)
	if err != nil {
		return nil, err
	}
	p, err := newPoster(s.keys, env)
	if err != nil {
		return nil, err
	}
	return &Channel{poster: p, name: env.Name, url: s.URL}, nil
}

// Check sends a test event.
func (c *Channel) Check(ctx context.Context) error {
	body, err := json.Marshal(payload{Type: "webhook.test", Timestamp: c.now().UTC(), Data: map[string]string{"channel": c.name}})
	if err != nil {
		return err
	}
	return c.post(ctx, c.url, fermata.NewID("test", c.now()), body)
}

// Send posts the content of the notice. Repeated attempts of a delivery have the same id.
func (c *Channel) Send(ctx context.Context, n *notice.Notice) (notice.SentMessage, error) {
	message, err := c.deliver(ctx, n.Delivery, n)
	if err == nil && n.Question != nil && n.Purpose != notice.Event {
		// A message with a Ref makes the server call Update when the question ends.
		message.Ref, err = json.Marshal(n.Delivery)
	}
	return message, err
}

// Update posts how a question ended to an address that a route informed about the question. The message has an id of
// its own, so that receivers do not take it for a repetition. An event is a fact and never changes, so nothing is
// posted for it.
func (c *Channel) Update(ctx context.Context, n *notice.Notice, sent notice.SentMessage) (notice.SentMessage, error) {
	if n.Purpose == notice.Event || n.Outcome == nil {
		return sent, nil
	}
	message, err := c.deliver(ctx, n.Delivery+"."+string(n.Outcome.Status), n)
	message.Ref = sent.Ref
	return message, err
}

func (c *Channel) deliver(ctx context.Context, id string, n *notice.Notice) (notice.SentMessage, error) {
	body, err := encode(n)
	if err != nil {
		return notice.SentMessage{}, err
	}
	if err := c.post(ctx, c.url, id, body); err != nil {
		return notice.SentMessage{}, err
	}
	return notice.SentMessage{Content: string(body)}, nil
}

// post makes one attempt to send a message.
func (c *poster) post(ctx context.Context, url, id string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, responseTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	at := c.now()
	signature, err := c.signer.sign(id, at, body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "Fermata")
	req.Header.Set(standardwebhooks.HeaderWebhookID, id)
	req.Header.Set(standardwebhooks.HeaderWebhookTimestamp, formatUnix(at))
	req.Header.Set(standardwebhooks.HeaderWebhookSignature, signature)
	res, err := c.http.Do(req)
	if err != nil {
		return unreachedError(err)
	}
	defer func() { _ = res.Body.Close() }()
	// Only the status matters, so a body that is cut off or too long changes nothing.
	_, _ = io.CopyN(io.Discard, res.Body, maxResponseBytes)
	return checkResponse(res, at)
}
