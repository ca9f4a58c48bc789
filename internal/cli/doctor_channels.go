package cli

import (
	"context"
	"fmt"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

// checkChannels reports channels that fail, and messages that are dead letters.
// If the caller may not administer channels, it reports nothing.
func checkChannels(ctx context.Context, s *session.Session, server *client.Client) []finding {
	all, err := server.Channels(ctx)
	switch fermata.CodeOf(err) {
	case fermata.CodeForbidden, fermata.CodeNotFound:
		return nil
	case "":
	default:
		return []finding{failure(s, "channels", err)}
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
		return append(found, failure(s, "channels", err))
	}
	if len(dead) > 0 {
		verb := "were"
		if len(dead) == 1 {
			verb = "was"
		}
		found = append(found, finding{
			Check: "channels", Status: "warn",
			Detail: fmt.Sprintf("%s %s given up: fermata deliveries --state dead", terminal.CountText(len(dead), "message"), verb),
		})
	}
	if len(found) == 0 {
		found = append(found, finding{Check: "channels", Status: "ok", Detail: terminal.CountText(enabled, "channel") + ", none fails"})
	}
	return found
}
