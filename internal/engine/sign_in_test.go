package engine_test

import (
	"slices"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/test/patience"
)

// signIn signs a member in by a link from an admin.
func (w *world) signIn(handle string, from engine.Browser) *engine.IssuedSession {
	w.Helper()
	return w.signInBy(admin, handle, from)
}

// signInBy signs a member in by a link from the maker.
func (w *world) signInBy(maker fermata.Caller, handle string, from engine.Browser) *engine.IssuedSession {
	w.Helper()
	l, err := w.e.MakeLink(w.Context(), maker, handle)
	w.ok(err)
	in, err := w.e.SignInByLink(w.Context(), l.Secret, from)
	w.ok(err)
	return in
}

func TestLinkSignsInOnce(t *testing.T) {
	each(t, func(w *world) {
		in := w.signIn("alice", engine.Browser{UserAgent: "a\x00b\nc"})
		c, err := w.e.AuthenticateSession(w.Context(), in.Secret)
		w.ok(err)
		w.equal([]any{w.alice.MemberID, "alice", fermata.RoleOperator, fermata.AssuranceSession, in.Session.ID, ""},
			[]any{c.MemberID, c.Name, c.Role, c.Assurance, c.SessionID, c.TokenID})
		w.equal(true, c.HasScope(fermata.ScopeAnswer) && !c.HasScope(fermata.ScopeAdmin))
		l, err := w.e.MakeLink(w.Context(), admin, w.alice.MemberID)
		w.ok(err)
		_, err = w.e.SignInByLink(w.Context(), l.Secret, engine.Browser{})
		w.ok(err)
		for _, secret := range []string{l.Secret, fermata.NewSecretWithPrefix(fermata.LinkPrefix), fermata.NewSecret(), "", "fml_x", in.Secret} {
			_, err = w.e.SignInByLink(w.Context(), secret, engine.Browser{})
			w.checkRefused(err, fermata.CodeUnauthenticated)
		}
		// The secret of a session is no token, and the secret of a token is no
		// session.
		_, err = w.e.Authenticate(w.Context(), in.Secret)
		w.checkRefused(err, fermata.CodeUnauthenticated)
		token := w.token(fermata.NewToken{Member: "alice", Scopes: []fermata.Scope{fermata.ScopeAnswer}})
		_, err = w.e.AuthenticateSession(w.Context(), token.Secret)
		w.checkRefused(err, fermata.CodeUnauthenticated)
		_, err = w.e.AuthenticateSession(w.Context(), l.Secret)
		w.checkRefused(err, fermata.CodeUnauthenticated)
		sessions, err := w.e.Sessions(w.Context(), c)
		w.ok(err)
		w.equal("abc", sessions[slices.IndexFunc(sessions, func(s *fermata.BrowserSession) bool { return s.Current })].UserAgent)
	})
}

func TestLinkExpires(t *testing.T) {
	each(t, func(w *world) {
		l, err := w.e.MakeLink(w.Context(), admin, "alice")
		w.ok(err)
		w.clock.Advance(fermata.LinkLifetime)
		_, err = w.e.SignInByLink(w.Context(), l.Secret, engine.Browser{})
		w.checkRefused(err, fermata.CodeUnauthenticated)
	})
}

// TestLinkIsUsedOnceAtTheSameTime: if two browsers open one link at the same
// time, only one is signed in.
func TestLinkIsUsedOnceAtTheSameTime(t *testing.T) {
	each(t, func(w *world) {
		for range 10 {
			l, err := w.e.MakeLink(w.Context(), admin, "alice")
			w.ok(err)
			done := make(chan error, 2)
			for range cap(done) {
				go func() {
					_, err := w.e.SignInByLink(w.Context(), l.Secret, engine.Browser{})
					done <- err
				}()
			}
			first, second := patience.Receive(w, "one call ends", done), patience.Receive(w, "the other call ends", done)
			if (first == nil) == (second == nil) {
				w.Fatalf("one link, two sign-ins: %v, %v", first, second)
			}
		}
	})
}

