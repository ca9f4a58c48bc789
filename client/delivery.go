package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/fermata-hq/fermata"
)

// ChannelKinds returns the kinds of channels, and the settings that each needs.
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

// AddChannel adds a channel. If the server created a secret for the channel,
// only this reply holds it.
func (c *Client) AddChannel(ctx context.Context, n fermata.NewChannel) (*fermata.Channel, error) {
	return post[*fermata.Channel](ctx, c, path("channels"), n)
}

// ChangeChannel changes the channel with the name.
func (c *Client) ChangeChannel(ctx context.Context, name string, ch fermata.ChannelChange) (*fermata.Channel, error) {
	return do[*fermata.Channel](ctx, c, call{method: http.MethodPatch, path: channelPath(name), body: ch})
}

// RemoveChannel removes the channel with the name, and returns the steps of
// routes that lost their channel.
func (c *Client) RemoveChannel(ctx context.Context, name string) (*fermata.ChannelRemoval, error) {
	return do[*fermata.ChannelRemoval](ctx, c, call{method: http.MethodDelete, path: channelPath(name)})
}

// TestChannel checks a channel, and sends a test message to the member with the
// handle to. If to is "", it sends none.
func (c *Client) TestChannel(ctx context.Context, name, to string) (fermata.ChannelTest, error) {
	body := map[string]string{}
	if to != "" {
		body["to"] = to
	}
	return post[fermata.ChannelTest](ctx, c, channelPath(name, "test"), body)
}

// channelPath returns the address of a channel. Names may have dots in them.
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

// Routes returns the routes of questions, by type.
func (c *Client) Routes(ctx context.Context) (fermata.Routes, error) {
	return get[fermata.Routes](ctx, c, path("routes"), nil)
}

// SetRoutes replaces the routes. They apply to questions that are asked from
// then on.
func (c *Client) SetRoutes(ctx context.Context, r fermata.Routes) (fermata.Routes, error) {
	return do[fermata.Routes](ctx, c, call{method: http.MethodPut, path: path("routes"), body: r})
}

// DeliveryQuery filters a list of deliveries. An empty field does not filter.
type DeliveryQuery struct {
	QuestionID, Channel string
	State               fermata.DeliveryState
	// Wait is how long the call may wait until deliveries are planned for every
	// event so far.
	Wait   time.Duration
	Cursor string
	Limit  int
}

// Deliveries returns a page of deliveries, newest first, and the cursor of the
// next page.
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

// Delivery returns the delivery with the id, together with the message.
func (c *Client) Delivery(ctx context.Context, id string) (*fermata.Delivery, error) {
	return get[*fermata.Delivery](ctx, c, path("deliveries", id), nil)
}

// Redeliver sends a message again, under the same id.
func (c *Client) Redeliver(ctx context.Context, id string) (*fermata.Delivery, error) {
	return do[*fermata.Delivery](ctx, c, call{method: http.MethodPost, path: path("deliveries", id, "redeliver")})
}

// Preferences returns how a member wants to be reached. An empty member is the
// member of the token. An admin may name another one by handle or id.
func (c *Client) Preferences(ctx context.Context, member string) (fermata.Preferences, error) {
	return get[fermata.Preferences](ctx, c, preferencesPath(member), nil)
}

// SetPreferences stores how a member wants to be reached. An empty member is
// the member of the token.
func (c *Client) SetPreferences(ctx context.Context, member string, p fermata.Preferences) (fermata.Preferences, error) {
	return do[fermata.Preferences](ctx, c, call{method: http.MethodPut, path: preferencesPath(member), body: p})
}

func preferencesPath(member string) string {
	if member == "" {
		return path("me", "notifications")
	}
	return memberPath(member, "notifications")
}

// Identities returns the accounts of members in the systems behind channels.
func (c *Client) Identities(ctx context.Context) ([]fermata.Identity, error) {
	p, err := get[page[fermata.Identity]](ctx, c, path("identities"), nil)
	return p.Items, err
}

// SetIdentity stores which account in the system behind a kind of channel
// belongs to a member.
func (c *Client) SetIdentity(ctx context.Context, member, kind, id, name string) (fermata.Identity, error) {
	body := map[string]string{"id": id}
	if name != "" {
		body["name"] = name
	}
	return do[fermata.Identity](ctx, c, call{method: http.MethodPut, path: identityPath(member, kind), body: body})
}

// RemoveIdentity removes the account of a member in the system behind a kind of
// channel.
func (c *Client) RemoveIdentity(ctx context.Context, member, kind string) error {
	return c.sendOnly(ctx, call{method: http.MethodDelete, path: identityPath(member, kind)})
}

func identityPath(member, kind string) string {
	if kind == "" {
		return ""
	}
	return memberPath(member, "identities", url.PathEscape(kind))
}
