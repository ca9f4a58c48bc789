package mcpserver

import (
	"context"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

// clientBackend is a Backend that uses a server over HTTP.
type clientBackend struct {
	*client.Client
	// hasToken reports whether the client sends a token. Without a token, the
	// caller is the local user of a single-user server. That user may not be
	// the person at this agent.
	hasToken bool

	mu            sync.Mutex
	isPersonKnown bool
	person        bool
}

// ClientBackend returns a Backend that uses a server through a client. hasToken
// says whether the client sends a token.
func ClientBackend(c *client.Client, hasToken bool) Backend {
	return &clientBackend{Client: c, hasToken: hasToken}
}

func (d *clientBackend) AskOutside(ctx context.Context, project, session string, a fermata.Ask) (*fermata.Question, error) {
	return d.Client.AskOutside(ctx, client.OutsideQuestion{Project: project, Session: session, Ask: a})
}

// maxDeliveries limits how many deliveries of one question are read.
const maxDeliveries = 100

func (d *clientBackend) PlannedDeliveries(ctx context.Context, id string, wait time.Duration) ([]*fermata.Delivery, error) {
	planned, _, err := d.Deliveries(ctx, client.DeliveryQuery{QuestionID: id, Wait: wait, Limit: maxDeliveries})
	return planned, err
}

// Name returns "", because the process has one caller.
func (d *clientBackend) Name() string { return "" }

func (d *clientBackend) IsPerson(ctx context.Context) bool {
	if !d.hasToken {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.isPersonKnown {
		who, err := d.Whoami(ctx)
		if err != nil {
			// The caller is a person only if the server says so.
			return false
		}
		c := fermata.Caller{Kind: who.Kind, Scopes: who.Scopes}
		d.person, d.isPersonKnown = who.Kind == fermata.ActorHuman && c.HasScope(fermata.ScopeAnswer), true
	}
	return d.person
}