// TestLinkCountsNoMoreThanItsMaker: an admin's token at a terminal cannot
// create a link with the assurance of a browser.
func TestLinkCountsNoMoreThanItsMaker(t *testing.T) {
	each(t, func(w *world) {
		terminal := admin
		terminal.Assurance = fermata.AssuranceChannel
		whole := w.alice
		whole.Scopes = []fermata.Scope{fermata.ScopeRead, fermata.ScopeAsk, fermata.ScopeAnswer, fermata.ScopeWork}
		for _, by := range []fermata.Caller{terminal, whole} {
			l, err := w.e.MakeLink(w.Context(), by, "alice")
			w.ok(err)
			in, err := w.e.SignInByLink(w.Context(), l.Secret, engine.Browser{})
			w.ok(err)
			w.equal(fermata.AssuranceChannel, in.Caller.Assurance)
		}
		bob := w.person("bob")
		_, err := w.e.MakeLink(w.Context(), bob, "alice")
		w.checkRefused(err, fermata.CodeForbidden)
		_, err = w.e.MakeLink(w.Context(), w.agent, "alice")
		w.checkRefused(err, fermata.CodeForbidden)
		_, err = w.e.MakeLink(w.Context(), admin, "nobody")
		w.checkRefused(err, fermata.CodeNotFound)
	})
}

func TestSessionEnds(t *testing.T) {
	each(t, func(w *world) {
		in := w.signIn("alice", engine.Browser{})
		known := func() fermata.Code {
			_, err := w.e.AuthenticateSession(w.Context(), in.Secret)
			return fermata.CodeOf(err)
		}
		forget := func() { w.e = engine.New(w.db, engine.Options{}) }
		// Used every six days, the session lasts thirty days.
		for range 4 {
			w.clock.Advance(6 * 24 * time.Hour)
			forget()
			w.equal(fermata.Code(""), known())
		}
		w.clock.Advance(6 * 24 * time.Hour)
		forget()
		w.equal(fermata.CodeUnauthenticated, known())
		in = w.signIn("alice", engine.Browser{})
		w.clock.Advance(fermata.MaxSessionIdle)
		forget()
		w.equal(fermata.CodeUnauthenticated, known())
	})
}

func TestSignInIsFreshForHours(t *testing.T) {
	each(t, func(w *world) {
		in := w.signIn("alice", engine.Browser{})
		w.clock.Advance(fermata.FreshSignInLifetime)
		w.e = engine.New(w.db, engine.Options{})
		c, err := w.e.AuthenticateSession(w.Context(), in.Secret)
		w.ok(err)
		w.equal(fermata.AssuranceChannel, c.Assurance)
	})
}

func TestSignInReplacesTheOldSession(t *testing.T) {
	each(t, func(w *world) {
		first := w.signIn("alice", engine.Browser{})
		_, err := w.e.AuthenticateSession(w.Context(), first.Secret)
		w.ok(err)
		second := w.signIn("alice", engine.Browser{Secret: first.Secret})
		w.equal(false, first.Secret == second.Secret)
		_, err = w.e.AuthenticateSession(w.Context(), first.Secret)
		w.checkRefused(err, fermata.CodeUnauthenticated)
		// A secret that another person put into the browser is never used.
		planted := fermata.NewSecretWithPrefix(fermata.SessionPrefix)
		third := w.signIn("alice", engine.Browser{Secret: planted})
		w.equal(false, third.Secret == planted)
		_, err = w.e.AuthenticateSession(w.Context(), planted)
		w.checkRefused(err, fermata.CodeUnauthenticated)
	})
}

