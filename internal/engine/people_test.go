package engine_test

import (
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/test/patience"
)

func (w *world) token(n fermata.NewToken) *fermata.Token {
	w.Helper()
	if n.Name == "" {
		n.Name = "t"
	}
	t, err := w.Engine.CreateToken(w.Context(), admin, n)
	w.OK(err)
	return t
}

func TestToken(t *testing.T) {
	each(t, func(w *world) {
		agent := w.token(fermata.NewToken{Scopes: []fermata.Scope{fermata.ScopeWork}})
		c, err := w.Engine.Authenticate(w.Context(), agent.Secret)
		w.OK(err)
		w.Equal([]any{fermata.ActorAgent, agent.ID, "default"}, []any{c.Kind, c.TokenID, c.WorkspaceID})
		person := w.token(fermata.NewToken{Member: "bob", Role: fermata.RoleAdmin, Groups: []string{"ops"}, Scopes: []fermata.Scope{fermata.ScopeAnswer}})
		c, err = w.Engine.Authenticate(w.Context(), person.Secret)
		w.OK(err)
		w.Equal([]any{fermata.ActorHuman, person.MemberID, "bob", fermata.RoleAdmin, []string{"ops"}}, []any{c.Kind, c.MemberID, c.Name, c.Role, c.Groups})
		all, err := w.Engine.Tokens(w.Context(), admin)
		w.OK(err)
		for _, token := range all {
			if token.Secret != "" || token.LastUsedAt == nil {
				w.Errorf("token: %+v", token)
			}
		}
		_, err = w.Engine.Tokens(w.Context(), w.alice)
		w.CheckRefused(err, fermata.CodeForbidden)
		for _, secret := range []string{"", "fmt_x", agent.Secret[:len(agent.Secret)-1], fermata.NewSecret(), " " + agent.Secret} {
			_, err := w.Engine.Authenticate(w.Context(), secret)
			w.CheckRefused(err, fermata.CodeUnauthenticated)
		}
	})
}

// TestATokenChangesNobody: role and groups in the request are those of a new person. For a member who exists, they
// must match the member's.
func TestATokenChangesNobody(t *testing.T) {
	each(t, func(w *world) {
		n := fermata.NewToken{Name: "x", Member: "bob", Role: fermata.RoleOperator, Groups: []string{"ops"}, Scopes: []fermata.Scope{fermata.ScopeRead}}
		w.token(n)
		w.token(n)
		for _, change := range []func(*fermata.NewToken){
			func(n *fermata.NewToken) { n.Role = fermata.RoleAdmin },
			func(n *fermata.NewToken) { n.Groups = []string{"ops", "finance"} },
			func(n *fermata.NewToken) { n.Member, n.Groups = "", nil },
			func(n *fermata.NewToken) { n.Member, n.Role = "", "" },
		} {
			other := n
			change(&other)
			_, err := w.Engine.CreateToken(w.Context(), admin, other)
			w.CheckRefused(err, fermata.CodeInvalidRequest)
		}
	})
}

func TestAgentsTokenNeverAnswers(t *testing.T) {
	each(t, func(w *world) {
		for _, scope := range []fermata.Scope{fermata.ScopeAnswer, fermata.ScopeAdmin} {
			_, err := w.Engine.CreateToken(w.Context(), admin, fermata.NewToken{Name: "x", Scopes: []fermata.Scope{scope}})
			w.CheckRefused(err, fermata.CodeInvalidRequest)
		}
		forged := w.agent
		forged.Scopes = fermata.Scopes
		_, q := w.createSuspended(format)
		_, err := w.Engine.Answer(w.Context(), forged, q.ID, fermata.Answer{Answer: "toml"})
		w.CheckRefused(err, fermata.CodeNotEligible)
		_, err = w.Engine.CreateToken(w.Context(), forged, fermata.NewToken{Name: "x", Scopes: []fermata.Scope{fermata.ScopeAsk}})
		w.CheckRefused(err, fermata.CodeForbidden)
		_, err = w.Engine.SetPolicy(w.Context(), forged, fermata.DefaultPolicy())
		w.CheckRefused(err, fermata.CodeForbidden)
		_, err = w.Engine.AddMember(w.Context(), forged, engine.NewMember{Handle: "x"})
		w.CheckRefused(err, fermata.CodeForbidden)
	})
}

