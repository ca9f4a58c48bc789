package fermata

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"time"
)

// TokenPrefix begins every token, so that scanners for secrets find it.
const TokenPrefix = "fmt_"

// LinkPrefix and SessionPrefix begin the secrets of sign-in links and of
// browser sessions, so that none is taken for another.
const (
	LinkPrefix    = "fml_"
	SessionPrefix = "fms_"
)

const tokenAlphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// tokenRandom and tokenSum are the lengths of a token's two parts.
const (
	tokenRandom = 32
	tokenSum    = 6
)

// Token is a right to call the API. The secret itself is shown once, when the
// token is made; only its hash is stored.
type Token struct {
	ID          string `json:"id"`
	WorkspaceID string `json:"workspace_id"`
	Name        string `json:"name"`
	// Kind is human for a person's token, agent for an agent's or a worker's.
	Kind       ActorKind  `json:"kind" enum:"human,agent"`
	MemberID   string     `json:"member_id,omitempty"`
	Member     string     `json:"member,omitempty" doc:"the member's handle"`
	Scopes     []Scope    `json:"scopes"`
	Projects   []string   `json:"projects,omitempty" doc:"of an agent's token: what it sees and works in; absent: every project"`
	CreatedAt  time.Time  `json:"created_at"`
	ExpiresAt  *time.Time `json:"expires_at,omitempty"`
	LastUsedAt *time.Time `json:"last_used_at,omitempty"`
	RevokedAt  *time.Time `json:"revoked_at,omitempty"`
	// Secret is set only in the reply that makes the token.
	Secret string `json:"secret,omitempty"`

	Hash string `json:"-"`
}

// IsEnded reports whether the token was revoked, or its time is over.
func (t *Token) IsEnded(now time.Time) bool {
	return t.RevokedAt != nil || t.ExpiresAt != nil && !now.Before(*t.ExpiresAt)
}

// NewToken is a request to make a token.
type NewToken struct {
	Name   string    `json:"name" minLength:"1" maxLength:"100"`
	Kind   ActorKind `json:"kind,omitempty" enum:"human,agent" doc:"default agent"`
	Member string    `json:"member,omitempty" maxLength:"64" doc:"of a person's token: the member's handle; made when it does not exist"`
	Role   Role      `json:"role,omitempty" enum:"viewer,responder,operator,admin" doc:"of a new member; default responder"`
	Groups []string  `json:"groups,omitempty" doc:"of a new member"`
	Scopes []Scope   `json:"scopes" minItems:"1"`
	// Projects are the only projects that an agent with the token sees.
	Projects []string `json:"projects,omitempty" maxItems:"200" doc:"of an agent's token: the projects that it sees and works in; left out: every project"`
	// ExpiresIn is how long it is good for; empty or never: until revoked.
	ExpiresIn Timeout `json:"expires_in,omitempty"`
}

// Check reports what is wrong with the request. An agent's token can neither
// answer nor administer.
func (n NewToken) Check() error {
	var ps problems
	ps.text("name", n.Name, 1, 100)
	ps.name("member", n.Member)
	ps.oneOf("kind", string(n.Kind), []string{string(ActorHuman), string(ActorAgent)})
	ps.oneOf("role", string(n.Role), []string{"viewer", "responder", "operator", "admin"})
	if len(n.Scopes) == 0 {
		ps.add("scopes", "must name at least one of ask, answer, work, read, admin")
	}
	for i, s := range n.Scopes {
		at := fmt.Sprintf("scopes[%d]", i)
		switch {
		case !slices.Contains(Scopes, s):
			ps.add(at, "is %q, must be one of ask, answer, work, read, admin", s)
		case n.Kind != ActorHuman && (s == ScopeAnswer || s == ScopeAdmin):
			ps.add(at, "an agent's token can never have the scope %s", s)
		}
	}
	if n.Kind == ActorHuman && n.Member == "" {
		ps.add("member", "a person's token names the person")
	}
	if n.Kind != ActorHuman {
		ps.personsOnly("member", n.Member != "")
		ps.personsOnly("role", n.Role != "")
		ps.personsOnly("groups", len(n.Groups) > 0)
	}
	ps.tokenProjects(n)
	if n.ExpiresIn != "" && n.ExpiresIn != Never {
		if _, err := n.ExpiresIn.Duration(); err != nil {
			ps.add("expires_in", "%s", err)
		}
	}
	if len(ps) == 0 {
		return nil
	}
	refusal := Invalid(ps...)
	if n.Kind != ActorHuman && (slices.Contains(n.Scopes, ScopeAnswer) || slices.Contains(n.Scopes, ScopeAdmin)) {
		return refusal.WithHint("for a person's token name the person: fermata token create %q --member HANDLE", n.Name)
	}
	return refusal
}

// personsOnly refuses what is given with an agent's token.
func (ps *problems) personsOnly(field string, given bool) {
	if given {
		ps.add(field, "goes with a person's token only: name the member")
	}
}

// tokenProjects checks the projects that bind a token.
func (ps *problems) tokenProjects(n NewToken) {
	if n.Kind == ActorHuman && len(n.Projects) > 0 {
		ps.add("projects", "goes with an agent's token only: a person sees the projects in which they have a role")
	}
	if len(n.Projects) > MaxProjectRoles {
		ps.add("projects", "has %d names, may have at most %d", len(n.Projects), MaxProjectRoles)
	}
	for i, project := range n.Projects {
		if project == "" {
			ps.add(elementName("projects", i), "must not be empty")
		}
		ps.name(elementName("projects", i), project)
	}
}

// NewSecret returns a new secret: the prefix, 190 random bits, and a checksum
// by which a typo or a cut-off copy is found without a look-up.
func NewSecret() string { return NewSecretOf(TokenPrefix) }

// NewSecretOf returns a new secret with a prefix of its kind.
func NewSecretOf(prefix string) string {
	random := make([]byte, tokenRandom)
	for i := range random {
		random[i] = tokenAlphabet[randomIndex(len(tokenAlphabet))]
	}
	return prefix + string(random) + checksum(prefix+string(random))
}

// randomIndex returns a number below n without bias.
func randomIndex(n int) int {
	var b [1]byte
	for {
		if _, err := rand.Read(b[:]); err != nil {
			panic("fermata: no random numbers: " + err.Error())
		}
		if int(b[0]) < 256-256%n {
			return int(b[0]) % n
		}
	}
}

func checksum(content string) string {
	sum := crc32.ChecksumIEEE([]byte(content))
	out := make([]byte, tokenSum)
	for i := tokenSum - 1; i >= 0; i-- {
		out[i] = tokenAlphabet[sum%62]
		sum /= 62
	}
	return string(out)
}

// CheckSecret reports whether s is whole: prefix, length and checksum.
func CheckSecret(s string) error {
	if !WholeSecret(TokenPrefix, s) {
		return Errorf(CodeUnauthenticated, "the token is damaged or was not copied whole").
			WithHint("a token begins with %s and has %d characters", TokenPrefix, len(TokenPrefix)+tokenRandom+tokenSum)
	}
	return nil
}

// WholeSecret reports whether s is a whole secret of the prefix's kind.
func WholeSecret(prefix, s string) bool {
	body, ok := strings.CutPrefix(s, prefix)
	return ok && len(body) == tokenRandom+tokenSum && checksum(prefix+body[:tokenRandom]) == body[tokenRandom:]
}

// HashSecret returns what is stored of a secret. A fast hash is enough: the
// secret is random, so it cannot be guessed.
func HashSecret(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
