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
				w.changeMember(w.Person("boss").MemberID, fermata.MemberChange{Role: ptr(fermata.RoleAdmin)})
				w.changeMember(w.Person("eve").MemberID, fermata.MemberChange{Role: ptr(fermata.RoleAdmin)})
				made, err := w.Engine.CreateToken(w.Context(), admin, fermata.NewToken{Name: "eve", Kind: fermata.ActorHuman, Member: "eve", Scopes: []fermata.Scope{fermata.ScopeAdmin}})
				w.OK(err)
				maker, err := w.Engine.Authenticate(w.Context(), made.Secret)
				w.OK(err)
				var l *fermata.Link
				if tt.invites {
					l, err = w.Engine.Invite(w.Context(), maker, fermata.NewInvitation{Email: "eve2@example.com", Role: fermata.RoleAdmin})
				} else {
					l, err = w.Engine.MakeLink(w.Context(), maker, "alice")
				}
				w.OK(err)
				tt.ends(w, maker)
				_, err = w.Engine.SignInByLink(w.Context(), l.Secret, engine.Browser{})
				w.CheckRefused(err, fermata.CodeUnauthenticated)
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
	_, err := w.Engine.RevokeToken(w.Context(), admin, c.TokenID)
	w.OK(err)
}

func (w *world) changeMember(member string, change fermata.MemberChange) {
	w.Helper()
	_, err := w.Engine.ChangeMember(w.Context(), admin, member, change)
	w.OK(err)
}

func (w *world) signOut(member string) {
	w.Helper()
	_, err := w.Engine.EndSessionsOf(w.Context(), admin, member)
	w.OK(err)
}

// TestALinkOutlivesTheSessionOfItsMaker: links stay valid when the person who created them signs out.
func TestALinkOutlivesTheSessionOfItsMaker(t *testing.T) {
	each(t, func(w *world) {
		w.changeMember(w.Person("eve").MemberID, fermata.MemberChange{Role: ptr(fermata.RoleAdmin)})
		in := w.signIn("eve", engine.Browser{})
		l, err := w.Engine.Invite(w.Context(), in.Caller, fermata.NewInvitation{Email: "new@example.com", Role: fermata.RoleResponder})
		w.OK(err)
		w.OK(w.Engine.SignOut(w.Context(), in.Caller))
		_, err = w.Engine.SignInByLink(w.Context(), l.Secret, engine.Browser{})
		w.OK(err)
	})
}

// TestASessionEndsWithTheTokenOfItsLink: a person who found a token does not stay signed in after the token was
// revoked or expired. A session from an admin's link for another person continues.
func TestASessionEndsWithTheTokenOfItsLink(t *testing.T) {
	for name, ends := range map[string]func(w *world, found fermata.Caller){
		"revoked": revoke,
		"over": func(w *world, _ fermata.Caller) {
			w.Clock.Advance(time.Hour)
			w.Engine = engine.New(w.DB, engine.Options{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				w.changeMember(w.Person("eve").MemberID, fermata.MemberChange{Role: ptr(fermata.RoleAdmin)})
				made, err := w.Engine.CreateToken(w.Context(), admin, fermata.NewToken{
					Name: "eve", Kind: fermata.ActorHuman, Member: "eve", Scopes: []fermata.Scope{fermata.ScopeAdmin}, ExpiresIn: "1h",
				})
				w.OK(err)
				found, err := w.Engine.Authenticate(w.Context(), made.Secret)
				w.OK(err)
				own, theirs, other := w.signInBy(found, "eve", engine.Browser{}), w.signInBy(found, "alice", engine.Browser{}), w.signIn("eve", engine.Browser{})
				ends(w, found)
				_, err = w.Engine.AuthenticateSession(w.Context(), own.Secret)
				w.CheckRefused(err, fermata.CodeUnauthenticated)
				for _, in := range []*engine.IssuedSession{theirs, other} {
					_, err = w.Engine.AuthenticateSession(w.Context(), in.Secret)
					w.OK(err)
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
				key, err := w.Engine.AddPasskey(w.Context(), begun.Caller, "laptop", "credential", "{}")
				w.OK(err)
				thief, err := w.Engine.SignInByPasskey(w.Context(), key.ID, "{}", engine.Browser{})
				w.OK(err)
				own, err := w.Engine.SignInByPasskey(w.Context(), key.ID, "{}", engine.Browser{})
				w.OK(err)
				remover := by(w, thief.Caller, own.Caller)
				w.OK(w.Engine.RemovePasskey(w.Context(), remover, key.ID))
				_, err = w.Engine.AuthenticateSession(w.Context(), thief.Secret)
				w.CheckRefused(err, fermata.CodeUnauthenticated)
				_, err = w.Engine.AuthenticateSession(w.Context(), own.Secret)
				if remover.SessionID == "" {
					w.CheckRefused(err, fermata.CodeUnauthenticated)
				} else {
					w.OK(err)
				}
			})
		})
	}
}
