package engine

import (
	"context"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// mostSessions bounds the sessions of one member; the one unused for longest
// goes first.
const mostSessions = 50

// Browser is where somebody signs in from.
type Browser struct {
	UserAgent string
	// Secret is that of the session which the browser had: it ends.
	Secret string
}

// SignedIn is a new session and its secret, which is not stored.
type SignedIn struct {
	Caller  fermata.Caller
	Session *fermata.BrowserSession
	Secret  string
}

func badSession() error {
	return fermata.Errorf(fermata.CodeUnauthenticated, "you are not signed in any more").WithHint("sign in again")
}

// sessionKey names a session in the cache of callers.
func sessionKey(hash string) string { return "session:" + hash }

// ReauthenticateSession is [Engine.AuthenticateSession] without the cache.
func (e *Engine) ReauthenticateSession(ctx context.Context, secret string) (fermata.Caller, error) {
	e.callers.forget(sessionKey(fermata.HashSecret(secret)))
	return e.AuthenticateSession(ctx, secret)
}

// AuthenticateSession returns who is signed in with the session of the secret.
// One that is unknown, unused for too long, over, or of a disabled member is
// refused, and the reply does not tell these apart.
func (e *Engine) AuthenticateSession(ctx context.Context, secret string) (fermata.Caller, error) {
	if !fermata.WholeSecret(fermata.SessionPrefix, secret) {
		return fermata.Caller{}, badSession()
	}
	hash := fermata.HashSecret(secret)
	if c, ok := e.callers.get(sessionKey(hash), time.Now()); ok {
		return c, nil
	}
	cleared := e.callers.clearings()
	s, err := e.db.In(ctx, "").SessionByHash(hash)
	if fermata.CodeOf(err) == fermata.CodeNotFound {
		return fermata.Caller{}, badSession()
	}
	if err != nil {
		return fermata.Caller{}, err
	}
	now, err := e.db.Now(ctx)
	if err != nil {
		return fermata.Caller{}, err
	}
	m, err := e.db.In(ctx, s.WorkspaceID).Member(s.MemberID)
	if err != nil {
		return fermata.Caller{}, err
	}
	if s.IsEnded(now) || m.DisabledAt != nil {
		return fermata.Caller{}, badSession()
	}
	p, err := e.policy(e.db.In(ctx, s.WorkspaceID))
	if err != nil {
		return fermata.Caller{}, err
	}
	if now.Sub(s.LastSeenAt) > touchEvery {
		err = e.db.Write(ctx, s.WorkspaceID, func(tx *store.Tx) error {
			tx.TouchSession(s.ID, tx.Now())
			return nil
		})
	}
	c := sessionCaller(s, m, now).Under(p)
	c.EndsAt = s.IdleDeadline()
	e.callers.put(sessionKey(hash), knownCaller{caller: c, until: time.Now().Add(callerFor)}, cleared)
	return c, err
}

func sessionCaller(s *fermata.BrowserSession, m *fermata.Member, now time.Time) fermata.Caller {
	c := m.Caller()
	c.WorkspaceID, c.SessionID, c.Assurance = s.WorkspaceID, s.ID, s.CurrentAssurance(now)
	return c
}

// signIn is how somebody signs in. The link is nil where it is not by one.
type signIn struct {
	method    fermata.SignInMethod
	assurance fermata.Assurance
	link      *fermata.Link
}

// madeWith returns the token of the member with which the link was made, or nil: the link of an admin for another member has none.
func (by signIn) madeWith(tx *store.Tx, m *fermata.Member) (*fermata.Token, error) {
	if by.link == nil || by.link.MadeWith == "" {
		return nil, nil
	}
	t, err := tx.Token(by.link.MadeWith)
	if err != nil || t.MemberID != m.ID {
		return nil, err
	}
	return t, nil
}

// sessionFacts returns the data of member.signed_in. The fingerprint identifies the secret without revealing it.
func sessionFacts(s *fermata.BrowserSession) map[string]any {
	return map[string]any{
		"session_id": s.ID, "method": s.Method, "assurance": s.Assurance, "created_at": s.CreatedAt.UnixMilli(),
		"expires_at": s.ExpiresAt.UnixMilli(), "fingerprint": fermata.HashSecret(s.Hash), "token_id": s.MadeWith,
	}
}

// startSession signs a member in. The secret is the session's own, never one
// that the browser chose; the session that the browser had before ends.
func startSession(tx *store.Tx, m *fermata.Member, by signIn, from Browser, secret string) (*SignedIn, error) {
	if m.DisabledAt != nil {
		return nil, fermata.Errorf(fermata.CodeUnauthenticated, "the member may not sign in").WithHint("ask an admin")
	}
	id := fermata.NewID(fermata.PrefixSession, tx.Now())
	if err := endOld(tx, m, from, id); err != nil {
		return nil, err
	}
	s := &fermata.BrowserSession{
		ID: id, WorkspaceID: tx.Workspace(), MemberID: m.ID, Method: by.method, Assurance: by.assurance,
		UserAgent: cutText(from.UserAgent, 300), CreatedAt: tx.Now(), LastSeenAt: tx.Now(), ExpiresAt: tx.Now().Add(fermata.SessionLasts),
		Hash: fermata.HashSecret(secret), Current: true,
	}
	token, err := by.madeWith(tx, m)
	if err != nil {
		return nil, err
	}
	if token != nil {
		s.MadeWith = token.ID
		if token.ExpiresAt != nil && token.ExpiresAt.Before(s.ExpiresAt) {
			s.ExpiresAt = *token.ExpiresAt
		}
	}
	tx.InsertSession(s)
	facts := sessionFacts(s)
	if by.link != nil {
		facts["link_id"] = by.link.ID
	}
	tx.Append(&fermata.Event{Type: fermata.EventMemberSignedIn, Actor: m.Actor(), Data: data(facts)})
	return &SignedIn{Caller: sessionCaller(s, m, tx.Now()), Session: s, Secret: secret}, nil
}

// endOld ends the session that the browser had, and what the member has too
// much. What is pushed to the browser goes on for the member in the session with
// the id next, and ends where another member used the browser.
func endOld(tx *store.Tx, m *fermata.Member, from Browser, next string) error {
	if fermata.WholeSecret(fermata.SessionPrefix, from.Secret) {
		old, err := tx.SessionByHash(fermata.HashSecret(from.Secret))
		switch {
		case err == nil && old.WorkspaceID == tx.Workspace():
			tx.HandDevices(m.ID, old.ID, next)
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
	for i := mostSessions - 1; i < len(sessions); i++ {
		if err := endSession(tx, m.Actor(), sessions[i]); err != nil {
			return err
		}
	}
	return nil
}

// endSession ends a session and what is pushed to its browser.
func endSession(tx *store.Tx, by fermata.Actor, s *fermata.BrowserSession) error {
	tx.DeleteSession(s.ID)
	return removeDevices(tx, by, s.MemberID, heldBy(s.ID))
}

func cutText(s string, most int) string {
	out := make([]rune, 0, min(len(s), most))
	for _, r := range s {
		if len(out) == most {
			break
		}
		if r >= ' ' {
			out = append(out, r)
		}
	}
	return string(out)
}

// endSessionsMadeWith ends those sessions of a token's member that began with a link made with the token.
func endSessionsMadeWith(tx *store.Tx, c fermata.Caller, t *fermata.Token) error {
	if t.MemberID == "" {
		return nil
	}
	sessions, err := tx.SessionsOf(t.MemberID)
	for _, s := range sessions {
		if s.MadeWith != t.ID {
			continue
		}
		tx.Append(signedOut(c, s))
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
	s, err := e.reads(ctx, c).Session(c.SessionID)
	if err == nil {
		s.Current = true
	}
	return s, err
}

// Self returns the member who calls.
func (e *Engine) Self(ctx context.Context, c fermata.Caller) (*fermata.Member, error) {
	return e.reads(ctx, c).Member(c.MemberID)
}

// Sessions lists where the caller is signed in.
func (e *Engine) Sessions(ctx context.Context, c fermata.Caller) ([]*fermata.BrowserSession, error) {
	if err := c.May(fermata.ToReadOwn, c.OwnPlace()); err != nil {
		return nil, err
	}
	return e.openSessions(ctx, c, c.MemberID)
}

// openSessions lists the sessions of a member that are not over.
func (e *Engine) openSessions(ctx context.Context, c fermata.Caller, memberID string) ([]*fermata.BrowserSession, error) {
	now, err := e.Now(ctx)
	if err != nil {
		return nil, err
	}
	all, err := e.reads(ctx, c).SessionsOf(memberID)
	var open []*fermata.BrowserSession
	for _, s := range all {
		if !s.IsEnded(now) {
			s.Current = s.ID == c.SessionID
			open = append(open, s)
		}
	}
	return open, err
}

// EndSession signs a browser out: one's own, or as an admin anybody's.
func (e *Engine) EndSession(ctx context.Context, c fermata.Caller, typed string) error {
	if err := c.May(fermata.ToChangeOwn, c.OwnPlace()); err != nil {
		return err
	}
	id, err := e.reads(ctx, c).FindID("session", "browser_sessions", fermata.PrefixSession, typed)
	if err != nil {
		return err
	}
	return e.db.Write(ctx, c.WorkspaceID, func(tx *store.Tx) error {
		s, err := tx.Session(id)
		if err == nil && s.MemberID != c.MemberID && !c.Has(fermata.ScopeAdmin) {
			err = fermata.NotFound("session", typed)
		}
		if err != nil {
			return err
		}
		tx.Append(signedOut(c, s))
		return endSession(tx, c.Actor(), s)
	})
}

// SignOut ends the session of the caller. The local user has none, and there is
// nothing to do. A token is revoked, not signed out.
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
