package api

import (
	"context"
	"net/http"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/internal/store"
)

// ChannelInput names a channel in the path. It is exported because huma ignores
// embedded structs that are not.
type ChannelInput struct {
	Name string `path:"name" maxLength:"64"`
}

type channelChangeInput struct {
	ChannelInput
	Body fermata.ChannelChange
}

// testTo names the recipient of a test message.
type testTo struct {
	To string `json:"to,omitempty" maxLength:"64" doc:"handle of the member who gets a test message; empty sends none"`
}

type channelTestInput struct {
	ChannelInput
	Body *testTo
}

type channelReply = reply[*fermata.Channel]

// addDelivery registers a call of the delivery service. A server may run without
// this service.
func addDelivery[I, O any](s *Server, method, id, summary string, h func(context.Context, *delivery.Service, fermata.Caller, *I) (*O, error)) {
	op := operation(method, id, summary)
	if id == "add-channel" || id == "add-device" {
		op = withStatusCreated(op)
	}
	addOperation(s, op, func(ctx context.Context, c fermata.Caller, in *I) (*O, error) {
		if s.Delivery == nil {
			return nil, fermata.Errorf(fermata.CodeNotFound, "this server delivers nothing")
		}
		return h(ctx, s.Delivery, c, in)
	})
}

func (s *Server) registerChannels() {
	addDelivery(s, "GET /channel-kinds", "list-channel-kinds", "List the kinds of channels, and what they need",
		func(ctx context.Context, d *delivery.Service, c fermata.Caller, _ *struct{}) (*reply[page[fermata.ChannelKind]], error) {
			return listOf(d.AllKinds(ctx, c))
		})
	addDelivery(s, "GET /channels", "list-channels", "List the channels",
		func(ctx context.Context, d *delivery.Service, c fermata.Caller, _ *struct{}) (*reply[page[*fermata.Channel]], error) {
			return listOf(d.Channels(ctx, c))
		})
	addDelivery(s, "POST /channels", "add-channel", "Add a channel",
		func(ctx context.Context, d *delivery.Service, c fermata.Caller, in *bodyInput[fermata.NewChannel]) (*channelReply, error) {
			return replyOf(d.AddChannel(ctx, c, in.Body))
		})
	addDelivery(s, "GET /channels/{name}", "get-channel", "Read a channel",
		func(ctx context.Context, d *delivery.Service, c fermata.Caller, in *ChannelInput) (*channelReply, error) {
			return replyOf(d.ChannelNamed(ctx, c, in.Name))
		})
	addDelivery(s, "PATCH /channels/{name}", "change-channel", "Change a channel: its name, settings, secrets; enable, disable",
		func(ctx context.Context, d *delivery.Service, c fermata.Caller, in *channelChangeInput) (*channelReply, error) {
			return replyOf(d.ChangeChannel(ctx, c, in.Name, in.Body))
		})
	addDelivery(s, "DELETE /channels/{name}", "remove-channel", "Remove a channel; what was sent stays on record",
		func(ctx context.Context, d *delivery.Service, c fermata.Caller, in *ChannelInput) (*reply[*fermata.ChannelRemoval], error) {
			return replyOf(d.RemoveChannel(ctx, c, in.Name))
		})
	addDelivery(s, "POST /channels/{name}/test", "test-channel", "Check a channel, and send a test message",
		func(ctx context.Context, d *delivery.Service, c fermata.Caller, in *channelTestInput) (*reply[fermata.ChannelTest], error) {
			to := ""
			if in.Body != nil {
				to = in.Body.To
			}
			return replyOf(d.TestChannel(ctx, c, in.Name, to))
		})
	addDelivery(s, "GET /routes", "get-routes", "Read where questions go, by type",
		func(ctx context.Context, d *delivery.Service, c fermata.Caller, _ *struct{}) (*reply[fermata.Routes], error) {
			return replyOf(d.Routes(ctx, c))
		})
	addDelivery(s, "PUT /routes", "set-routes", "Say where questions go that are asked from now on",
		func(ctx context.Context, d *delivery.Service, c fermata.Caller, in *bodyInput[fermata.Routes]) (*reply[fermata.Routes], error) {
			return replyOf(d.SetRoutes(ctx, c, in.Body))
		})
	s.mux.HandleFunc(inboundPath+"{channel}/{rest...}", s.handleInbound)
}

// inboundPath is the path below which remote systems send requests to channels.
// It needs no token: each channel authenticates its own system.
const inboundPath = "/v1/inbound/"

// handleInbound passes a request of a remote system to its channel. The channel sees
// the path after its name.
func (s *Server) handleInbound(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("channel")
	if s.Delivery == nil {
		s.writeProblem(w, r, fermata.NotFound("channel", name))
		return
	}
	h, err := s.Delivery.Handler(store.DefaultWorkspace, name)
	if err != nil {
		s.writeProblem(w, r, err)
		return
	}
	http.StripPrefix(inboundPath+name, h).ServeHTTP(w, r)
}
