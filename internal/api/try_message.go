package api

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/delivery"
)

// testOver names the channel over which the caller wants a test message.
type testOver struct {
	Channel string `json:"channel" minLength:"1" maxLength:"64"`
}

func (s *Server) registerTestMessage() {
	addDelivery(s, "POST /me/notifications/test", "test-my-notifications", "Send the caller a test message over a channel",
		func(ctx context.Context, d *delivery.Service, c fermata.Caller, in *bodyInput[testOver]) (*reply[fermata.ChannelTest], error) {
			return replyOf(d.TestForCaller(ctx, c, in.Body.Channel))
		})
}
