package engine

import (
	"context"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// maxSessions is the largest number of sessions of one member. The session
// that was unused for longest ends first.
const maxSessions = 50

// Browser is the browser from which a person signs in.
type Browser struct {
	UserAgent string
	// Secret is the secret of the session that the browser had before. That session ends.
	Secret string
}

// IssuedSession is a new session and its secret, which is not stored.
type IssuedSession struct {
	Caller  fermata.Caller
	Session *fermata.BrowserSession
	Secret  string
}

func badSessionError() error {
	return fermata.Errorf(fermata.CodeUnauthenticated, "you are not signed in any more").WithHint("sign in again")
}

// sessionKey returns the key of a session in the cache of callers.
func sessionKey(hash string) string { return "session:" + hash }

// ReauthenticateSession is [Engine.AuthenticateSession] without the cache.
func (e *Engine) ReauthenticateSession(ctx context.Context, secret string) (fermata.Caller, error) {
	e.callers.forget(sessionKey(fermata.HashSecret(secret)))
	return e.AuthenticateSession(ctx, secret)
}

// AuthenticateSession returns the member who is signed in with the session of
// the secret. It refuses a session that is unknown, unused for too long,
// expired, or of a disabled member. The error is always the same, so that the
// reply does not reveal which of these it is.
func (e *Engine) AuthenticateSession(ctx context.Context, secret string) (fermata.Caller, error) {
	if !fermata.IsWholeSecret(fermata.SessionPrefix, secret) {
		return fermata.Caller{}, badSessionError()
	}
	hash := fermata.HashSecret(secret)
	if c, ok := e.callers.get(sessionKey(hash), time.Now()); ok {
		return c, nil
	}
	generation := e.callers.currentGeneration()
	s, err := e.db.Reader(ctx, "").SessionByHash(hash)
	if fermata.CodeOf(err) == fermata.CodeNotFound {
		return fermata.Caller{}, badSessionError()
	}
	if err != nil {
		return fermata.Caller{}, err
	}
	now, err := e.db.Now(ctx)
	if err != nil {
		return fermata.Caller{}, err
	}
	m, err := e.db.Reader(ctx, s.WorkspaceID).Member(s.MemberID)
	if err != nil {
		return fermata.Caller{}, err
	}
	if s.IsEnded(now) || m.DisabledAt != nil {
		return fermata.Caller{}, badSessionError()
	}
	p, err := e.policy(e.db.Reader(ctx, s.WorkspaceID))
	if err != nil {
		return fermata.Caller{}, err
	}
	if now.Sub(s.LastSeenAt) > touchInterval {
		err = e.db.Write(ctx, s.WorkspaceID, func(tx *store.Tx) error {
			tx.TouchSession(s.ID, tx.Now())
			return nil
		})
	}
	c := sessionCaller(s, m, now).ApplyPolicy(p)
	c.EndsAt = s.IdleDeadline()
	e.callers.put(sessionKey(hash), cachedCaller{caller: c, expiresAt: time.Now().Add(callerTTL)}, generation)
	return c, err
}

func sessionCaller(s *fermata.BrowserSession, m *fermata.Member, now time.Time) fermata.Caller {
	c := m.Caller()
	c.WorkspaceID, c.SessionID, c.Assurance = s.WorkspaceID, s.ID, s.CurrentAssurance(now)
	return c
}

// signIn is the way in which a member signs in. The link is nil if no link was used.
type signIn struct {
	method    fermata.SignInMethod
	assurance fermata.Assurance
	link      *fermata.Link
}

// linkToken returns the member's own token with which the link was created. It returns nil if there is none, as for a
// link that an admin created for another member.
func (by signIn) linkToken(tx *store.Tx, m *fermata.Member) (*fermata.Token, error) {
	if by.link == nil || by.link.CreatorTokenID == "" {
		return nil, nil
	}
	t, err := tx.Token(by.link.CreatorTokenID)
	if err != nil || t.MemberID != m.ID {
		return nil, err
	}
	return t, nil
}

// sessionFacts returns the data of member.signed_in. The fingerprint identifies the secret without revealing it.
func sessionFacts(s *fermata.BrowserSession) map[string]any {
	return map[string]any{
		"session_id": s.ID, "method": s.Method, "assurance": s.Assurance, "created_at": s.CreatedAt.UnixMilli(),
		"expires_at": s.ExpiresAt.UnixMilli(), "fingerprint": fermata.HashSecret(s.Hash), "token_id": s.CreatorTokenID,
	}
}

// startSession signs a member in. The secret is always a new one, never one
// that the browser chose. The session that the browser had before ends.
func startSession(tx *store.Tx, m *fermata.Member, by signIn, from Browser, secret string) (*IssuedSession, error) {
	if m.DisabledAt != nil {
		return nil, fermata.Errorf(fermata.CodeUnauthenticated, "the member may not sign in").WithHint("ask an admin")
	}
	id := fermata.NewID(fermata.PrefixSession, tx.Now())
	if err := endOldSessions(tx, m, from, id); err != nil {
		return nil, err
	}
	s := &fermata.BrowserSession{
		ID: id, WorkspaceID: tx.Workspace(), MemberID: m.ID, Method: by.method, Assurance: by.assurance,
		UserAgent: cutText(from.UserAgent, 300), CreatedAt: tx.Now(), LastSeenAt: tx.Now(), ExpiresAt: tx.Now().Add(fermata.SessionLifetime),
		Hash: fermata.HashSecret(secret), Current: true,
	}
	token, err := by.linkToken(tx, m)
	if err != nil {
		return nil, err
	}
	if token != nil {
		s.CreatorTokenID = token.ID
		if token.ExpiresAt != nil && token.ExpiresAt.Before(s.ExpiresAt) {
			s.ExpiresAt = *token.ExpiresAt
		}
	}
	tx.InsertSession(s)
	facts := sessionFacts(s)
	if by.link != nil {
		facts["link_id"] = by.link.ID
	}
	tx.Append(&fermata.Event{Type: fermata.EventMemberSignedIn, Actor: m.Actor(), Data: encodeData(facts)})
	return &IssuedSession{Caller: sessionCaller(s, m, tx.Now()), Session: s, Secret: secret}, nil
}

// endOldSessions ends the session that the browser had, and the sessions above
// maxSessions. Push messages to the browser continue in the session with the
// id newID if it is the same member, and end otherwise.
func endOldSessions(tx *store.Tx, m *fermata.Member, from Browser, newID string) error {
	if fermata.IsWholeSecret(fermata.SessionPrefix, from.Secret) {
		old, err := tx.SessionByHash(fermata.HashSecret(from.Secret))
		switch {
		case err == nil && old.WorkspaceID == tx.Workspace():
			tx.MoveDevices(m.ID, old.ID, newID)
			if err := endSession(tx, m.Actor(), old); err != nil {
				return err
			}
		case err != nil && fermata.CodeOf(err) != fermata.CodeNotFound:
			return err
		}
	}
	sessions, err := tx.SessionsOf(m.ID)
	if err != nil {
		return err
	}
	for i := maxSessions - 1; i < len(sessions); i++ {
		if err := endSession(tx, m.Actor(), sessions[i]); err != nil {
			return err
		}
	}
	return nil
}

// endSession ends a session and the push messages to its browser.
func endSession(tx *store.Tx, by fermata.Actor, s *fermata.BrowserSession) error {
	tx.DeleteSession(s.ID)
	return removeDevices(tx, by, s.MemberID, heldBy(s.ID))
}

func cutText(s string, maxRunes int) string {
	out := make([]rune, 0, min(len(s), maxRunes))
	for _, r := range s {
		if len(out) == maxRunes {
			break
		}
		if r >= ' ' {
			out = append(out, r)
		}
	}
	return string(out)
}

// endSessionsMadeWith ends the sessions of a token's member that began with a link created with the token.
func endSessionsMadeWith(tx *store.Tx, c fermata.Caller, t *fermata.Token) error {
	if t.MemberID == "" {
		return nil
	}
	sessions, err := tx.SessionsOf(t.MemberID)
	for _, s := range sessions {
		if s.CreatorTokenID != t.ID {
			continue
		}
		tx.Append(signedOutEvent(c, s))
		if err := endSession(tx, c.Actor(), s); err != nil {
			return err
		}
	}
	return err
}

// Session returns the session in which the caller is signed in.
func (e *Engine) Session(ctx context.Context, c fermata.Caller) (*fermata.BrowserSession, error) {
	if c.SessionID == "" {
		return nil, fermata.NotFound("session", "")
	}
	s, err := e.reader(ctx, c).Session(c.SessionID)
	if err == nil {
		s.Current = true
	}
	return s, err
}

// Self returns the member of the caller.
func (e *Engine) Self(ctx context.Context, c fermata.Caller) (*fermata.Member, error) {
	return e.reader(ctx, c).Member(c.MemberID)
}

// Sessions lists the open sessions of the caller.
func (e *Engine) Sessions(ctx context.Context, c fermata.Caller) ([]*fermata.BrowserSession, error) {
	if err := c.CheckPermission(fermata.ToReadOwn, c.OwnResource()); err != nil {
		return nil, err
	}
	return e.openSessions(ctx, c, c.MemberID)
}

// openSessions lists the sessions of a member that have not ended.
func (e *Engine) openSessions(ctx context.Context, c fermata.Caller, memberID string) ([]*fermata.BrowserSession, error) {
	now, err := e.Now(ctx)
	if err != nil {
		return nil, err
	}
	all, err := e.reader(ctx, c).SessionsOf(memberID)
	var open []*fermata.BrowserSession
	for _, s := range all {
		if !s.IsEnded(now) {
			s.Current = s.ID == c.SessionID
			open = append(open, s)
		}
	}
	return open, err
}

// EndSession ends a session. Members end their own ones, an admin any.
func (e *Engine) EndSession(ctx context.Context, c fermata.Caller, idOrSuffix string) error {
	if err := c.CheckPermission(fermata.ToChangeOwn, c.OwnResource()); err != nil {
		return err
	}
	id, err := e.reader(ctx, c).FindID("session", "browser_sessions", fermata.PrefixSession, idOrSuffix)
	if err != nil {
		return err
	}
	return e.db.Write(ctx, c.WorkspaceID, func(tx *store.Tx) error {
		s, err := tx.Session(id)
		if err == nil && s.MemberID != c.MemberID && !c.HasScope(fermata.ScopeAdmin) {
			err = fermata.NotFound("session", idOrSuffix)
		}
		if err != nil {
			return err
		}
		tx.Append(signedOutEvent(c, s))
		return endSession(tx, c.Actor(), s)
	})
}

// SignOut ends the session of the caller. For the local user, who has no
// session, it does nothing. It refuses a token, which must be revoked instead.
func (e *Engine) SignOut(ctx context.Context, c fermata.Caller) error {
	if c.TokenID != "" {
		return fermata.Errorf(fermata.CodeForbidden, "a token has no session that could end").WithHint("revoke the token: fermata token revoke")
	}
	if c.SessionID == "" {
		return nil
	}
	err := e.EndSession(ctx, c, c.SessionID)
	if fermata.CodeOf(err) == fermata.CodeNotFound {
		return nil
	}
	return err
}
