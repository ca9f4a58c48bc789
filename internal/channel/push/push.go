package push

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"time"

	webpush "github.com/SherClockHolmes/webpush-go"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/strictjson"
)

// Kind is the name of this kind of channel.
const Kind = "push"

// Schema is the JSON Schema of the settings of a channel. Secrets are the
// names of the settings that are never shown again.
var (
	Schema = json.RawMessage(`{
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "subject": {
      "type": "string", "maxLength": 300, "title": "Contact",
      "pattern": "^$|^(mailto:)?[^@:\\s]+@[^@:\\s]+$|^https://[^/\\s]\\S*$",
      "description": "A mail address or an https address under which the push services reach you. Default: the public address of this server.",
      "examples": ["ops@example.com"]
    },
    "hosts": {
      "type": "array", "maxItems": 50, "items": {"type": "string", "minLength": 1, "maxLength": 253}, "title": "Push services",
      "description": "Only these hosts are sent to; *.example.com stands for all below it. Default: every public host that a browser names.",
      "examples": [["fcm.googleapis.com", "*.push.services.mozilla.com", "*.push.apple.com", "*.notify.windows.com"]]
    },
    "private_key": {
      "type": "string", "maxLength": 100, "title": "Private key (VAPID)",
      "description": "32 bytes in base64url, to use the same key on several servers. Default: one that this server makes and keeps. Every device must be added again when it changes."
    }
  }
}`)
	Secrets = []string{"private_key"}
)

// settings are the settings that [Schema] describes.
type settings struct {
	Subject    string   `json:"subject"`
	Hosts      []string `json:"hosts"`
	PrivateKey string   `json:"private_key"`
}

// Channel sends messages to people's devices.
type Channel struct {
	settings
	env notice.Env
}

// Open creates a channel. It connects to nothing.
func Open(raw json.RawMessage, env notice.Env) (*Channel, error) {
	c := &Channel{env: env}
	if len(raw) > 0 {
		if err := strictjson.UnmarshalSettings(raw, &c.settings); err != nil {
			return nil, err
		}
	}
	if c.PrivateKey != "" {
		if _, err := readKey(c.PrivateKey); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Check checks the keys, and checks that browsers can subscribe.
func (c *Channel) Check(ctx context.Context) error {
	if _, err := c.PublicKey(ctx); err != nil {
		return err
	}
	u, err := url.Parse(c.env.PublicURL)
	if err == nil && u.Scheme == "http" && !isLoopback(u.Hostname()) {
		return fermata.Errorf(fermata.CodeInvalidRequest, "browsers take push messages only from pages served over https, and people reach this server at %s", c.env.PublicURL).
			WithHint("serve Fermata behind TLS and name that address with --public-url")
	}
	return nil
}

// Send sends a message to the recipient's device.
func (c *Channel) Send(ctx context.Context, n *notice.Notice) (notice.SentMessage, error) {
	return c.deliver(ctx, n, compose(n, true))
}

// Update replaces the message on the device without a sound.
func (c *Channel) Update(ctx context.Context, n *notice.Notice, _ notice.SentMessage) (notice.SentMessage, error) {
	return c.deliver(ctx, n, compose(n, false))
}

func (c *Channel) deliver(ctx context.Context, n *notice.Notice, m *message) (notice.SentMessage, error) {
	device, err := ParseDevice(n.To.Device)
	if err != nil {
		return notice.SentMessage{}, &notice.SendError{Err: err, Final: true, Ended: true}
	}
	if err := c.checkHost(device); err != nil {
		return notice.SentMessage{}, err
	}
	payload := m.encode()
	err = c.post(ctx, device, n, payload, webpush.MaxRecordSize)
	if errors.Is(err, errTooLarge) {
		// A service may accept less than the 4096 bytes that the standard
		// demands.
		payload = m.reduceToTitle().encode()
		err = c.post(ctx, device, n, payload, smallRecord)
	}
	if err != nil {
		return notice.SentMessage{}, err
	}
	// The tag identifies the notification on the device. The topic identifies
	// the message that still waits for the device.
	ref, err := json.Marshal(map[string]string{"topic": topic(n), "tag": m.Tag})
	return notice.SentMessage{Ref: ref, Content: string(payload)}, err
}

func (c *Channel) post(ctx context.Context, d *Device, n *notice.Notice, payload []byte, record uint32) error {
	key, err := c.key(ctx)
	if err != nil {
		return err
	}
	response, err := webpush.SendNotificationWithContext(ctx, payload, &webpush.Subscription{
		Endpoint: d.Endpoint, Keys: webpush.Keys{P256dh: d.Keys.P256dh, Auth: d.Keys.Auth},
	}, &webpush.Options{
		HTTPClient: c.env.HTTP, RecordSize: record, Subscriber: c.subject(), Topic: topic(n), TTL: ttl(n, time.Now()), Urgency: urgency(n),
		VAPIDPublicKey: encodePublicKey(key), VAPIDPrivateKey: encodePrivateKey(key),
	})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	return checkResponse(response)
}

// subject returns the contact in the library's form: an https address, or a
// mail address without a scheme.
func (c *Channel) subject() string {
	if c.Subject != "" {
		return strings.TrimPrefix(c.Subject, "mailto:")
	}
	if strings.HasPrefix(c.env.PublicURL, "https:") {
		return c.env.PublicURL
	}
	u, err := url.Parse(c.env.PublicURL)
	if err != nil {
		return "fermata@localhost"
	}
	return "fermata@" + cmp.Or(u.Hostname(), "localhost")
}