func TestSignOut(t *testing.T) {
	each(t, func(w *world) {
		here, there := w.signIn("alice", engine.Browser{}), w.signIn("alice", engine.Browser{})
		bob := w.person("bob")
		_, err := w.e.AuthenticateSession(w.Context(), there.Secret)
		w.ok(err)
		w.checkRefused(w.e.EndSession(w.Context(), bob, there.Session.ID), fermata.CodeNotFound)
		w.checkRefused(w.e.EndSession(w.Context(), w.agent, there.Session.ID), fermata.CodeForbidden)
		w.ok(w.e.EndSession(w.Context(), here.Caller, there.Session.ID[len(there.Session.ID)-8:]))
		_, err = w.e.AuthenticateSession(w.Context(), there.Secret)
		w.checkRefused(err, fermata.CodeUnauthenticated)
		for range 2 {
			w.ok(w.e.SignOut(w.Context(), here.Caller))
		}
		_, err = w.e.AuthenticateSession(w.Context(), here.Secret)
		w.checkRefused(err, fermata.CodeUnauthenticated)
		sessions, err := w.e.Sessions(w.Context(), w.alice)
		w.ok(err)
		w.equal(0, len(sessions))
	})
}

func TestSessionsOfAMemberAreBounded(t *testing.T) {
	each(t, func(w *world) {
		first := w.signIn("alice", engine.Browser{})
		w.clock.Advance(time.Second)
		for range 50 {
			w.signIn("alice", engine.Browser{})
		}
		_, err := w.e.AuthenticateSession(w.Context(), first.Secret)
		w.checkRefused(err, fermata.CodeUnauthenticated)
		sessions, err := w.e.Sessions(w.Context(), w.alice)
		w.ok(err)
		w.equal(50, len(sessions))
	})
}

func TestDisabledMemberIsOut(t *testing.T) {
	each(t, func(w *world) {
		in := w.signIn("alice", engine.Browser{})
		token := w.token(fermata.NewToken{Member: "alice", Scopes: []fermata.Scope{fermata.ScopeAnswer}})
		link, err := w.e.MakeLink(w.Context(), admin, "alice")
		w.ok(err)
		for _, secret := range []string{in.Secret, token.Secret} {
			w.equal(fermata.Code(""), w.authCode(secret))
		}
		_, q := w.createSuspended(format)
		_, err = w.e.ChangeMember(w.Context(), admin, "alice", fermata.MemberChange{Disabled: ptr(true)})
		w.ok(err)
		for _, secret := range []string{in.Secret, token.Secret} {
			w.equal(fermata.CodeUnauthenticated, w.authCode(secret))
		}
		_, err = w.e.SignInByLink(w.Context(), link.Secret, engine.Browser{})
		w.checkRefused(err, fermata.CodeUnauthenticated)
		_, err = w.e.MakeLink(w.Context(), admin, "alice")
		w.checkRefused(err, fermata.CodePolicyViolation)
		w.checkQuestion(q.ID, fermata.Pending)
		// The old secrets stay invalid after the member is enabled again.
		_, err = w.e.ChangeMember(w.Context(), admin, "alice", fermata.MemberChange{Disabled: ptr(false)})
		w.ok(err)
		for _, secret := range []string{in.Secret, token.Secret} {
			w.equal(fermata.CodeUnauthenticated, w.authCode(secret))
		}
		w.signIn("alice", engine.Browser{})
	})
}

// authCode returns "" if a secret is a valid token or session.
func (w *world) authCode(secret string) fermata.Code {
	_, err := w.e.AuthenticateSession(w.Context(), secret)
	if err != nil {
		_, err = w.e.Authenticate(w.Context(), secret)
	}
	return fermata.CodeOf(err)
}

// TestDisablingMeetsALookUp: a caller that was looked up while the member was
// disabled is refused after that.
func TestDisablingMeetsALookUp(t *testing.T) {
	each(t, func(w *world) {
		for range 20 {
			_, err := w.e.ChangeMember(w.Context(), admin, "alice", fermata.MemberChange{Disabled: ptr(false)})
			w.ok(err)
			in := w.signIn("alice", engine.Browser{})
			looked := make(chan struct{})
			go func() {
				defer close(looked)
				_, _ = w.e.AuthenticateSession(w.Context(), in.Secret)
			}()
			_, err = w.e.ChangeMember(w.Context(), admin, "alice", fermata.MemberChange{Disabled: ptr(true)})
			w.ok(err)
			patience.Receive(w, "the session is looked up", looked)
			_, err = w.e.AuthenticateSession(w.Context(), in.Secret)
			w.checkRefused(err, fermata.CodeUnauthenticated)
		}
	})
}

