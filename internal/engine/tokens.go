package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// callerCache caches the callers of tokens and sessions for a short time, so
// that a busy agent does not cause a database look-up for every call. A
// revocation empties it.
type callerCache struct {
	mu      sync.Mutex
	callers map[string]cachedCaller
	// generation counts the revocations. A caller that was looked up before a
	// revocation is not stored after it.
	generation int
}

type cachedCaller struct {
	caller    fermata.Caller
	expiresAt time.Time
}

const (
	callerTTL = 5 * time.Second
	// maxCachedCallers is the largest number of callers in the cache. A full cache is emptied.
	maxCachedCallers = 10_000
)

func newCallerCache() *callerCache { return &callerCache{callers: map[string]cachedCaller{}} }

func (cc *callerCache) get(hash string, now time.Time) (fermata.Caller, bool) {
	cc.mu.Lock()
	defer cc.mu.Unlock()
	k, ok := cc.callers[hash]
	if !ok || now.After(k.expiresAt) || k.caller.IsEnded(now) {
		return fermata.Caller{}, false
	}
	return k.caller, true
}

func (cc *callerCache) currentGeneration() int {
	cc.mu.Lock()
	defer cc.mu.Unlock()
	return cc.generation
}

// lastCaller returns the last caller that the cache holds for a token, even if it is old. The token must not have
// expired.
func (cc *callerCache) lastCaller(hash string, now time.Time) (fermata.Caller, bool) {
	cc.mu.Lock()
	defer cc.mu.Unlock()
	k, ok := cc.callers[hash]
	return k.caller, ok && !k.caller.IsEnded(now)
}

// put stores a caller, unless a token was revoked after the look-up began. generation is the value of
// currentGeneration before the look-up.
func (cc *callerCache) put(hash string, k cachedCaller, generation int) {
	cc.mu.Lock()
	defer cc.mu.Unlock()
	if generation != cc.generation {
		return
	}
	if len(cc.callers) >= maxCachedCallers {
		clear(cc.callers)
	}
	cc.callers[hash] = k
}

func (cc *callerCache) forget(hash string) {
	cc.mu.Lock()
	defer cc.mu.Unlock()
	delete(cc.callers, hash)
}

func (cc *callerCache) clear() {
	cc.mu.Lock()
	defer cc.mu.Unlock()
	clear(cc.callers)
	cc.generation++
}

// touchInterval is the precision of a token's last use: it is saved at most once in this time.
const touchInterval = time.Minute

// Reauthenticate is [Engine.Authenticate] without the cache.
func (e *Engine) Reauthenticate(ctx context.Context, secret string) (fermata.Caller, error) {
	e.callers.forget(fermata.HashSecret(secret))
	return e.Authenticate(ctx, secret)
}

// Authenticate returns the caller of a token. A damaged token is refused
// without a look-up. An unknown, expired or revoked token is refused with the
// same error, so that the reply does not reveal which of these it is.
func (e *Engine) Authenticate(ctx context.Context, secret string) (fermata.Caller, error) {
	if err := fermata.CheckSecret(secret); err != nil {
		return fermata.Caller{}, err
	}
	hash := fermata.HashSecret(secret)
	if c, ok := e.callers.get(hash, time.Now()); ok {
		return c, nil
	}
	generation := e.callers.currentGeneration()
	token, err := e.db.Reader(ctx, "").TokenByHash(hash)
	if fermata.CodeOf(err) == fermata.CodeNotFound {
		return fermata.Caller{}, badTokenError()
	}
	if err != nil {
		return e.fallBackToCached(hash, err)
	}
	now, err := e.db.Now(ctx)
	if err != nil {
		return fermata.Caller{}, err
	}
	if token.IsEnded(now) {
		return fermata.Caller{}, badTokenError()
	}
	c, err := e.callerOf(ctx, token)
	if err != nil {
		return e.fallBackToCached(hash, err)
	}
	if token.LastUsedAt == nil || now.Sub(*token.LastUsedAt) > touchInterval {
		err = e.db.Write(ctx, token.WorkspaceID, func(tx *store.Tx) error {
			tx.TouchToken(token.ID, tx.Now())
			return nil
		})
	}
	if token.ExpiresAt != nil {
		c.EndsAt = *token.ExpiresAt
	}
	e.callers.put(hash, cachedCaller{caller: c, expiresAt: time.Now().Add(callerTTL)}, generation)
	return c, err
}

// fallBackToCached returns the last cached caller of a token if the database is malformed. No token can have been revoked
// since then, because the database takes no writes. So the metrics that show the problem can still be read.
func (e *Engine) fallBackToCached(hash string, err error) (fermata.Caller, error) {
	if t := e.db.Trouble(); t != nil && t.Malformed {
		if c, ok := e.callers.lastCaller(hash, time.Now()); ok {
			return c, nil
		}
	}
	return fermata.Caller{}, err
}

