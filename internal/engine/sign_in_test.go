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
	l, err := w.Engine.MakeLink(w.Context(), maker, handle)
	w.OK(err)
	in, err := w.Engine.SignInByLink(w.Context(), l.Secret, from)
	w.OK(err)
	return in
}

func TestLinkSignsInOnce(t *testing.T) {
	each(t, func(w *world) {
		in := w.signIn("alice", engine.Browser{UserAgent: "a\x00b\nc"})
		c, err := w.Engine.AuthenticateSession(w.Context(), in.Secret)
		w.OK(err)
		w.Equal([]any{w.alice.MemberID, "alice", fermata.RoleOperator, fermata.AssuranceSession, in.Session.ID, ""},
			[]any{c.MemberID, c.Name, c.Role, c.Assurance, c.SessionID, c.TokenID})
		w.Equal(true, c.HasScope(fermata.ScopeAnswer) && !c.HasScope(fermata.ScopeAdmin))
		l, err := w.Engine.MakeLink(w.Context(), admin, w.alice.MemberID)
		w.OK(err)
		_, err = w.Engine.SignInByLink(w.Context(), l.Secret, engine.Browser{})
		w.OK(err)
		for _, secret := range []string{l.Secret, fermata.NewSecretWithPrefix(fermata.LinkPrefix), fermata.NewSecret(), "", "fml_x", in.Secret} {
			_, err = w.Engine.SignInByLink(w.Context(), secret, engine.Browser{})
			w.CheckRefused(err, fermata.CodeUnauthenticated)
		}
		// The secret of a session is no token, and the secret of a token is no
		// session.
		_, err = w.Engine.Authenticate(w.Context(), in.Secret)
		w.CheckRefused(err, fermata.CodeUnauthenticated)
		token := w.token(fermata.NewToken{Member: "alice", Scopes: []fermata.Scope{fermata.ScopeAnswer}})
		_, err = w.Engine.AuthenticateSession(w.Context(), token.Secret)
		w.CheckRefused(err, fermata.CodeUnauthenticated)
		_, err = w.Engine.AuthenticateSession(w.Context(), l.Secret)
		w.CheckRefused(err, fermata.CodeUnauthenticated)
		sessions, err := w.Engine.Sessions(w.Context(), c)
		w.OK(err)
		w.Equal("abc", sessions[slices.IndexFunc(sessions, func(s *fermata.BrowserSession) bool { return s.Current })].UserAgent)
	})
}

func TestLinkExpires(t *testing.T) {
	each(t, func(w *world) {
		l, err := w.Engine.MakeLink(w.Context(), admin, "alice")
		w.OK(err)
		w.Clock.Advance(fermata.LinkLifetime)
		_, err = w.Engine.SignInByLink(w.Context(), l.Secret, engine.Browser{})
		w.CheckRefused(err, fermata.CodeUnauthenticated)
	})
}