func TestLastAdminStays(t *testing.T) {
	each(t, func(w *world) {
		for _, handle := range []string{"root", "second"} {
			_, err := w.e.AddMember(w.Context(), admin, engine.NewMember{Handle: handle, Role: fermata.RoleAdmin})
			w.ok(err)
		}
		demote, disable := fermata.MemberChange{Role: ptr(fermata.RoleOperator)}, fermata.MemberChange{Disabled: ptr(true)}
		_, err := w.e.ChangeMember(w.Context(), admin, "second", disable)
		w.ok(err)
		for _, ch := range []fermata.MemberChange{demote, disable} {
			_, err := w.e.ChangeMember(w.Context(), admin, "root", ch)
			w.checkRefused(err, fermata.CodePolicyViolation)
		}
		_, err = w.e.ChangeMember(w.Context(), admin, "second", fermata.MemberChange{Disabled: ptr(false)})
		w.ok(err)
		_, err = w.e.ChangeMember(w.Context(), admin, "root", demote)
		w.ok(err)
	})
}

func TestChangeMember(t *testing.T) {
	each(t, func(w *world) {
		w.person("bob")
		m, err := w.e.ChangeMember(w.Context(), admin, "alice", fermata.MemberChange{
			Name: ptr(" Alice A. "), Email: ptr("Alice@Example.com"), Role: ptr(fermata.RoleViewer), Groups: []string{"ops", "dev", "ops"},
			Projects: map[string]fermata.Role{"web": fermata.RoleOperator},
		})
		w.ok(err)
		w.equal([]any{"Alice A.", "alice@example.com", fermata.RoleViewer, []string{"dev", "ops"}}, []any{m.Name, m.Email, m.Role, m.Groups})
		all, err := w.e.Members(w.Context(), w.alice)
		w.ok(err)
		w.equal(m, all[0])
		for _, ch := range []fermata.MemberChange{
			{Email: ptr("nonsense")}, {Email: ptr("a@b.example\nBcc: c@d.example")}, {Email: ptr("A <a@b.example>")}, {Role: ptr(fermata.Role("king"))},
			{Projects: map[string]fermata.Role{"web": "king"}}, {Projects: map[string]fermata.Role{"web": fermata.RoleAdmin}},
			{Projects: map[string]fermata.Role{"w b": fermata.RoleViewer}}, {Groups: []string{""}}, {Groups: []string{"a,b"}},
		} {
			_, err := w.e.ChangeMember(w.Context(), admin, "alice", ch)
			w.checkRefused(err, fermata.CodeInvalidRequest)
		}
		_, err = w.e.ChangeMember(w.Context(), admin, "bob", fermata.MemberChange{Email: ptr("alice@example.com")})
		w.checkRefused(err, fermata.CodeInvalidRequest)
		// Members may change their own name, and nothing else of themselves.
		_, err = w.e.ChangeMember(w.Context(), w.alice, "alice", fermata.MemberChange{Name: ptr("Al")})
		w.ok(err)
		for _, ch := range []fermata.MemberChange{{Role: ptr(fermata.RoleAdmin)}, {Email: ptr("x@example.com")}, {Groups: []string{"x"}}} {
			_, err = w.e.ChangeMember(w.Context(), w.alice, "alice", ch)
			w.checkRefused(err, fermata.CodeForbidden)
		}
		_, err = w.e.ChangeMember(w.Context(), w.alice, "bob", fermata.MemberChange{Name: ptr("B")})
		w.checkRefused(err, fermata.CodeForbidden)
	})
}