func TestTokenExpires(t *testing.T) {
	each(t, func(w *world) {
		token := w.token(fermata.NewToken{Scopes: []fermata.Scope{fermata.ScopeAsk}, ExpiresIn: "1h"})
		w.Clock.Advance(time.Hour)
		_, err := w.Engine.Authenticate(w.Context(), token.Secret)
		w.CheckRefused(err, fermata.CodeUnauthenticated)
	})
}

func TestRevocationIsImmediate(t *testing.T) {
	each(t, func(w *world) {
		token := w.token(fermata.NewToken{Scopes: []fermata.Scope{fermata.ScopeAsk}})
		_, err := w.Engine.Authenticate(w.Context(), token.Secret)
		w.OK(err)
		for range 2 {
			got, err := w.Engine.RevokeToken(w.Context(), admin, token.ID[len(token.ID)-8:])
			w.OK(err)
			if got.RevokedAt == nil {
				w.Error("the token is not revoked")
			}
			_, err = w.Engine.Authenticate(w.Context(), token.Secret)
			w.CheckRefused(err, fermata.CodeUnauthenticated)
		}
	})
}

// TestRevocationMeetsALookUp: a caller that was looked up while the token was
// revoked is refused after the revocation.
func TestRevocationMeetsALookUp(t *testing.T) {
	each(t, func(w *world) {
		for range 20 {
			token := w.token(fermata.NewToken{Scopes: []fermata.Scope{fermata.ScopeAsk}})
			looked := make(chan struct{})
			go func() {
				defer close(looked)
				_, _ = w.Engine.Authenticate(w.Context(), token.Secret)
			}()
			_, err := w.Engine.RevokeToken(w.Context(), admin, token.ID)
			w.OK(err)
			patience.Receive(w, "the token is looked up", looked)
			_, err = w.Engine.Authenticate(w.Context(), token.Secret)
			w.CheckRefused(err, fermata.CodeUnauthenticated)
		}
	})
}

func TestFirstToken(t *testing.T) {
	each(t, func(w *world) {
		secret, err := w.Engine.CreateFirstToken(w.Context())
		w.OK(err)
		c, err := w.Engine.Authenticate(w.Context(), secret)
		w.OK(err)
		w.Equal([]any{fermata.RoleAdmin, true}, []any{c.Role, c.HasScope(fermata.ScopeAdmin)})
		secret, err = w.Engine.CreateFirstToken(w.Context())
		w.OK(err)
		w.Equal("", secret)
	})
}

func TestLocalCaller(t *testing.T) {
	each(t, func(w *world) {
		first, err := w.Engine.LocalCaller(w.Context())
		w.OK(err)
		again, err := engine.New(w.DB, engine.Options{}).LocalCaller(w.Context())
		w.OK(err)
		w.Equal(first, again)
		w.Equal(true, first.HasScope(fermata.ScopeAnswer))
	})
}

func TestMembers(t *testing.T) {
	each(t, func(w *world) {
		w.Person("bob", "ops")
		for _, n := range []engine.NewMember{{Handle: "bob"}, {}, {Handle: "x", Role: "owner"}} {
			_, err := w.Engine.AddMember(w.Context(), admin, n)
			w.CheckRefused(err, fermata.CodeInvalidRequest)
		}
		all, err := w.Engine.Members(w.Context(), w.alice)
		w.OK(err)
		w.Equal([]string{"alice", "bob"}, []string{all[0].Handle, all[1].Handle})
	})
}

