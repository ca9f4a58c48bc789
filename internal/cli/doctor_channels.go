package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

// checkChannels reports channels that fail, and messages that are dead letters.
// If the caller may not administer channels, it reports nothing.
func checkChannels(ctx context.Context, s *session, server *client.Client) []finding {
	all, err := server.Channels(ctx)
	switch fermata.CodeOf(err) {
	case fermata.CodeForbidden, fermata.CodeNotFound:
		return nil
	case "":
	default:
		return []finding{s.failure("channels", err)}
	}
	var found []finding
	enabled := 0
	for _, c := range all {
		if !c.Enabled {
			continue
		}
		enabled++
		if c.LastError != "" {
			found = append(found, finding{
				Check: "channels", Status: "warn", Detail: fmt.Sprintf("%s: %s; fermata channel test %s", c.Name, c.LastError, c.Name),
			})
		}
	}
	dead, _, err := server.Deliveries(ctx, client.DeliveryQuery{State: fermata.DeliveryDead, Limit: 50})
	if err != nil {
		return append(found, s.failure("channels", err))
	}
	if len(dead) > 0 {
		found = append(found, finding{
			Check: "channels", Status: "warn",
			Detail: strings.TrimSpace(fmt.Sprintf("%d messages were given up; fermata deliveries --state dead lists them", len(dead))),
		})
	}
	if len(found) == 0 {
		noun := "channels"
		if enabled == 1 {
			noun = "channel"
		}
		found = append(found, finding{Check: "channels", Status: "ok", Detail: fmt.Sprintf("%d %s, none fails", enabled, noun)})
	}
	return found
}