// TestLinkIsUsedOnceAtTheSameTime: if two browsers open one link at the same
// time, only one is signed in.
func TestLinkIsUsedOnceAtTheSameTime(t *testing.T) {
	each(t, func(w *world) {
		for range 10 {
			l, err := w.Engine.MakeLink(w.Context(), admin, "alice")
			w.OK(err)
			done := make(chan error, 2)
			for range cap(done) {
				go func() {
					_, err := w.Engine.SignInByLink(w.Context(), l.Secret, engine.Browser{})
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
			l, err := w.Engine.MakeLink(w.Context(), by, "alice")
			w.OK(err)
			in, err := w.Engine.SignInByLink(w.Context(), l.Secret, engine.Browser{})
			w.OK(err)
			w.Equal(fermata.AssuranceChannel, in.Caller.Assurance)
		}
		bob := w.Person("bob")
		_, err := w.Engine.MakeLink(w.Context(), bob, "alice")
		w.CheckRefused(err, fermata.CodeForbidden)
		_, err = w.Engine.MakeLink(w.Context(), w.agent, "alice")
		w.CheckRefused(err, fermata.CodeForbidden)
		_, err = w.Engine.MakeLink(w.Context(), admin, "nobody")
		w.CheckRefused(err, fermata.CodeNotFound)
	})
}

func TestSessionEnds(t *testing.T) {
	each(t, func(w *world) {
		in := w.signIn("alice", engine.Browser{})
		known := func() fermata.Code {
			_, err := w.Engine.AuthenticateSession(w.Context(), in.Secret)
			return fermata.CodeOf(err)
		}
		forget := func() { w.Engine = engine.New(w.DB, engine.Options{}) }
		// Used every six days, the session lasts thirty days.
		for range 4 {
			w.Clock.Advance(6 * 24 * time.Hour)
			forget()
			w.Equal(fermata.Code(""), known())
		}
		w.Clock.Advance(6 * 24 * time.Hour)
		forget()
		w.Equal(fermata.CodeUnauthenticated, known())
		in = w.signIn("alice", engine.Browser{})
		w.Clock.Advance(fermata.MaxSessionIdle)
		forget()
		w.Equal(fermata.CodeUnauthenticated, known())
	})
}

func TestSignInIsFreshForHours(t *testing.T) {
	each(t, func(w *world) {
		in := w.signIn("alice", engine.Browser{})
		w.Clock.Advance(fermata.FreshSignInLifetime)
		w.Engine = engine.New(w.DB, engine.Options{})
		c, err := w.Engine.AuthenticateSession(w.Context(), in.Secret)
		w.OK(err)
		w.Equal(fermata.AssuranceChannel, c.Assurance)
	})
}

func TestSignInReplacesTheOldSession(t *testing.T) {
	each(t, func(w *world) {
		first := w.signIn("alice", engine.Browser{})
		_, err := w.Engine.AuthenticateSession(w.Context(), first.Secret)
		w.OK(err)
		second := w.signIn("alice", engine.Browser{Secret: first.Secret})
		w.Equal(false, first.Secret == second.Secret)
		_, err = w.Engine.AuthenticateSession(w.Context(), first.Secret)
		w.CheckRefused(err, fermata.CodeUnauthenticated)
		// A secret that another person put into the browser is never used.
		planted := fermata.NewSecretWithPrefix(fermata.SessionPrefix)
		third := w.signIn("alice", engine.Browser{Secret: planted})
		w.Equal(false, third.Secret == planted)
		_, err = w.Engine.AuthenticateSession(w.Context(), planted)
		w.CheckRefused(err, fermata.CodeUnauthenticated)
	})
}

func TestSignOut(t *testing.T) {
	each(t, func(w *world) {
		here, there := w.signIn("alice", engine.Browser{}), w.signIn("alice", engine.Browser{})
		bob := w.Person("bob")
		_, err := w.Engine.AuthenticateSession(w.Context(), there.Secret)
		w.OK(err)
		w.CheckRefused(w.Engine.EndSession(w.Context(), bob, there.Session.ID), fermata.CodeNotFound)
		w.CheckRefused(w.Engine.EndSession(w.Context(), w.agent, there.Session.ID), fermata.CodeForbidden)
		w.OK(w.Engine.EndSession(w.Context(), here.Caller, there.Session.ID[len(there.Session.ID)-8:]))
		_, err = w.Engine.AuthenticateSession(w.Context(), there.Secret)
		w.CheckRefused(err, fermata.CodeUnauthenticated)
		for range 2 {
			w.OK(w.Engine.SignOut(w.Context(), here.Caller))
		}
		_, err = w.Engine.AuthenticateSession(w.Context(), here.Secret)
		w.CheckRefused(err, fermata.CodeUnauthenticated)
		sessions, err := w.Engine.Sessions(w.Context(), w.alice)
		w.OK(err)
		w.Equal(0, len(sessions))
	})
}

func TestSessionsOfAMemberAreBounded(t *testing.T) {
	each(t, func(w *world) {
		first := w.signIn("alice", engine.Browser{})
		w.Clock.Advance(time.Second)
		for range 50 {
			w.signIn("alice", engine.Browser{})
		}
		_, err := w.Engine.AuthenticateSession(w.Context(), first.Secret)
		w.CheckRefused(err, fermata.CodeUnauthenticated)
		sessions, err := w.Engine.Sessions(w.Context(), w.alice)
		w.OK(err)
		w.Equal(50, len(sessions))
	})
}

func TestDisabledMemberIsOut(t *testing.T) {
	each(t, func(w *world) {
		in := w.signIn("alice", engine.Browser{})
		token := w.token(fermata.NewToken{Member: "alice", Scopes: []fermata.Scope{fermata.ScopeAnswer}})
		link, err := w.Engine.MakeLink(w.Context(), admin, "alice")
		w.OK(err)
		for _, secret := range []string{in.Secret, token.Secret} {
			w.Equal(fermata.Code(""), w.authCode(secret))
		}
		_, q := w.createSuspended(format)
		_, err = w.Engine.ChangeMember(w.Context(), admin, "alice", fermata.MemberChange{Disabled: ptr(true)})
		w.OK(err)
		for _, secret := range []string{in.Secret, token.Secret} {
			w.Equal(fermata.CodeUnauthenticated, w.authCode(secret))
		}
		_, err = w.Engine.SignInByLink(w.Context(), link.Secret, engine.Browser{})
		w.CheckRefused(err, fermata.CodeUnauthenticated)
		_, err = w.Engine.MakeLink(w.Context(), admin, "alice")
		w.CheckRefused(err, fermata.CodePolicyViolation)
		w.checkQuestion(q.ID, fermata.Pending)
		// The old secrets stay invalid after the member is enabled again.
		_, err = w.Engine.ChangeMember(w.Context(), admin, "alice", fermata.MemberChange{Disabled: ptr(false)})
		w.OK(err)
		for _, secret := range []string{in.Secret, token.Secret} {
			w.Equal(fermata.CodeUnauthenticated, w.authCode(secret))
		}
		w.signIn("alice", engine.Browser{})
	})
}

// authCode returns "" if a secret is a valid token or session.
func (w *world) authCode(secret string) fermata.Code {
	_, err := w.Engine.AuthenticateSession(w.Context(), secret)
	if err != nil {
		_, err = w.Engine.Authenticate(w.Context(), secret)
	}
	return fermata.CodeOf(err)
}

// TestDisablingMeetsALookUp: a caller that was looked up while the member was
// disabled is refused after that.
func TestDisablingMeetsALookUp(t *testing.T) {
	each(t, func(w *world) {
		for range 20 {
			_, err := w.Engine.ChangeMember(w.Context(), admin, "alice", fermata.MemberChange{Disabled: ptr(false)})
			w.OK(err)
			in := w.signIn("alice", engine.Browser{})
			looked := make(chan struct{})
			go func() {
				defer close(looked)
				_, _ = w.Engine.AuthenticateSession(w.Context(), in.Secret)
			}()
			_, err = w.Engine.ChangeMember(w.Context(), admin, "alice", fermata.MemberChange{Disabled: ptr(true)})
			w.OK(err)
			patience.Receive(w, "the session is looked up", looked)
			_, err = w.Engine.AuthenticateSession(w.Context(), in.Secret)
			w.CheckRefused(err, fermata.CodeUnauthenticated)
		}
	})
}

func TestLastAdminStays(t *testing.T) {
	each(t, func(w *world) {
		for _, handle := range []string{"root", "second"} {
			w.AddMember(engine.NewMember{Handle: handle, Role: fermata.RoleAdmin})
		}
		demote, disable := fermata.MemberChange{Role: ptr(fermata.RoleOperator)}, fermata.MemberChange{Disabled: ptr(true)}
		_, err := w.Engine.ChangeMember(w.Context(), admin, "second", disable)
		w.OK(err)
		for _, ch := range []fermata.MemberChange{demote, disable} {
			_, err := w.Engine.ChangeMember(w.Context(), admin, "root", ch)
			w.CheckRefused(err, fermata.CodePolicyViolation)
		}
		_, err = w.Engine.ChangeMember(w.Context(), admin, "second", fermata.MemberChange{Disabled: ptr(false)})
		w.OK(err)
		_, err = w.Engine.ChangeMember(w.Context(), admin, "root", demote)
		w.OK(err)
	})
}

func TestChangeMember(t *testing.T) {
	each(t, func(w *world) {
		w.Person("bob")
		m, err := w.Engine.ChangeMember(w.Context(), admin, "alice", fermata.MemberChange{
			Name: ptr(" Alice A. "), Email: ptr("Alice@Example.com"), Role: ptr(fermata.RoleViewer), Groups: []string{"ops", "dev", "ops"},
			Projects: map[string]fermata.Role{"web": fermata.RoleOperator},
		})
		w.OK(err)
		w.Equal([]any{"Alice A.", "alice@example.com", fermata.RoleViewer, []string{"dev", "ops"}}, []any{m.Name, m.Email, m.Role, m.Groups})
		all, err := w.Engine.Members(w.Context(), w.alice)
		w.OK(err)
		w.Equal(m, all[0])
		for _, ch := range []fermata.MemberChange{
			{Email: ptr("nonsense")}, {Email: ptr("a@b.example\nBcc: c@d.example")}, {Email: ptr("A <a@b.example>")}, {Role: ptr(fermata.Role("king"))},
			{Projects: map[string]fermata.Role{"web": "king"}}, {Projects: map[string]fermata.Role{"web": fermata.RoleAdmin}},
			{Projects: map[string]fermata.Role{"w b": fermata.RoleViewer}}, {Groups: []string{""}}, {Groups: []string{"a,b"}},
		} {
			_, err := w.Engine.ChangeMember(w.Context(), admin, "alice", ch)
			w.CheckRefused(err, fermata.CodeInvalidRequest)
		}
		_, err = w.Engine.ChangeMember(w.Context(), admin, "bob", fermata.MemberChange{Email: ptr("alice@example.com")})
		w.CheckRefused(err, fermata.CodeInvalidRequest)
		// Members may change their own name, and nothing else of themselves.
		_, err = w.Engine.ChangeMember(w.Context(), w.alice, "alice", fermata.MemberChange{Name: ptr("Al")})
		w.OK(err)
		for _, ch := range []fermata.MemberChange{{Role: ptr(fermata.RoleAdmin)}, {Email: ptr("x@example.com")}, {Groups: []string{"x"}}} {
			_, err = w.Engine.ChangeMember(w.Context(), w.alice, "alice", ch)
			w.CheckRefused(err, fermata.CodeForbidden)
		}
		_, err = w.Engine.ChangeMember(w.Context(), w.alice, "bob", fermata.MemberChange{Name: ptr("B")})
		w.CheckRefused(err, fermata.CodeForbidden)
	})
}

// TestTokenFallsWithTheRole: a token has no more rights than its member has at
// present.
func TestTokenFallsWithTheRole(t *testing.T) {
	each(t, func(w *world) {
		for _, handle := range []string{"root", "boss"} {
			w.AddMember(engine.NewMember{Handle: handle, Role: fermata.RoleAdmin})
		}
		token := w.token(fermata.NewToken{Member: "boss", Scopes: []fermata.Scope{fermata.ScopeAdmin}})
		for role, want := range map[fermata.Role][]bool{
			fermata.RoleAdmin: {true, true, true}, fermata.RoleResponder: {false, true, true}, fermata.RoleViewer: {false, false, true},
		} {
			_, err := w.Engine.ChangeMember(w.Context(), admin, "boss", fermata.MemberChange{Role: &role})
			w.OK(err)
			c, err := w.Engine.Authenticate(w.Context(), token.Secret)
			w.OK(err)
			w.Equal(want, []bool{c.HasScope(fermata.ScopeAdmin), c.HasScope(fermata.ScopeAnswer), c.HasScope(fermata.ScopeRead)})
		}
	})
}

func TestInvitation(t *testing.T) {
	each(t, func(w *world) {
		l, err := w.Engine.Invite(w.Context(), admin, fermata.NewInvitation{
			Email: "Bob.B@Example.com", Name: "Bob", Role: fermata.RoleOperator, Groups: []string{"ops"}, Projects: map[string]fermata.Role{"web": fermata.RoleViewer},
		})
		w.OK(err)
		open, err := w.Engine.Invitations(w.Context(), admin)
		w.OK(err)
		w.Equal([]any{1, "bob.b", ""}, []any{len(open), open[0].Handle, open[0].URL})
		for _, n := range []fermata.NewInvitation{{Email: "bob.b@example.com"}, {Handle: "bob.b"}, {Handle: "alice"}, {}, {Handle: "x y"}, {Handle: "x", Role: "king"}, {Email: "x"}} {
			_, err := w.Engine.Invite(w.Context(), admin, n)
			w.CheckRefused(err, fermata.CodeInvalidRequest)
		}
		// The handle is taken before the invitation is accepted.
		w.Person("bob.b")
		in, err := w.Engine.SignInByLink(w.Context(), l.Secret, engine.Browser{})
		w.OK(err)
		w.Equal([]any{"bob.b-2", fermata.RoleOperator, fermata.RoleViewer, []string{"ops"}}, []any{in.Caller.Name, in.Caller.Role, in.Caller.RoleIn("web"), in.Caller.Groups})
		_, err = w.Engine.SignInByLink(w.Context(), l.Secret, engine.Browser{})
		w.CheckRefused(err, fermata.CodeUnauthenticated)
		open, err = w.Engine.Invitations(w.Context(), admin)
		w.OK(err)
		w.Equal(0, len(open))
		for _, c := range []fermata.Caller{w.alice, w.agent} {
			_, err = w.Engine.Invite(w.Context(), c, fermata.NewInvitation{Handle: "x"})
			w.CheckRefused(err, fermata.CodeForbidden)
			_, err = w.Engine.Invitations(w.Context(), c)
			w.CheckRefused(err, fermata.CodeForbidden)
			w.CheckRefused(w.Engine.Uninvite(w.Context(), c, l.ID), fermata.CodeForbidden)
		}
	})
}

func TestWithdrawnInvitation(t *testing.T) {
	each(t, func(w *world) {
		l, err := w.Engine.Invite(w.Context(), admin, fermata.NewInvitation{Handle: "bob"})
		w.OK(err)
		w.OK(w.Engine.Uninvite(w.Context(), admin, l.ID))
		w.CheckRefused(w.Engine.Uninvite(w.Context(), admin, l.ID), fermata.CodeNotFound)
		_, err = w.Engine.SignInByLink(w.Context(), l.Secret, engine.Browser{})
		w.CheckRefused(err, fermata.CodeUnauthenticated)
		// A link that is no invitation cannot be withdrawn as one.
		other, err := w.Engine.MakeLink(w.Context(), admin, "alice")
		w.OK(err)
		w.CheckRefused(w.Engine.Uninvite(w.Context(), admin, other.ID), fermata.CodeNotFound)
	})
}

func TestGroups(t *testing.T) {
	each(t, func(w *world) {
		w.Person("bob", "named")
		g, err := w.Engine.AddGroup(w.Context(), admin, fermata.NewGroup{Name: "ops", Description: "on call", Members: []string{"bob", "alice"}})
		w.OK(err)
		w.Equal([]string{"alice", "bob"}, g.Members)
		list := func() map[string][]string {
			all, err := w.Engine.Groups(w.Context(), w.alice)
			w.OK(err)
			out := map[string][]string{}
			for _, g := range all {
				out[g.Name] = g.Members
			}
			return out
		}
		w.Equal(map[string][]string{"named": {"bob"}, "ops": {"alice", "bob"}}, list())
		_, err = w.Engine.ChangeGroup(w.Context(), admin, "ops", fermata.GroupChange{Name: ptr("operations"), Members: []string{"alice"}})
		w.OK(err)
		w.Equal(map[string][]string{"named": {"bob"}, "operations": {"alice"}}, list())
		_, err = w.Engine.ChangeGroup(w.Context(), admin, "named", fermata.GroupChange{Description: ptr("d")})
		w.OK(err)
		w.Equal(map[string][]string{"named": {"bob"}, "operations": {"alice"}}, list())
		for _, n := range []fermata.NewGroup{{Name: "named"}, {Name: ""}, {Name: "a,b"}, {Name: "x", Members: []string{"nobody"}}} {
			_, err := w.Engine.AddGroup(w.Context(), admin, n)
			w.CheckRefused(err, fermata.CodeInvalidRequest)
		}
		_, err = w.Engine.ChangeGroup(w.Context(), admin, "named", fermata.GroupChange{Name: ptr("operations")})
		w.CheckRefused(err, fermata.CodeInvalidRequest)
		_, err = w.Engine.ChangeGroup(w.Context(), w.alice, "named", fermata.GroupChange{})
		w.CheckRefused(err, fermata.CodeForbidden)
		w.OK(w.Engine.DeleteGroup(w.Context(), admin, "named"))
		w.CheckRefused(w.Engine.DeleteGroup(w.Context(), admin, "named"), fermata.CodeNotFound)
		w.Equal(map[string][]string{"operations": {"alice"}}, list())
		_, err = w.Engine.ChangeGroup(w.Context(), admin, "operations", fermata.GroupChange{Members: []string{}})
		w.OK(err)
		w.Equal(map[string][]string{"operations": {}}, list())
	})
}

func TestTokensOfOnesOwn(t *testing.T) {
	each(t, func(w *world) {
		in := w.signIn("alice", engine.Browser{})
		other := w.token(fermata.NewToken{Member: "bob", Role: fermata.RoleResponder, Scopes: []fermata.Scope{fermata.ScopeAnswer}})
		mine, err := w.Engine.CreateToken(w.Context(), in.Caller, fermata.NewToken{Name: "laptop", Scopes: []fermata.Scope{fermata.ScopeAnswer, fermata.ScopeAsk}})
		w.OK(err)
		c, err := w.Engine.Authenticate(w.Context(), mine.Secret)
		w.OK(err)
		w.Equal([]any{w.alice.MemberID, fermata.AssuranceChannel}, []any{c.MemberID, c.Assurance})
		for _, n := range []fermata.NewToken{
			{Name: "x", Scopes: []fermata.Scope{fermata.ScopeAdmin}}, {Name: "x", Member: "bob", Scopes: []fermata.Scope{fermata.ScopeAnswer}},
			{Name: "x", Kind: fermata.ActorAgent, Scopes: []fermata.Scope{fermata.ScopeAsk}},
		} {
			_, err := w.Engine.CreateToken(w.Context(), in.Caller, n)
			w.CheckRefused(err, fermata.CodeForbidden)
		}
		_, err = w.Engine.CreateToken(w.Context(), c, fermata.NewToken{Name: "child", Scopes: []fermata.Scope{fermata.ScopeAnswer}})
		w.CheckRefused(err, fermata.CodeForbidden)
		all, err := w.Engine.Tokens(w.Context(), in.Caller)
		w.OK(err)
		w.Equal([]any{1, mine.ID}, []any{len(all), all[0].ID})
		_, err = w.Engine.RevokeToken(w.Context(), in.Caller, other.ID)
		w.CheckRefused(err, fermata.CodeNotFound)
		_, err = w.Engine.RevokeToken(w.Context(), in.Caller, mine.ID)
		w.OK(err)
	})
}
