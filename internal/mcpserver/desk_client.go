package mcpserver

import (
	"context"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

// clientDesk is a Desk at a server that is reached over HTTP.
type clientDesk struct {
	*client.Client
	// token reports whether the client shows one. Without one the local user
	// of a single-user server is taken for the caller, who is not known to sit
	// behind this very agent.
	token bool

	mu     sync.Mutex
	asked  bool
	person bool
}

// ClientDesk returns the desk of a server. The token says whether the client
// shows one.
func ClientDesk(c *client.Client, token bool) Desk { return &clientDesk{Client: c, token: token} }

func (d *clientDesk) AskOutside(ctx context.Context, project, session string, a fermata.Ask) (*fermata.Question, error) {
	return d.Client.AskOutside(ctx, client.Outside{Project: project, Session: session, Ask: a})
}

// mostPlanned is how many messages of one question are looked at.
const mostPlanned = 100

func (d *clientDesk) Planned(ctx context.Context, id string, wait time.Duration) ([]*fermata.Delivery, error) {
	planned, _, err := d.Deliveries(ctx, client.DeliveryQuery{QuestionID: id, Wait: wait, Limit: mostPlanned})
	return planned, err
}

// Name is empty: the process has one caller.
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
			// Nobody is taken for a person unless the server says so.
			return false
		}
		c := fermata.Caller{Kind: who.Kind, Scopes: who.Scopes}
		d.person, d.asked = who.Kind == fermata.ActorHuman && c.Has(fermata.ScopeAnswer), true
	}
	return d.person
}