// Members cannot give themselves the name of another member. Only an admin can give two people the same name.
func TestNobodyTakesTheNameOfAnother(t *testing.T) {
	each(t, func(w *world) {
		bob := w.Person("bob")
		w.Person("carol")
		_, err := w.Engine.ChangeMember(w.Context(), admin, "alice", fermata.MemberChange{Name: ptr("Alice Doe")})
		w.OK(err)
		name := func(c fermata.Caller, name string) error {
			_, err := w.Engine.ChangeMember(w.Context(), c, "bob", fermata.MemberChange{Name: &name})
			return err
		}
		for _, taken := range []string{
			"Alice Doe", " alice  DOE", "alice", "Alice", "аlice", "A\u200blice Doe", "\u202eAlice Doe", "A\u200blice D0e", "𝐀lice Doe",
			"policy", "System", "\u200b", "the policy", "policy.", "Fermata", "тimeout", "ALICE DOE", "AIice Doe", "ALlCE", "alice\u00a0doe",
			"Alice Doe\ufe0f", "Alice\u3164Doe", "Alice\u2800Doe", "Ꭺlice", "ＡＬＩＣＥ ＤＯＥ", "A.l.i.c.e", "carоI",
		} {
			if err := name(bob, taken); fermata.CodeOf(err) != fermata.CodeInvalidRequest {
				w.Errorf("bob calls himself %q: %v", taken, err)
			}
		}
		for _, free := range []string{"Bob Doe", "bob", "", "Alice D.", "Алексей Иванов", "陳大文", "Zoë O'Hara"} {
			w.OK(name(bob, free))
		}
		w.OK(name(admin, "Alice Doe"))
		w.OK(name(bob, "Alice Doe"))
	})
}

func TestPolicyIsSeenAtOnce(t *testing.T) {
	each(t, func(w *world) {
		task := w.task(fermata.NewTask{})
		for i := range 6 {
			allowed := i%2 == 1
			w.setPolicy(func(p *fermata.Policy) { p.AllowNever = allowed })
			q, err := w.Engine.Ask(w.Context(), w.agent, task.ID, fermata.Ask{Question: "a?", Timeout: fermata.Never})
			if !allowed {
				w.CheckRefused(err, fermata.CodePolicyViolation)
				continue
			}
			w.OK(err)
			_, err = w.Engine.CancelQuestion(w.Context(), w.agent, q.ID, "")
			w.OK(err)
		}
		_, err := w.Engine.SetPolicy(w.Context(), admin, fermata.Policy{MinTimeout: "x"})
		w.CheckRefused(err, fermata.CodeInvalidRequest)
		got, err := w.Engine.Policy(w.Context(), w.alice)
		w.OK(err)
		w.Equal(true, got.AllowNever)
	})
}

// A misspelt handle adds no member, and the role of a token is not ignored.
func TestATokenAddsAPersonOnlyWithARole(t *testing.T) {
	each(t, func(w *world) {
		n := fermata.NewToken{Name: "laptop", Member: "anne", Scopes: []fermata.Scope{fermata.ScopeAnswer}}
		_, err := w.Engine.CreateToken(w.Context(), admin, n)
		w.CheckRefused(err, fermata.CodeNotFound)
		members, err := w.Engine.Members(w.Context(), admin)
		w.OK(err)
		for _, m := range members {
			if m.Handle == "anne" {
				w.Error("a misspelt name was added")
			}
		}
		n.Role = fermata.RoleOperator
		_, err = w.Engine.CreateToken(w.Context(), admin, n)
		w.OK(err)
		n.Role = fermata.RoleViewer
		_, err = w.Engine.CreateToken(w.Context(), admin, n)
		w.CheckRefused(err, fermata.CodeInvalidRequest)
		n.Role = ""
		_, err = w.Engine.CreateToken(w.Context(), admin, n)
		w.OK(err)
	})
}

func TestAnAgentSeesNoAddressOfAPerson(t *testing.T) {
	each(t, func(w *world) {
		w.AddMember(engine.NewMember{
			Handle: "eve", Email: "eve@example.com", Projects: map[string]fermata.Role{"secret": fermata.RoleOperator},
		})
		for c, sees := range map[*fermata.Caller]bool{&w.alice: true, &w.agent: false} {
			members, err := w.Engine.Members(w.Context(), *c)
			w.OK(err)
			for _, m := range members {
				if m.Handle == "eve" && (m.Email != "" != sees || (m.Projects != nil) != sees) {
					w.Errorf("%s sees %+v", c.Kind, m)
				}
			}
		}
		_, err := w.Engine.Audit(w.Context(), w.agent, engine.AuditFilter{})
		w.CheckRefused(err, fermata.CodeForbidden)
		_, err = w.Engine.VerifyAudit(w.Context(), w.agent)
		w.CheckRefused(err, fermata.CodeForbidden)
	})
}
