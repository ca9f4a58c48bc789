// Package notify sends a short text to one of the many services that a notification URL reaches. It only sends: people
// cannot answer there, and a sent message is not changed when the question closes.
package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/nicholas-fedor/shoutrrr/pkg/router"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/strictjson"
)

// Name is the kind of these channels.
const Name = "notify"

// sendTimeout is the time limit for sending one message.
const sendTimeout = 20 * time.Second

// settings are the settings of one channel.
type settings struct {
	URL          string `json:"url"`
	TellOutcome  bool   `json:"tell_outcome,omitempty"`
	AllowPrivate bool   `json:"allow_private,omitempty"`
}

// Schema is the JSON Schema of the settings.
const Schema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["url"],
  "properties": {
    "url": {"type": "string", "title": "Notification URL", "description": "Of the service, such as ntfy://ntfy.sh/TOPIC, discord://TOKEN@ID or telegram://TOKEN@telegram?chats=ID. It is a secret: everybody who has it can write there."},
    "tell_outcome": {"type": "boolean", "title": "Tell the outcome", "description": "Send a second message when the question closes: the first one cannot be changed."},
    "allow_private": {"type": "boolean", "title": "Private addresses", "description": "Also send to a service in your own network."}
  }
}`

// Secrets are the names of the settings that are never shown again.
var Secrets = []string{"url"}

// Channel sends to one service. It is safe for concurrent use.
type Channel struct {
	name string
	settings
	service service
	http    *http.Client
}

// Open creates a channel from its settings. It connects to nothing.
func Open(raw json.RawMessage, env notice.Env) (*Channel, error) {
	c := &Channel{name: env.Name, http: env.HTTP}
	if err := strictjson.UnmarshalSettings(raw, &c.settings); err != nil {
		return nil, err
	}
	u, err := url.Parse(c.URL)
	if err != nil || u.Scheme == "" {
		return nil, wrongURL("is no notification URL").WithHint("it begins with the service, as in ntfy://ntfy.sh/TOPIC; docs/reference/channels.md lists them")
	}
	if c.service, err = findService(u); err != nil {
		return nil, err
	}
	_, err = c.openService()
	return c, err
}

func wrongURL(message string) *fermata.Error {
	return fermata.Invalid(fermata.Problem{Field: "settings.url", Message: message})
}

// openService creates the library's service for the URL. It creates a new one for each message, because a service keeps
// its parameters for the next message.
func (c *Channel) openService() (types.Service, error) {
	var s types.Service
	err := recoverPanic(func() (err error) {
		s, err = (&router.ServiceRouter{}).Locate(c.URL)
		return err
	})
	if err != nil {
		return nil, wrongURL("the service does not take this URL: " + c.describeFailure(err)).
			WithHint("docs/reference/channels.md says how the URL of each service is made")
	}
	if c.AllowPrivate {
		return s, nil
	}
	return s, c.service.protect(s, c.http)
}

// Check sends a test message.
func (c *Channel) Check(ctx context.Context) error {
	return c.send(ctx, text{title: "Fermata", body: "This is a test of the channel " + c.name + ". It works."})
}

// Send sends a short text with the address of the question's page.
func (c *Channel) Send(ctx context.Context, n *notice.Notice) (notice.SentMessage, error) {
	t := textOf(n)
	if err := c.send(ctx, t); err != nil {
		return notice.SentMessage{}, err
	}
	message := notice.SentMessage{Content: t.String()}
	if c.TellOutcome && n.Question != nil {
		// A message with a Ref makes the server call Update when the question
		// ends.
		message.Ref = json.RawMessage(`true`)
	}
	return message, nil
}

// Update sends a second message with the outcome, if the settings ask for it.
// The first message stays unchanged.
func (c *Channel) Update(ctx context.Context, n *notice.Notice, sent notice.SentMessage) (notice.SentMessage, error) {
	if !c.TellOutcome || n.Outcome == nil {
		return sent, nil
	}
	t := outcomeText(n)
	if err := c.send(ctx, t); err != nil {
		return sent, err
	}
	return notice.SentMessage{Ref: sent.Ref, Content: t.String()}, nil
}

// send sends a text through the library. The library takes no context. So a
// call that takes too long continues in the background, and counts as not sent.
func (c *Channel) send(ctx context.Context, t text) error {
	s, err := c.openService()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	sent := make(chan error, 1)
	go func() {
		sent <- recoverPanic(func() error { return c.service.deliver(ctx, s, c.http, c.applyURLPriority(t)) })
	}()
	select {
	case err = <-sent:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err == nil {
		return nil
	}
	return c.sendFailure(err)
}

// applyURLPriority resets the weight of the text if the URL has a priority, so that the priority of the URL applies.
func (c *Channel) applyURLPriority(t text) text {
	if u, err := url.Parse(c.URL); err == nil && u.Query().Has("priority") {
		t.weight = weightUsual
	}
	return t
}

// recoverPanic turns a panic of the library into an error. The response of a service,
// or a bad URL, must not end the server.
func recoverPanic(call func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the library failed: %v", r)
		}
	}()
	return call()
}

// sendFailure says why a text was not sent.
func (c *Channel) sendFailure(err error) error {
	hint := "test the URL with the service's own page; it is tried again"
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		hint = "the service did not respond within " + sendTimeout.String() + "; it is tried again"
	case strings.Contains(err.Error(), "not a public address"):
		hint = "only public addresses are used: set allow_private for a service in your own network"
	}
	return fermata.Errorf(fermata.CodeUnavailable, "the service %s took nothing: %s", c.service.name, c.describeFailure(err)).WithHint("%s", hint)
}
