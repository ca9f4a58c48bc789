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

// TokenPrefix is the prefix of every token. Secret scanners find tokens by it.
const TokenPrefix = "fmt_"

// LinkPrefix and SessionPrefix are the prefixes of the secrets of sign-in links
// and browser sessions. They differ, so that no secret is mistaken for one of
// another kind.
const (
	LinkPrefix    = "fml_"
	SessionPrefix = "fms_"
)

const tokenAlphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// tokenRandomLength and tokenSumLength are the lengths of a token's two parts.
const (
	tokenRandomLength = 32
	tokenSumLength    = 6
)

// Token is the right to call the API. The secret is shown once, when the token
// is created. Only its hash is stored.
type Token struct {
	ID          string `json:"id"`
	WorkspaceID string `json:"workspace_id"`
	Name        string `json:"name"`
	// Kind is human for a person's token, and agent for the token of an agent or a worker.
	Kind       ActorKind  `json:"kind" enum:"human,agent"`
	MemberID   string     `json:"member_id,omitempty"`
	Member     string     `json:"member,omitempty" doc:"the member's handle"`
	Scopes     []Scope    `json:"scopes"`
	Projects   []string   `json:"projects,omitempty" doc:"of an agent's token: what it sees and works in; absent: every project"`
	CreatedAt  time.Time  `json:"created_at"`
	ExpiresAt  *time.Time `json:"expires_at,omitempty"`
	LastUsedAt *time.Time `json:"last_used_at,omitempty"`
	RevokedAt  *time.Time `json:"revoked_at,omitempty"`
	// Secret is set only in the response that creates the token.
	Secret string `json:"secret,omitempty"`

	Hash string `json:"-"`
}

// IsEnded reports whether the token was revoked or has expired.
func (t *Token) IsEnded(now time.Time) bool {
	return t.RevokedAt != nil || t.ExpiresAt != nil && !now.Before(*t.ExpiresAt)
}

// NewToken is a request to create a token.
type NewToken struct {
	Name   string    `json:"name" minLength:"1" maxLength:"100"`
	Kind   ActorKind `json:"kind,omitempty" enum:"human,agent" doc:"default agent"`
	Member string    `json:"member,omitempty" maxLength:"64" doc:"of a person's token: the member's handle; made when it does not exist"`
	Role   Role      `json:"role,omitempty" enum:"viewer,responder,operator,admin" doc:"of a new member; default responder"`
	Groups []string  `json:"groups,omitempty" doc:"of a new member"`
	Scopes []Scope   `json:"scopes" minItems:"1"`
	// Projects are the only projects that an agent with the token sees.
	Projects []string `json:"projects,omitempty" maxItems:"200" doc:"of an agent's token: the projects that it sees and works in; left out: every project"`
	// ExpiresIn is the time for which the token is valid. If it is empty or
	// never, the token is valid until it is revoked.
	ExpiresIn Timeout `json:"expires_in,omitempty"`
}

// Check returns an error that lists every problem of the request. An agent's
// token can never have the scopes answer and admin.
func (n NewToken) Check() error {
	var ps problems
	ps.checkText("name", n.Name, 1, 100)
	ps.checkName("member", n.Member)
	ps.checkOneOf("kind", string(n.Kind), []string{string(ActorHuman), string(ActorAgent)})
	ps.checkOneOf("role", string(n.Role), []string{"viewer", "responder", "operator", "admin"})
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
		ps.refuseForAgents("member", n.Member != "")
		ps.refuseForAgents("role", n.Role != "")
		ps.refuseForAgents("groups", len(n.Groups) > 0)
	}
	ps.checkTokenProjects(n)
	if n.ExpiresIn != "" && n.ExpiresIn != Never {
		if _, err := n.ExpiresIn.Duration(); err != nil {
			ps.addError("expires_in", err)
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

// refuseForAgents refuses a field that only a person's token may have.
func (ps *problems) refuseForAgents(field string, given bool) {
	if given {
		ps.add(field, "is allowed only for a person's token: name the member")
	}
}

// checkTokenProjects checks the projects that limit a token.
func (ps *problems) checkTokenProjects(n NewToken) {
	if n.Kind == ActorHuman && len(n.Projects) > 0 {
		ps.add("projects", "is allowed only for an agent's token: a person sees the projects in which they have a role")
	}
	if len(n.Projects) > MaxProjectRoles {
		ps.add("projects", "has %d names, may have at most %d", len(n.Projects), MaxProjectRoles)
	}
	for i, project := range n.Projects {
		if project == "" {
			ps.add(elementName("projects", i), "must not be empty")
		}
		ps.checkName(elementName("projects", i), project)
	}
}

// NewSecret returns a new token secret: the prefix, 190 random bits, and a
// checksum. The checksum detects a typo or an incomplete copy without a
// look-up.
func NewSecret() string { return NewSecretWithPrefix(TokenPrefix) }

// NewSecretWithPrefix returns a new secret with the given prefix.
func NewSecretWithPrefix(prefix string) string {
	random := make([]byte, tokenRandomLength)
	for i := range random {
		random[i] = tokenAlphabet[randomIndex(len(tokenAlphabet))]
	}
	return prefix + string(random) + checksum(prefix+string(random))
}

// randomIndex returns a random number from 0 to n-1 without bias.
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
	out := make([]byte, tokenSumLength)
	for i := tokenSumLength - 1; i >= 0; i-- {
		out[i] = tokenAlphabet[sum%62]
		sum /= 62
	}
	return string(out)
}

// CheckSecret returns an error unless s is a complete token secret: prefix,
// length and checksum.
func CheckSecret(s string) error {
	if !IsWholeSecret(TokenPrefix, s) {
		return Errorf(CodeUnauthenticated, "the token is damaged or was not copied whole").
			WithHint("a token begins with %s and has %d characters", TokenPrefix, len(TokenPrefix)+tokenRandomLength+tokenSumLength)
	}
	return nil
}

// IsWholeSecret reports whether s is a complete secret with the prefix.
func IsWholeSecret(prefix, s string) bool {
	body, ok := strings.CutPrefix(s, prefix)
	return ok && len(body) == tokenRandomLength+tokenSumLength && checksum(prefix+body[:tokenRandomLength]) == body[tokenRandomLength:]
}

// HashSecret returns the hash of a secret that is stored. A fast hash is
// enough, because the secret is random and cannot be guessed.
func HashSecret(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
