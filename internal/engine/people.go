package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// callerCache keeps who a token belongs to for a short while, so that a busy
// agent does not cost a look-up a call. A revocation empties it.
type callerCache struct {
	mu    sync.Mutex
	known map[string]knownCaller
	// cleared counts the revocations, so that a look-up which began before one
	// is not kept after it.
	cleared int
}

type knownCaller struct {
	caller fermata.Caller
	until  time.Time
}

const (
	callerFor = 5 * time.Second
	// callersKept bounds the cache; a full one is emptied.
	callersKept = 10_000
)

func newCallerCache() *callerCache { return &callerCache{known: map[string]knownCaller{}} }

func (cc *callerCache) get(hash string, now time.Time) (fermata.Caller, bool) {
	cc.mu.Lock()
	defer cc.mu.Unlock()
	k, ok := cc.known[hash]
	if !ok || now.After(k.until) || k.caller.IsEnded(now) {
		return fermata.Caller{}, false
	}
	return k.caller, true
}

func (cc *callerCache) clearings() int {
	cc.mu.Lock()
	defer cc.mu.Unlock()
	return cc.cleared
}

// lastCaller returns the caller whom the cache held last, even if that is long ago. The token must not have expired.
func (cc *callerCache) lastCaller(hash string, now time.Time) (fermata.Caller, bool) {
	cc.mu.Lock()
	defer cc.mu.Unlock()
	k, ok := cc.known[hash]
	return k.caller, ok && !k.caller.IsEnded(now)
}

// put keeps a caller who was looked up when that many revocations were known.
func (cc *callerCache) put(hash string, k knownCaller, cleared int) {
	cc.mu.Lock()
	defer cc.mu.Unlock()
	if cleared != cc.cleared {
		return
	}
	if len(cc.known) >= callersKept {
		clear(cc.known)
	}
	cc.known[hash] = k
}

func (cc *callerCache) forget(hash string) {
	cc.mu.Lock()
	defer cc.mu.Unlock()
	delete(cc.known, hash)
}

func (cc *callerCache) clear() {
	cc.mu.Lock()
	defer cc.mu.Unlock()
	clear(cc.known)
	cc.cleared++
}

// touchEvery is how exactly a token's last use is kept.
const touchEvery = time.Minute

// Reauthenticate is [Engine.Authenticate] without the cache.
func (e *Engine) Reauthenticate(ctx context.Context, secret string) (fermata.Caller, error) {
	e.callers.forget(fermata.HashSecret(secret))
	return e.Authenticate(ctx, secret)
}

// Authenticate returns who a token belongs to. A damaged one is refused
// without a look-up; one that is unknown, expired or revoked as well, and the
// reply does not tell these apart.
func (e *Engine) Authenticate(ctx context.Context, secret string) (fermata.Caller, error) {
	if err := fermata.CheckSecret(secret); err != nil {
		return fermata.Caller{}, err
	}
	hash := fermata.HashSecret(secret)
	if c, ok := e.callers.get(hash, time.Now()); ok {
		return c, nil
	}
	cleared := e.callers.clearings()
	token, err := e.db.In(ctx, "").TokenByHash(hash)
	if fermata.CodeOf(err) == fermata.CodeNotFound {
		return fermata.Caller{}, badToken()
	}
	if err != nil {
		return e.knownBefore(hash, err)
	}
	now, err := e.db.Now(ctx)
	if err != nil {
		return fermata.Caller{}, err
	}
	if token.IsEnded(now) {
		return fermata.Caller{}, badToken()
	}
	c, err := e.callerOf(ctx, token)
	if err != nil {
		return e.knownBefore(hash, err)
	}
	if token.LastUsedAt == nil || now.Sub(*token.LastUsedAt) > touchEvery {
		err = e.db.Write(ctx, token.WorkspaceID, func(tx *store.Tx) error {
			tx.TouchToken(token.ID, tx.Now())
			return nil
		})
	}
	if token.ExpiresAt != nil {
		c.EndsAt = *token.ExpiresAt
	}
	e.callers.put(hash, knownCaller{caller: c, until: time.Now().Add(callerFor)}, cleared)
	return c, err
}

// knownBefore returns the caller whom the cache held last, if the database is malformed. No token can have been revoked since,
// because nothing is written any more. So the metrics that tell of the trouble can still be read.
func (e *Engine) knownBefore(hash string, err error) (fermata.Caller, error) {
	if t := e.db.Trouble(); t != nil && t.Malformed {
		if c, ok := e.callers.lastCaller(hash, time.Now()); ok {
			return c, nil
		}
	}
	return fermata.Caller{}, err
}

func badToken() error {
	return fermata.Errorf(fermata.CodeUnauthenticated, "the token is unknown, expired or revoked").
		WithHint("ask an admin for a new one: fermata token create")
}

