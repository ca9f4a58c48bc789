package mcpserver

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

// clientDesk is a Desk at a server that is reached over HTTP.
type clientDesk struct{ *client.Client }

// ClientDesk returns the desk of the server and the token of the client.
func ClientDesk(c *client.Client) Desk { return clientDesk{c} }

func (d clientDesk) AskOutside(ctx context.Context, project, session string, a fermata.Ask) (*fermata.Question, error) {
	return d.Client.AskOutside(ctx, client.Outside{Project: project, Session: session, Ask: a})
}
