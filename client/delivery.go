package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/fermata-hq/fermata"
)

// ChannelKinds lists the kinds of channels, and what they need.
func (c *Client) ChannelKinds(ctx context.Context) ([]fermata.ChannelKind, error) {
	p, err := get[page[fermata.ChannelKind]](ctx, c, path("channel-kinds"), nil)
	return p.Items, err
}

// Channels lists the channels of the workspace.
func (c *Client) Channels(ctx context.Context) ([]*fermata.Channel, error) {
	p, err := get[page[*fermata.Channel]](ctx, c, path("channels"), nil)
	return p.Items, err
}

// Channel returns the channel with the name.
func (c *Client) Channel(ctx context.Context, name string) (*fermata.Channel, error) {
	return get[*fermata.Channel](ctx, c, channelPath(name), nil)
}

// AddChannel adds a channel. The reply is the only one that holds a secret
// which the server made for it.
func (c *Client) AddChannel(ctx context.Context, n fermata.NewChannel) (*fermata.Channel, error) {
	return post[*fermata.Channel](ctx, c, path("channels"), n)
}

// ChangeChannel changes the channel with the name.
func (c *Client) ChangeChannel(ctx context.Context, name string, ch fermata.ChannelChange) (*fermata.Channel, error) {
	return do[*fermata.Channel](ctx, c, call{method: http.MethodPatch, path: channelPath(name), body: ch})
}

// RemoveChannel removes the channel with the name, and tells which steps of
// routes lead nowhere then.
func (c *Client) RemoveChannel(ctx context.Context, name string) (*fermata.ChannelRemoval, error) {
	return do[*fermata.ChannelRemoval](ctx, c, call{method: http.MethodDelete, path: channelPath(name)})
}

// TestChannel checks a channel, and sends a test message to the member with
// the handle; "" sends none.
func (c *Client) TestChannel(ctx context.Context, name, to string) (fermata.ChannelTest, error) {
	body := map[string]string{}
	if to != "" {
		body["to"] = to
	}
	return post[fermata.ChannelTest](ctx, c, channelPath(name, "test"), body)
}

// channelPath is the address of a channel. Names may have dots in them.
func channelPath(name string, below ...string) string {
	if name == "" {
		return ""
	}
	at := "/v1/channels/" + url.PathEscape(name)
	for _, part := range below {
		at += "/" + part
	}
	return at
}

// Routes returns where questions go, by type.
func (c *Client) Routes(ctx context.Context) (fermata.Routes, error) {
	return get[fermata.Routes](ctx, c, path("routes"), nil)
}

// SetRoutes says where questions go that are asked from now on.
func (c *Client) SetRoutes(ctx context.Context, r fermata.Routes) (fermata.Routes, error) {
	return do[fermata.Routes](ctx, c, call{method: http.MethodPut, path: path("routes"), body: r})
}

// DeliveryQuery narrows a list of deliveries.
type DeliveryQuery struct {
	QuestionID, Channel string
	State               fermata.DeliveryState
	// Wait is for how long to wait until it is known what is sent for all that
	// has happened.
	Wait   time.Duration
	Cursor string
	Limit  int
}

// Deliveries lists what was sent, the newest first, and returns the cursor of
// the next page.
func (c *Client) Deliveries(ctx context.Context, q DeliveryQuery) ([]*fermata.Delivery, string, error) {
	query := url.Values{}
	for name, value := range map[string]string{
		"question_id": q.QuestionID, "channel": q.Channel, "state": string(q.State), "cursor": q.Cursor,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if q.Wait > 0 {
		query.Set("wait", q.Wait.String())
	}
	if q.Limit > 0 {
		query.Set("limit", strconv.Itoa(q.Limit))
	}
	p, err := get[page[*fermata.Delivery]](ctx, c, path("deliveries"), query)
	return p.Items, p.NextCursor, err
}

// Delivery returns the delivery with the id, with what was sent.
func (c *Client) Delivery(ctx context.Context, id string) (*fermata.Delivery, error) {
	return get[*fermata.Delivery](ctx, c, path("deliveries", id), nil)
}

// Redeliver sends a message once more, under the same id.
func (c *Client) Redeliver(ctx context.Context, id string) (*fermata.Delivery, error) {
	return do[*fermata.Delivery](ctx, c, call{method: http.MethodPost, path: path("deliveries", id, "redeliver")})
}

// Preferences returns how a member wants to be reached: whom the token is for,
// or for admins the member with the handle or id.
func (c *Client) Preferences(ctx context.Context, member string) (fermata.Preferences, error) {
	return get[fermata.Preferences](ctx, c, preferencesPath(member), nil)
}

// SetPreferences says how a member wants to be reached.
func (c *Client) SetPreferences(ctx context.Context, member string, p fermata.Preferences) (fermata.Preferences, error) {
	return do[fermata.Preferences](ctx, c, call{method: http.MethodPut, path: preferencesPath(member), body: p})
}

func preferencesPath(member string) string {
	if member == "" {
		return path("me", "notifications")
	}
	return memberPath(member, "notifications")
}

// Identities lists who members are in the systems behind channels.
func (c *Client) Identities(ctx context.Context) ([]fermata.Identity, error) {
	p, err := get[page[fermata.Identity]](ctx, c, path("identities"), nil)
	return p.Items, err
}

// SetIdentity says who a member is in the system behind a kind of channels.
func (c *Client) SetIdentity(ctx context.Context, member, kind, id, name string) (fermata.Identity, error) {
	body := map[string]string{"id": id}
	if name != "" {
		body["name"] = name
	}
	return do[fermata.Identity](ctx, c, call{method: http.MethodPut, path: identityPath(member, kind), body: body})
}

// RemoveIdentity forgets who a member is there.
func (c *Client) RemoveIdentity(ctx context.Context, member, kind string) error {
	return c.run(ctx, call{method: http.MethodDelete, path: identityPath(member, kind)})
}

func identityPath(member, kind string) string {
	if kind == "" {
		return ""
	}
	return memberPath(member, "identities", url.PathEscape(kind))
}
