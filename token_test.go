package fermata_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fermata-hq/fermata"
)

func TestSecretChecksumFindsEveryChange(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		secret := fermata.NewSecret()
		if err := fermata.CheckSecret(secret); err != nil {
			t.Fatalf("%s: %v", secret, err)
		}
		i := rapid.IntRange(0, len(secret)-1).Draw(t, "at")
		other := rapid.SampledFrom([]byte("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_- \x00\xff")).Draw(t, "to")
		if other == secret[i] {
			return
		}
		changed := []byte(secret)
		changed[i] = other
		for _, s := range []string{string(changed), secret[:i] + secret[i+1:], secret[:i] + string(other) + secret[i:]} {
			if s == secret {
				continue
			}
			if fermata.CodeOf(fermata.CheckSecret(s)) != fermata.CodeUnauthenticated {
				t.Fatalf("%q was made %q and not found", secret, s)
			}
		}
	})
}

func TestSecretIsRefusedInPieces(t *testing.T) {
	t.Parallel()
	secret := fermata.NewSecret()
	for i := range secret {
		if fermata.CheckSecret(secret[:i]) == nil {
			t.Errorf("the first %d characters are enough", i)
		}
	}
	for _, s := range []string{" " + secret, secret + "\n", strings.ToUpper(secret), "Bearer " + secret} {
		if fermata.CheckSecret(s) == nil {
			t.Errorf("%q is taken", s)
		}
	}
	if a, b := fermata.HashSecret(secret), fermata.HashSecret(fermata.NewSecret()); a == b || len(a) != 64 || strings.Contains(a, secret) {
		t.Errorf("hashes %s and %s", a, b)
	}
}

func TestTokenRequest(t *testing.T) {
	t.Parallel()
	all := fermata.Scopes
	tests := []struct {
		name   string
		token  fermata.NewToken
		fields []string // nil: no problem
	}{
		{"an agent's", fermata.NewToken{Name: "ci", Scopes: []fermata.Scope{"ask", "work", "read"}}, nil},
		{"an agent's, said so", fermata.NewToken{Name: "ci", Kind: "agent", Scopes: []fermata.Scope{"ask"}, ExpiresIn: "90d"}, nil},
		{"a person's", fermata.NewToken{Name: "ann", Kind: "human", Member: "ann", Role: "admin", Scopes: all, ExpiresIn: "never"}, nil},
		{"an agent that answers", fermata.NewToken{Name: "ci", Kind: "agent", Scopes: all}, []string{"scopes[1]", "scopes[4]"}},
		{"by default an agent that answers", fermata.NewToken{Name: "ci", Scopes: []fermata.Scope{"answer"}}, []string{"scopes[0]"}},
		{"by default an agent that administers", fermata.NewToken{Name: "ci", Scopes: []fermata.Scope{"admin"}}, []string{"scopes[0]"}},
		{"a made-up kind that answers", fermata.NewToken{Name: "ci", Kind: "system", Scopes: []fermata.Scope{"answer"}}, []string{"kind", "scopes[0]"}},
		{"an agent that is a person", fermata.NewToken{Name: "ci", Member: "ann", Scopes: []fermata.Scope{"ask"}}, []string{"member"}},
		{"a person who is nobody", fermata.NewToken{Name: "ann", Kind: "human", Scopes: []fermata.Scope{"ask"}}, []string{"member"}},
		{"everything", fermata.NewToken{Member: "a b", Role: "king", ExpiresIn: "soon"}, []string{"name", "member", "role", "scopes", "member", "role", "expires_in"}},
		{"an agent with a role", fermata.NewToken{Name: "ci", Role: "admin", Groups: []string{"ops"}, Scopes: []fermata.Scope{"ask"}}, []string{"role", "groups"}},
		{"a made-up scope", fermata.NewToken{Name: "ci", Scopes: []fermata.Scope{"Ask", ""}}, []string{"scopes[0]", "scopes[1]"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			err := tc.token.Check()
			if tc.fields == nil {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantError(t, err, fermata.CodeInvalidRequest, tc.fields...)
		})
	}
}

func TestCallerHas(t *testing.T) {
	t.Parallel()
	tests := []struct {
		kind   fermata.ActorKind
		scopes []fermata.Scope
		want   string // of ask, answer, work, read, admin
	}{
		{"human", nil, ""},
		{"human", []fermata.Scope{"ask"}, "ask read"},
		{"human", []fermata.Scope{"answer"}, "answer read"},
		{"human", []fermata.Scope{"admin"}, "ask answer work read admin"},
		{"agent", []fermata.Scope{"ask", "work"}, "ask work read"},
		{"agent", []fermata.Scope{"answer"}, "read"},
		{"agent", []fermata.Scope{"admin"}, "read"},
		{"agent", fermata.Scopes, "ask work read"},
	}
	for _, tc := range tests {
		var has []string
		for _, s := range fermata.Scopes {
			if (fermata.Caller{Kind: tc.kind, Scopes: tc.scopes}).HasScope(s) {
				has = append(has, string(s))
			}
		}
		if got := strings.Join(has, " "); got != tc.want {
			t.Errorf("%s with %v has %q, want %q", tc.kind, tc.scopes, got, tc.want)
		}
	}
}

func TestRoles(t *testing.T) {
	t.Parallel()
	for i, r := range fermata.Roles {
		for j, least := range fermata.Roles {
			if r.AtLeast(least) != (i >= j) {
				t.Errorf("%s is at least %s: %v", r, least, i < j)
			}
		}
		if fermata.Role("king").AtLeast(r) || fermata.Role("").AtLeast(r) {
			t.Errorf("an unknown role is at least %s", r)
		}
	}
}