func (e *Engine) callerOf(ctx context.Context, t *fermata.Token) (fermata.Caller, error) {
	if t.Kind != fermata.ActorHuman {
		return fermata.Caller{
			WorkspaceID: t.WorkspaceID, Kind: t.Kind, TokenID: t.ID, Name: t.Name, Scopes: t.Scopes, TokenProjects: t.Projects,
			Assurance: fermata.AssuranceChannel,
		}, nil
	}
	m, err := e.db.In(ctx, t.WorkspaceID).Member(t.MemberID)
	if err != nil {
		return fermata.Caller{}, err
	}
	if m.DisabledAt != nil {
		return fermata.Caller{}, badToken()
	}
	c := m.Caller()
	c.WorkspaceID, c.TokenID, c.Scopes = t.WorkspaceID, t.ID, m.Limit(t.Scopes)
	p, err := e.policy(e.db.In(ctx, t.WorkspaceID))
	return c.Under(p), err
}

// CreateToken makes a token. The reply holds its secret, which is not stored.
// Whoever is signed in makes tokens of his own, with no more rights than he
// has; an admin makes any.
func (e *Engine) CreateToken(ctx context.Context, c fermata.Caller, n fermata.NewToken) (*fermata.Token, error) {
	if err := mayMakeToken(c, &n); err != nil {
		return nil, err
	}
	if n.Kind == "" {
		n.Kind = fermata.ActorAgent
		if n.Member != "" {
			n.Kind = fermata.ActorHuman
		}
	}
	if err := n.Check(); err != nil {
		return nil, err
	}
	secret := fermata.NewSecret()
	t, err := write(ctx, e, c, fermata.ToMakeTokens, func(tx *store.Tx) (*fermata.Token, error) {
		return e.createToken(tx, n, fermata.HashSecret(secret), c.Actor())
	})
	if err != nil {
		return nil, err
	}
	if t.Hash != "" {
		// A replay of an earlier call has no hash, and its secret is gone.
		t.Secret = secret
	}
	return t, nil
}

func mayMakeToken(c fermata.Caller, n *fermata.NewToken) error {
	if c.Has(fermata.ScopeAdmin) {
		return nil
	}
	if c.SessionID == "" || n.Kind == fermata.ActorAgent || n.Member != "" && n.Member != c.Name {
		return c.May(fermata.ToMakeTokens, fermata.InWorkspace)
	}
	n.Kind, n.Member, n.Role, n.Groups = fermata.ActorHuman, c.Name, "", nil
	for _, s := range n.Scopes {
		if err := c.Needs(s); err != nil {
			return err
		}
	}
	return nil
}

// tokenHolder returns the person of a new token. Somebody who is not there is added only with a role: a misspelt name
// makes nobody.
func (e *Engine) tokenHolder(tx *store.Tx, n fermata.NewToken, by fermata.Actor) (*fermata.Member, error) {
	m, err := tx.MemberByHandle(n.Member)
	switch {
	case fermata.CodeOf(err) == fermata.CodeNotFound && n.Role != "":
		return addMember(tx, NewMember{Handle: n.Member, Role: n.Role, Groups: n.Groups}, by)
	case fermata.CodeOf(err) == fermata.CodeNotFound:
		return nil, fermata.Errorf(fermata.CodeNotFound, "there is no member %q", n.Member).
			WithHint("to add them with this token, say as what: --role responder")
	case err != nil:
		return nil, err
	case n.Role != "" && n.Role != m.Role:
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "%s is %s and not %s", m.Handle, m.Role, n.Role).
			WithHint("leave the role out, or change it first: fermata member set %s --role %s", m.Handle, n.Role)
	case slices.ContainsFunc(n.Groups, func(g string) bool { return !slices.Contains(m.Groups, g) }):
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "%s is a member already, with other groups", m.Handle).
			WithHint("leave the groups out, or change them first: fermata member set %s --group NAME", m.Handle)
	}
	return m, nil
}

func (e *Engine) createToken(tx *store.Tx, n fermata.NewToken, hash string, by fermata.Actor) (*fermata.Token, error) {
	t := &fermata.Token{
		ID: fermata.NewID(fermata.PrefixToken, tx.Now()), WorkspaceID: tx.Workspace(), Name: n.Name, Kind: n.Kind,
		Scopes: n.Scopes, Projects: fermata.Distinct(n.Projects), CreatedAt: tx.Now(), Hash: hash,
	}
	if n.ExpiresIn != "" && n.ExpiresIn != fermata.Never {
		d, err := n.ExpiresIn.Duration()
		if err != nil {
			return nil, err
		}
		expires := tx.Now().Add(d)
		t.ExpiresAt = &expires
	}
	if n.Member != "" {
		m, err := e.tokenHolder(tx, n, by)
		if err != nil {
			return nil, err
		}
		t.MemberID, t.Member = m.ID, m.Handle
	}
	tx.InsertToken(t)
	tx.Append(&fermata.Event{
		Type: fermata.EventTokenCreated, Actor: by,
		Data: data(tokenFacts(t)),
	})
	return t, nil
}