func badTokenError() error {
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
	m, err := e.db.Reader(ctx, t.WorkspaceID).Member(t.MemberID)
	if err != nil {
		return fermata.Caller{}, err
	}
	if m.DisabledAt != nil {
		return fermata.Caller{}, badTokenError()
	}
	c := m.Caller()
	c.WorkspaceID, c.TokenID, c.Scopes = t.WorkspaceID, t.ID, m.LimitScopes(t.Scopes)
	p, err := e.policy(e.db.Reader(ctx, t.WorkspaceID))
	return c.ApplyPolicy(p), err
}

// CreateToken creates a token. The reply contains its secret, which is not
// stored. A signed-in member creates tokens for themselves, with no more rights
// than the member has. An admin creates any token.
func (e *Engine) CreateToken(ctx context.Context, c fermata.Caller, n fermata.NewToken) (*fermata.Token, error) {
	if err := authorizeNewToken(c, &n); err != nil {
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

func authorizeNewToken(c fermata.Caller, n *fermata.NewToken) error {
	if c.HasScope(fermata.ScopeAdmin) {
		return nil
	}
	if c.SessionID == "" || n.Kind == fermata.ActorAgent || n.Member != "" && n.Member != c.Name {
		return c.CheckPermission(fermata.ToMakeTokens, fermata.InWorkspace)
	}
	n.Kind, n.Member, n.Role, n.Groups = fermata.ActorHuman, c.Name, "", nil
	for _, s := range n.Scopes {
		if err := c.CheckScope(s); err != nil {
			return err
		}
	}
	return nil
}

// tokenHolder returns the member of a new token. An unknown member is added only if the request has a role, so that a
// misspelt handle adds nobody.
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
		Scopes: n.Scopes, Projects: fermata.SortUnique(n.Projects), CreatedAt: tx.Now(), Hash: hash,
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
		Data: encodeData(tokenFacts(t)),
	})
	return t, nil
}

// tokenFacts returns the data of the event token.created. The fingerprint identifies the secret without revealing it.
func tokenFacts(t *fermata.Token) map[string]any {
	return map[string]any{
		"token_id": t.ID, "name": t.Name, "kind": t.Kind, "scopes": t.Scopes, "projects": t.Projects, "member": t.Member,
		"expires_at": t.ExpiresAt, "fingerprint": fermata.HashSecret(t.Hash),
	}
}

// Tokens lists the workspace's tokens, without their secrets. An admin gets all
// tokens, another signed-in member their own.
func (e *Engine) Tokens(ctx context.Context, c fermata.Caller) ([]*fermata.Token, error) {
	if c.SessionID == "" {
		if err := c.CheckPermission(fermata.ToMakeTokens, fermata.InWorkspace); err != nil {
			return nil, err
		}
	}
	r := e.reader(ctx, c)
	tokens, err := r.Tokens()
	if err != nil {
		return nil, err
	}
	if !c.HasScope(fermata.ScopeAdmin) {
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

// RevokeToken ends a token at once. It also ends the unused links and invitations that were created with the token, the
// sessions of its member that began with such a link, and the devices added with it. A second call is no error.
func (e *Engine) RevokeToken(ctx context.Context, c fermata.Caller, id string) (*fermata.Token, error) {
	if c.SessionID == "" {
		if err := c.CheckPermission(fermata.ToMakeTokens, fermata.InWorkspace); err != nil {
			return nil, err
		}
	}
	id, err := e.reader(ctx, c).FindID("token", "tokens", fermata.PrefixToken, id)
	if err != nil {
		return nil, err
	}
	return write(ctx, e, c, fermata.ToMakeTokens, func(tx *store.Tx) (*fermata.Token, error) {
		t, err := tx.Token(id)
		if err == nil && !c.HasScope(fermata.ScopeAdmin) && t.MemberID != c.MemberID {
			err = fermata.NotFound("token", id)
		}
		if err != nil || t.RevokedAt != nil {
			return t, err
		}
		now := tx.Now()
		t.RevokedAt = &now
		tx.RevokeToken(t)
		if err := deleteLinks(tx, func(l *fermata.Link) bool { return l.CreatorTokenID == t.ID }); err != nil {
			return nil, err
		}
		if err := endSessionsMadeWith(tx, c, t); err != nil {
			return nil, err
		}
		tx.Append(&fermata.Event{
			Type: fermata.EventTokenRevoked, Actor: c.Actor(), Data: encodeData(map[string]string{"token_id": t.ID, "name": t.Name}),
		})
		return t, removeDevices(tx, c.Actor(), t.MemberID, heldBy(t.ID))
	})
}

// CreateFirstToken creates the first admin and a token for them, and returns the
// secret. It returns "" if there are tokens already.
func (e *Engine) CreateFirstToken(ctx context.Context) (string, error) {
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
		}, fermata.HashSecret(secret), fermata.SystemActor)
		return err
	})
	return secret, err
}