// TestTokenFallsWithTheRole: a token has no more rights than its member has at
// present.
func TestTokenFallsWithTheRole(t *testing.T) {
	each(t, func(w *world) {
		for _, handle := range []string{"root", "boss"} {
			_, err := w.e.AddMember(w.Context(), admin, engine.NewMember{Handle: handle, Role: fermata.RoleAdmin})
			w.ok(err)
		}
		token := w.token(fermata.NewToken{Member: "boss", Scopes: []fermata.Scope{fermata.ScopeAdmin}})
		for role, want := range map[fermata.Role][]bool{
			fermata.RoleAdmin: {true, true, true}, fermata.RoleResponder: {false, true, true}, fermata.RoleViewer: {false, false, true},
		} {
			_, err := w.e.ChangeMember(w.Context(), admin, "boss", fermata.MemberChange{Role: &role})
			w.ok(err)
			c, err := w.e.Authenticate(w.Context(), token.Secret)
			w.ok(err)
			w.equal(want, []bool{c.HasScope(fermata.ScopeAdmin), c.HasScope(fermata.ScopeAnswer), c.HasScope(fermata.ScopeRead)})
		}
	})
}

func TestInvitation(t *testing.T) {
	each(t, func(w *world) {
		l, err := w.e.Invite(w.Context(), admin, fermata.NewInvitation{
			Email: "Bob.B@Example.com", Name: "Bob", Role: fermata.RoleOperator, Groups: []string{"ops"}, Projects: map[string]fermata.Role{"web": fermata.RoleViewer},
		})
		w.ok(err)
		open, err := w.e.Invitations(w.Context(), admin)
		w.ok(err)
		w.equal([]any{1, "bob.b", ""}, []any{len(open), open[0].Handle, open[0].URL})
		for _, n := range []fermata.NewInvitation{{Email: "bob.b@example.com"}, {Handle: "bob.b"}, {Handle: "alice"}, {}, {Handle: "x y"}, {Handle: "x", Role: "king"}, {Email: "x"}} {
			_, err := w.e.Invite(w.Context(), admin, n)
			w.checkRefused(err, fermata.CodeInvalidRequest)
		}
		// The handle is taken before the invitation is accepted.
		w.person("bob.b")
		in, err := w.e.SignInByLink(w.Context(), l.Secret, engine.Browser{})
		w.ok(err)
		w.equal([]any{"bob.b-2", fermata.RoleOperator, fermata.RoleViewer, []string{"ops"}}, []any{in.Caller.Name, in.Caller.Role, in.Caller.RoleIn("web"), in.Caller.Groups})
		_, err = w.e.SignInByLink(w.Context(), l.Secret, engine.Browser{})
		w.checkRefused(err, fermata.CodeUnauthenticated)
		open, err = w.e.Invitations(w.Context(), admin)
		w.ok(err)
		w.equal(0, len(open))
		for _, c := range []fermata.Caller{w.alice, w.agent} {
			_, err = w.e.Invite(w.Context(), c, fermata.NewInvitation{Handle: "x"})
			w.checkRefused(err, fermata.CodeForbidden)
			_, err = w.e.Invitations(w.Context(), c)
			w.checkRefused(err, fermata.CodeForbidden)
			w.checkRefused(w.e.Uninvite(w.Context(), c, l.ID), fermata.CodeForbidden)
		}
	})
}

func TestWithdrawnInvitation(t *testing.T) {
	each(t, func(w *world) {
		l, err := w.e.Invite(w.Context(), admin, fermata.NewInvitation{Handle: "bob"})
		w.ok(err)
		w.ok(w.e.Uninvite(w.Context(), admin, l.ID))
		w.checkRefused(w.e.Uninvite(w.Context(), admin, l.ID), fermata.CodeNotFound)
		_, err = w.e.SignInByLink(w.Context(), l.Secret, engine.Browser{})
		w.checkRefused(err, fermata.CodeUnauthenticated)
		// A link that is no invitation cannot be withdrawn as one.
		other, err := w.e.MakeLink(w.Context(), admin, "alice")
		w.ok(err)
		w.checkRefused(w.e.Uninvite(w.Context(), admin, other.ID), fermata.CodeNotFound)
	})
}

