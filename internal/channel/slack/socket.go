package slack

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"

	"github.com/gorilla/websocket"
	api "github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"
	"github.com/slack-go/slack/socketmode"

	"github.com/fermata-hq/fermata/internal/notice"
)

// maxConcurrentRequests is how many requests of one connection are processed at the same time.
const maxConcurrentRequests = 64

// Listen keeps a Socket Mode connection open until ctx ends. Without an
// app-level token it only waits.
func (c *Channel) Listen(ctx context.Context, hear notice.InboundHandler) error {
	if c.AppToken == "" {
		<-ctx.Done()
		return nil
	}
	client := socketmode.New(c.api, socketmode.OptionDialer(c.dialer()), socketmode.OptionReadLimit(largestBody),
		socketmode.OptionLog(slog.NewLogLogger(c.env.Log.Handler(), slog.LevelDebug)))
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- client.RunContext(ctx) }()
	var working sync.WaitGroup
	defer working.Wait()
	slots := make(chan struct{}, maxConcurrentRequests)
	for {
		select {
		case err := <-ended:
			if ctx.Err() != nil {
				return nil
			}
			return callFailure("keep a Socket Mode connection", err)
		case e := <-client.Events:
			if e.Request == nil {
				c.logEvent(ctx, &e)
				continue
			}
			slots <- struct{}{}
			working.Go(func() {
				defer func() { <-slots }()
				c.serve(ctx, client, &e, hear)
			})
		}
	}
}

// serve answers one request. If it is not acknowledged, Slack sends it again or
// tells the person.
func (c *Channel) serve(ctx context.Context, client *socketmode.Client, e *socketmode.Event, hear notice.InboundHandler) {
	r := replyAccepted
	switch data := e.Data.(type) {
	case api.InteractionCallback:
		r = c.handleInteraction(ctx, &data, hear)
	case api.SlashCommand:
		r = c.handleCommand(ctx, &data, hear)
	case slackevents.EventsAPIEvent:
		r = c.handleEvent(ctx, &data, hear)
	}
	if r.isAcknowledgement() && e.Request.EnvelopeID != "" {
		if err := client.AckCtx(ctx, e.Request.EnvelopeID, r.payload); err != nil {
			c.env.Log.WarnContext(ctx, "slack: a request could not be acknowledged", "error", err)
		}
	}
	if r.afterResponse != nil {
		r.afterResponse(ctx)
	}
}

// logEvent logs the events of the connection itself.
func (c *Channel) logEvent(ctx context.Context, e *socketmode.Event) {
	switch data := e.Data.(type) {
	case *api.ConnectionErrorEvent:
		c.env.Log.WarnContext(ctx, "slack: Socket Mode is not connected", "error", data.ErrorObj, "again_in", data.Backoff)
	case *socketmode.ConnectedEvent:
		c.env.Log.InfoContext(ctx, "slack: Socket Mode is connected")
	case *socketmode.ErrorBadMessage:
		c.env.Log.DebugContext(ctx, "slack: a message of Socket Mode is not understood", "error", data.Cause)
	case *api.InvalidAuthEvent:
		c.env.Log.WarnContext(ctx, "slack: Socket Mode refuses app_token", "error", errors.New("invalid_auth"))
	}
}

// dialer returns a dialer that connects like the server's own HTTP client, which refuses addresses that are not
// allowed.
func (c *Channel) dialer() *websocket.Dialer {
	d := &websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: callTime, WriteBufferSize: 32 << 10}
	switch t := c.http.Transport.(type) {
	case *http.Transport:
		d.Proxy, d.TLSClientConfig, d.NetDialContext = t.Proxy, t.TLSClientConfig, t.DialContext
	case interface {
		DialContext(ctx context.Context, network, address string) (net.Conn, error)
	}:
		d.Proxy, d.NetDialContext = nil, t.DialContext
	}
	return d
}
