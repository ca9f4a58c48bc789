package mcpserver

import (
	"context"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

// clientDesk is a Desk that uses a server over HTTP.
type clientDesk struct {
	*client.Client
	// token reports whether the client sends a token. Without a token, a
	// single-user server takes its local user for the caller. That user may not
	// be the person at this agent.
	token bool

	mu     sync.Mutex
	asked  bool
	person bool
}

// ClientDesk returns a Desk that uses a server through a client. token says
// whether the client sends a token.
func ClientDesk(c *client.Client, token bool) Desk { return &clientDesk{Client: c, token: token} }

func (d *clientDesk) AskOutside(ctx context.Context, project, session string, a fermata.Ask) (*fermata.Question, error) {
	return d.Client.AskOutside(ctx, client.Outside{Project: project, Session: session, Ask: a})
}

// mostPlanned limits how many deliveries of one question are read.
const mostPlanned = 100

func (d *clientDesk) Planned(ctx context.Context, id string, wait time.Duration) ([]*fermata.Delivery, error) {
	planned, _, err := d.Deliveries(ctx, client.DeliveryQuery{QuestionID: id, Wait: wait, Limit: mostPlanned})
	return planned, err
}

// Name returns "", because the process has one caller.
func (d *clientDesk) Name() string { return "" }

func (d *clientDesk) Person(ctx context.Context) bool {
	if !d.token {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.asked {
		who, err := d.Whoami(ctx)
		if err != nil {
			// The caller is a person only if the server says so.
			return false
		}
		c := fermata.Caller{Kind: who.Kind, Scopes: who.Scopes}
		d.person, d.asked = who.Kind == fermata.ActorHuman && c.Has(fermata.ScopeAnswer), true
	}
	return d.person
}