func TestGroups(t *testing.T) {
	each(t, func(w *world) {
		w.person("bob", "named")
		g, err := w.e.AddGroup(w.Context(), admin, fermata.NewGroup{Name: "ops", Description: "on call", Members: []string{"bob", "alice"}})
		w.ok(err)
		w.equal([]string{"alice", "bob"}, g.Members)
		list := func() map[string][]string {
			all, err := w.e.Groups(w.Context(), w.alice)
			w.ok(err)
			out := map[string][]string{}
			for _, g := range all {
				out[g.Name] = g.Members
			}
			return out
		}
		w.equal(map[string][]string{"named": {"bob"}, "ops": {"alice", "bob"}}, list())
		_, err = w.e.ChangeGroup(w.Context(), admin, "ops", fermata.GroupChange{Name: ptr("operations"), Members: []string{"alice"}})
		w.ok(err)
		w.equal(map[string][]string{"named": {"bob"}, "operations": {"alice"}}, list())
		_, err = w.e.ChangeGroup(w.Context(), admin, "named", fermata.GroupChange{Description: ptr("d")})
		w.ok(err)
		w.equal(map[string][]string{"named": {"bob"}, "operations": {"alice"}}, list())
		for _, n := range []fermata.NewGroup{{Name: "named"}, {Name: ""}, {Name: "a,b"}, {Name: "x", Members: []string{"nobody"}}} {
			_, err := w.e.AddGroup(w.Context(), admin, n)
			w.checkRefused(err, fermata.CodeInvalidRequest)
		}
		_, err = w.e.ChangeGroup(w.Context(), admin, "named", fermata.GroupChange{Name: ptr("operations")})
		w.checkRefused(err, fermata.CodeInvalidRequest)
		_, err = w.e.ChangeGroup(w.Context(), w.alice, "named", fermata.GroupChange{})
		w.checkRefused(err, fermata.CodeForbidden)
		w.ok(w.e.DeleteGroup(w.Context(), admin, "named"))
		w.checkRefused(w.e.DeleteGroup(w.Context(), admin, "named"), fermata.CodeNotFound)
		w.equal(map[string][]string{"operations": {"alice"}}, list())
		_, err = w.e.ChangeGroup(w.Context(), admin, "operations", fermata.GroupChange{Members: []string{}})
		w.ok(err)
		w.equal(map[string][]string{"operations": {}}, list())
	})
}

func TestTokensOfOnesOwn(t *testing.T) {
	each(t, func(w *world) {
		in := w.signIn("alice", engine.Browser{})
		other := w.token(fermata.NewToken{Member: "bob", Role: fermata.RoleResponder, Scopes: []fermata.Scope{fermata.ScopeAnswer}})
		mine, err := w.e.CreateToken(w.Context(), in.Caller, fermata.NewToken{Name: "laptop", Scopes: []fermata.Scope{fermata.ScopeAnswer, fermata.ScopeAsk}})
		w.ok(err)
		c, err := w.e.Authenticate(w.Context(), mine.Secret)
		w.ok(err)
		w.equal([]any{w.alice.MemberID, fermata.AssuranceChannel}, []any{c.MemberID, c.Assurance})
		for _, n := range []fermata.NewToken{
			{Name: "x", Scopes: []fermata.Scope{fermata.ScopeAdmin}}, {Name: "x", Member: "bob", Scopes: []fermata.Scope{fermata.ScopeAnswer}},
			{Name: "x", Kind: fermata.ActorAgent, Scopes: []fermata.Scope{fermata.ScopeAsk}},
		} {
			_, err := w.e.CreateToken(w.Context(), in.Caller, n)
			w.checkRefused(err, fermata.CodeForbidden)
		}
		_, err = w.e.CreateToken(w.Context(), c, fermata.NewToken{Name: "child", Scopes: []fermata.Scope{fermata.ScopeAnswer}})
		w.checkRefused(err, fermata.CodeForbidden)
		all, err := w.e.Tokens(w.Context(), in.Caller)
		w.ok(err)
		w.equal([]any{1, mine.ID}, []any{len(all), all[0].ID})
		_, err = w.e.RevokeToken(w.Context(), in.Caller, other.ID)
		w.checkRefused(err, fermata.CodeNotFound)
		_, err = w.e.RevokeToken(w.Context(), in.Caller, mine.ID)
		w.ok(err)
	})
}