// tokenFacts returns the data of token.created. The fingerprint identifies the secret without revealing it.
func tokenFacts(t *fermata.Token) map[string]any {
	return map[string]any{
		"token_id": t.ID, "name": t.Name, "kind": t.Kind, "scopes": t.Scopes, "projects": t.Projects, "member": t.Member,
		"expires_at": t.ExpiresAt, "fingerprint": fermata.HashSecret(t.Hash),
	}
}

// Tokens lists the workspace's tokens, without their secrets: all of them to
// an admin, to others who are signed in their own.
func (e *Engine) Tokens(ctx context.Context, c fermata.Caller) ([]*fermata.Token, error) {
	if c.SessionID == "" {
		if err := c.May(fermata.ToMakeTokens, fermata.InWorkspace); err != nil {
			return nil, err
		}
	}
	r := e.reads(ctx, c)
	tokens, err := r.Tokens()
	if err != nil {
		return nil, err
	}
	if !c.Has(fermata.ScopeAdmin) {
		tokens = slices.DeleteFunc(tokens, func(t *fermata.Token) bool { return t.MemberID != c.MemberID })
	}
	members, err := r.Members()
	if err != nil {
		return nil, err
	}
	handles := fermata.HandlesByID(members)
	for _, t := range tokens {
		t.Member = handles[t.MemberID]
	}
	return tokens, nil
}

// RevokeToken ends a token's life at once, and with it the unused links and invitations made with it, the sessions of the token's own
// member that began with such a link, and the devices added with it. Revoking again is fine.
func (e *Engine) RevokeToken(ctx context.Context, c fermata.Caller, id string) (*fermata.Token, error) {
	if c.SessionID == "" {
		if err := c.May(fermata.ToMakeTokens, fermata.InWorkspace); err != nil {
			return nil, err
		}
	}
	id, err := e.reads(ctx, c).FindID("token", "tokens", fermata.PrefixToken, id)
	if err != nil {
		return nil, err
	}
	return write(ctx, e, c, fermata.ToMakeTokens, func(tx *store.Tx) (*fermata.Token, error) {
		t, err := tx.Token(id)
		if err == nil && !c.Has(fermata.ScopeAdmin) && t.MemberID != c.MemberID {
			err = fermata.NotFound("token", id)
		}
		if err != nil || t.RevokedAt != nil {
			return t, err
		}
		now := tx.Now()
		t.RevokedAt = &now
		tx.RevokeToken(t)
		if err := dropLinks(tx, func(l *fermata.Link) bool { return l.MadeWith == t.ID }); err != nil {
			return nil, err
		}
		if err := endSessionsMadeWith(tx, c, t); err != nil {
			return nil, err
		}
		tx.Append(&fermata.Event{
			Type: fermata.EventTokenRevoked, Actor: c.Actor(), Data: data(map[string]string{"token_id": t.ID, "name": t.Name}),
		})
		return t, removeDevices(tx, c.Actor(), t.MemberID, heldBy(t.ID))
	})
}

// FirstToken makes the first admin and the token with which everything begins.
// It returns "" when there are tokens already.
func (e *Engine) FirstToken(ctx context.Context) (string, error) {
	secret := ""
	err := e.db.Write(ctx, store.DefaultWorkspace, func(tx *store.Tx) error {
		secret = ""
		tokens, err := tx.Tokens()
		if err != nil || len(tokens) > 0 {
			return err
		}
		secret = fermata.NewSecret()
		_, err = e.createToken(tx, fermata.NewToken{
			Name: "first admin", Kind: fermata.ActorHuman, Member: "admin", Role: fermata.RoleAdmin,
			Scopes: []fermata.Scope{fermata.ScopeAdmin},
		}, fermata.HashSecret(secret), fermata.System)
		return err
	})
	return secret, err
}

// Policy returns the workspace's policy, without what it says of projects that the caller does not see.
func (e *Engine) Policy(ctx context.Context, c fermata.Caller) (fermata.Policy, error) {
	if err := c.May(fermata.ToReadPolicy, fermata.Somewhere); err != nil {
		return fermata.Policy{}, err
	}
	p, err := e.reads(ctx, c).Policy()
	return p.VisibleTo(c), err
}

// SetPolicy replaces the workspace's policy.
func (e *Engine) SetPolicy(ctx context.Context, c fermata.Caller, p fermata.Policy) (fermata.Policy, error) {
	if err := c.May(fermata.ToChangePolicy, fermata.InWorkspace); err != nil {
		return p, err
	}
	if err := p.Check(); err != nil {
		return p, err
	}
	p, err := write(ctx, e, c, fermata.ToChangePolicy, func(tx *store.Tx) (fermata.Policy, error) {
		tx.SetPolicy(p)
		tx.Append(&fermata.Event{Type: fermata.EventPolicyChanged, Actor: c.Actor(), Data: data(p)})
		return p, nil
	})
	// Others in the same transaction may have kept a policy that was rolled back.
	e.policies.forget(c.WorkspaceID)
	return p, err
}
