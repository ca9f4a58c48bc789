package engine_test

import (
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

// TestALinkStandsWithItsMaker: a sign-in link or an invitation works only if its maker could still create it when it is
// used.
func TestALinkStandsWithItsMaker(t *testing.T) {
	for name, tt := range map[string]struct {
		invites bool
		ends    func(w *world, maker fermata.Caller)
	}{
		"a link of an admin who is disabled":       {false, disable},
		"a link of a former admin":                 {false, demote},
		"an invitation of a disabled admin":        {true, disable},
		"an invitation of a former admin":          {true, demote},
		"a link, after a disabled admin is back":   {false, func(w *world, c fermata.Caller) { disable(w, c); enable(w, c) }},
		"a link, when its person was signed out":   {false, func(w *world, _ fermata.Caller) { w.signOut("alice") }},
		"a link, when its maker was signed out":    {false, func(w *world, _ fermata.Caller) { w.signOut("eve") }},
		"an invitation, after the admin is back":   {true, func(w *world, c fermata.Caller) { disable(w, c); enable(w, c) }},
		"a link whose maker's token was revoked":   {false, revoke},
		"an invitation by a token that is no more": {true, revoke},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				w.changeMember(w.person("boss").MemberID, fermata.MemberChange{Role: ptr(fermata.RoleAdmin)})
				w.changeMember(w.person("eve").MemberID, fermata.MemberChange{Role: ptr(fermata.RoleAdmin)})
				made, err := w.e.CreateToken(w.Context(), admin, fermata.NewToken{Name: "eve", Kind: fermata.ActorHuman, Member: "eve", Scopes: []fermata.Scope{fermata.ScopeAdmin}})
				w.ok(err)
				maker, err := w.e.Authenticate(w.Context(), made.Secret)
				w.ok(err)
				var l *fermata.Link
				if tt.invites {
					l, err = w.e.Invite(w.Context(), maker, fermata.NewInvitation{Email: "eve2@example.com", Role: fermata.RoleAdmin})
				} else {
					l, err = w.e.MakeLink(w.Context(), maker, "alice")
				}
				w.ok(err)
				tt.ends(w, maker)
				_, err = w.e.SignInByLink(w.Context(), l.Secret, engine.Browser{})
				w.checkRefused(err, fermata.CodeUnauthenticated)
			})
		})
	}
}

func disable(w *world, c fermata.Caller) {
	w.changeMember(c.MemberID, fermata.MemberChange{Disabled: ptr(true)})
}

func enable(w *world, c fermata.Caller) {
	w.changeMember(c.MemberID, fermata.MemberChange{Disabled: ptr(false)})
}

func demote(w *world, c fermata.Caller) {
	w.changeMember(c.MemberID, fermata.MemberChange{Role: ptr(fermata.RoleViewer)})
}

func revoke(w *world, c fermata.Caller) {
	_, err := w.e.RevokeToken(w.Context(), admin, c.TokenID)
	w.ok(err)
}

func (w *world) changeMember(member string, change fermata.MemberChange) {
	w.Helper()
	_, err := w.e.ChangeMember(w.Context(), admin, member, change)
	w.ok(err)
}

func (w *world) signOut(member string) {
	w.Helper()
	_, err := w.e.EndSessionsOf(w.Context(), admin, member)
	w.ok(err)
}

// TestALinkOutlivesTheSessionOfItsMaker: links stay valid when the person who created them signs out.
func TestALinkOutlivesTheSessionOfItsMaker(t *testing.T) {
	each(t, func(w *world) {
		w.changeMember(w.person("eve").MemberID, fermata.MemberChange{Role: ptr(fermata.RoleAdmin)})
		in := w.signIn("eve", engine.Browser{})
		l, err := w.e.Invite(w.Context(), in.Caller, fermata.NewInvitation{Email: "new@example.com", Role: fermata.RoleResponder})
		w.ok(err)
		w.ok(w.e.SignOut(w.Context(), in.Caller))
		_, err = w.e.SignInByLink(w.Context(), l.Secret, engine.Browser{})
		w.ok(err)
	})
}

// TestASessionEndsWithTheTokenOfItsLink: a person who found a token does not stay signed in after the token was
// revoked or expired. A session from an admin's link for another person continues.
func TestASessionEndsWithTheTokenOfItsLink(t *testing.T) {
	for name, ends := range map[string]func(w *world, found fermata.Caller){
		"revoked": revoke,
		"over":    func(w *world, _ fermata.Caller) { w.clock.Advance(time.Hour); w.e = engine.New(w.db, engine.Options{}) },
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				w.changeMember(w.person("eve").MemberID, fermata.MemberChange{Role: ptr(fermata.RoleAdmin)})
				made, err := w.e.CreateToken(w.Context(), admin, fermata.NewToken{
					Name: "eve", Kind: fermata.ActorHuman, Member: "eve", Scopes: []fermata.Scope{fermata.ScopeAdmin}, ExpiresIn: "1h",
				})
				w.ok(err)
				found, err := w.e.Authenticate(w.Context(), made.Secret)
				w.ok(err)
				own, theirs, other := w.signInBy(found, "eve", engine.Browser{}), w.signInBy(found, "alice", engine.Browser{}), w.signIn("eve", engine.Browser{})
				ends(w, found)
				_, err = w.e.AuthenticateSession(w.Context(), own.Secret)
				w.checkRefused(err, fermata.CodeUnauthenticated)
				for _, in := range []*engine.IssuedSession{theirs, other} {
					_, err = w.e.AuthenticateSession(w.Context(), in.Secret)
					w.ok(err)
				}
			})
		})
	}
}

// TestARemovedPasskeyEndsSessions: a person who finds a lost device is signed out there, and cannot add a passkey.
func TestARemovedPasskeyEndsSessions(t *testing.T) {
	for name, by := range map[string]func(w *world, thief, own fermata.Caller) fermata.Caller{
		"by an admin":  func(*world, fermata.Caller, fermata.Caller) fermata.Caller { return admin },
		"by its owner": func(_ *world, _, own fermata.Caller) fermata.Caller { return own },
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				begun := w.signIn("alice", engine.Browser{})
				key, err := w.e.AddPasskey(w.Context(), begun.Caller, "laptop", "credential", "{}")
				w.ok(err)
				thief, err := w.e.SignInByPasskey(w.Context(), key.ID, "{}", engine.Browser{})
				w.ok(err)
				own, err := w.e.SignInByPasskey(w.Context(), key.ID, "{}", engine.Browser{})
				w.ok(err)
				remover := by(w, thief.Caller, own.Caller)
				w.ok(w.e.RemovePasskey(w.Context(), remover, key.ID))
				_, err = w.e.AuthenticateSession(w.Context(), thief.Secret)
				w.checkRefused(err, fermata.CodeUnauthenticated)
				_, err = w.e.AuthenticateSession(w.Context(), own.Secret)
				if remover.SessionID == "" {
					w.checkRefused(err, fermata.CodeUnauthenticated)
				} else {
					w.ok(err)
				}
			})
		})
	}
}
