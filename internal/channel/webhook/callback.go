package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/strictjson"
)

// CallbackSchema is the JSON Schema of the settings of a [Callback].
const CallbackSchema = `{
  "type": "object",
  "additionalProperties": false,
  "properties": {
` + schemaOfKeys + `
  }
}`

// Callback posts how a question ended to the address that the question names.
// It is safe for concurrent use.
type Callback struct{ poster }

// OpenCallback creates a callback from its settings.
func OpenCallback(raw json.RawMessage, env notice.Env) (*Callback, error) {
	var k keys
	if err := strictjson.UnmarshalSettings(raw, &k); err != nil {
		return nil, err
	}
	p, err := newPoster(k, env)
	if err != nil {
		return nil, err
	}
	return &Callback{p}, nil
}

// PrepareCallback does for a callback what [Prepare] does for a channel.
func PrepareCallback(before, after json.RawMessage) (json.RawMessage, error) {
	var old, k keys
	if len(before) > 0 {
		if err := json.Unmarshal(before, &old); err != nil {
			return nil, err
		}
	}
	if err := strictjson.UnmarshalSettings(after, &k); err != nil {
		return nil, err
	}
	if err := k.prepare(old); err != nil {
		return nil, err
	}
	return json.Marshal(k) //nolint:gosec // the settings are stored with their secrets
}

// Check does nothing, because each question names an address of its own.
func (c *Callback) Check(context.Context) error { return nil }

// Send posts the outcome. Repeated attempts of a delivery have the same id.
func (c *Callback) Send(ctx context.Context, n *notice.Notice) (notice.SentMessage, error) {
	if n.To.Target == "" {
		return notice.SentMessage{}, fermata.Errorf(fermata.CodeInvalidRequest, "there is no address to post to").
			WithHint("a question names one: callback_url")
	}
	err := c.post(ctx, n.To.Target, n.Delivery, n.Raw)
	if f, ok := errors.AsType[*notice.SendError](err); ok && f.Ended {
		// Only this address wants no further messages, so the callback as a
		// whole does not end.
		return notice.SentMessage{}, notice.Permanent(fermata.Errorf(fermata.CodeUnavailable, "the receiver responded %d", http.StatusGone).
			WithHint("this address wants no outcome any more; others are not concerned"))
	}
	return notice.SentMessage{Content: string(n.Raw)}, err
}

// Update does nothing, because the posted message already says how the question
// ended.
func (c *Callback) Update(_ context.Context, _ *notice.Notice, sent notice.SentMessage) (notice.SentMessage, error) {
	return sent, nil
}
