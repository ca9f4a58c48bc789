package fermata

import (
	"slices"
	"strings"
	"time"
)

// Lifetimes of sign-ins.
const (
	// SessionLifetime is the maximum age of a session. MaxSessionIdle is the
	// longest time for which a session may stay unused.
	SessionLifetime = 30 * 24 * time.Hour
	MaxSessionIdle  = 7 * 24 * time.Hour
	// FreshSignInLifetime is the time for which a sign-in keeps its full assurance.
	// Afterwards the person has the assurance of a channel until the next
	// sign-in.
	FreshSignInLifetime = 12 * time.Hour
	// LinkLifetime is the time for which a one-time link is valid. MailLinkLifetime is the same for a link in a mail,
	// and InvitationLifetime for an invitation.
	LinkLifetime       = 24 * time.Hour
	MailLinkLifetime   = 15 * time.Minute
	InvitationLifetime = 7 * 24 * time.Hour
)

// SignInMethod is the way in which a person signed in.
type SignInMethod string

// Ways to sign in.
const (
	SignInByLink       SignInMethod = "link"
	SignInByMail       SignInMethod = "email"
	SignInByInvitation SignInMethod = "invitation"
	SignInByOIDC       SignInMethod = "oidc"
	SignInByPasskey    SignInMethod = "passkey"
)

// BrowserSession is a browser in which a person is signed in.
type BrowserSession struct {
	ID       string       `json:"id"`
	MemberID string       `json:"member_id"`
	Method   SignInMethod `json:"method" enum:"link,email,invitation,oidc,passkey"`
	// Assurance is how strongly the person proved their identity at the sign-in.
	Assurance  Assurance `json:"assurance" enum:"link,channel,session,passkey"`
	UserAgent  string    `json:"user_agent,omitempty"`
	CreatedAt  time.Time `json:"created_at"`
	LastSeenAt time.Time `json:"last_seen_at"`
	ExpiresAt  time.Time `json:"expires_at"`
	// Current reports whether the request came from this session.
	Current bool `json:"current"`

	WorkspaceID string `json:"-"`
	Hash        string `json:"-"`
	// CreatorTokenID is the member's own token that created the sign-in link.
	// The session ends with this token. It is empty if no such token is known.
	CreatorTokenID string `json:"-"`
}

// IsEnded reports whether the session has ended, because of its age or because
// it was not used.
func (s *BrowserSession) IsEnded(now time.Time) bool { return !now.Before(s.IdleDeadline()) }

// IdleDeadline returns the instant at which the session ends unless it is used.
func (s *BrowserSession) IdleDeadline() time.Time {
	if idle := s.LastSeenAt.Add(MaxSessionIdle); idle.Before(s.ExpiresAt) {
		return idle
	}
	return s.ExpiresAt
}

// FreshUntil returns the instant after which the sign-in has only the assurance
// of a channel.
func (s *BrowserSession) FreshUntil() time.Time { return s.CreatedAt.Add(FreshSignInLifetime) }

// CurrentAssurance returns the person's assurance at the instant now.
func (s *BrowserSession) CurrentAssurance(now time.Time) Assurance {
	if !now.Before(s.FreshUntil()) && s.Assurance.AtLeast(AssuranceChannel) {
		return AssuranceChannel
	}
	return s.Assurance
}

// Link is the right to sign in once. The secret is part of the address that is
// given out. Only its hash is stored.
type Link struct {
	ID       string       `json:"id"`
	MemberID string       `json:"member_id,omitempty"`
	Member   string       `json:"member,omitempty" doc:"the member's handle"`
	Method   SignInMethod `json:"method" enum:"link,email,invitation"`
	// Assurance is the highest assurance of a sign-in with this link. It is at
	// most the assurance of the link's creator.
	Assurance Assurance  `json:"assurance" enum:"channel,session"`
	CreatedBy Actor      `json:"created_by"`
	CreatedAt time.Time  `json:"created_at"`
	ExpiresAt time.Time  `json:"expires_at"`
	UsedAt    *time.Time `json:"used_at,omitempty"`
	// Invite is the request for the new member, if the link is an invitation.
	Invite *NewInvitation `json:"invite,omitempty"`
	// URL is set only in the response that creates the link.
	URL string `json:"url,omitempty" doc:"shown this once; the person who opens it is signed in"`
	// Sent reports whether a mail with the link is on its way.
	Sent bool `json:"sent,omitempty" doc:"a mail with the link is on its way"`

	WorkspaceID string `json:"-"`
	Hash        string `json:"-"`
	// CreatorTokenID is the token that created the link. It is empty if there was none.
	CreatorTokenID string `json:"-"`
	// Secret is set only in a link that was just created. It is never stored.
	Secret string `json:"-"`
}

// MaxLinkAssurance returns the highest assurance of a sign-in by a link whose
// creator has the given assurance.
func MaxLinkAssurance(maker Assurance) Assurance {
	if maker.AtLeast(AssuranceSession) {
		return AssuranceSession
	}
	return AssuranceChannel
}

// NewInvitation is a request to invite a person.
type NewInvitation struct {
	Email    string          `json:"email,omitempty" maxLength:"254" doc:"where a mail with the link goes, if mail is set up"`
	Handle   string          `json:"handle,omitempty" maxLength:"64" doc:"default: the first part of the e-mail address"`
	Name     string          `json:"name,omitempty" maxLength:"100"`
	Role     Role            `json:"role,omitempty" enum:"none,viewer,responder,operator,admin" doc:"default responder"`
	Groups   []string        `json:"groups,omitempty" maxItems:"50"`
	Projects map[string]Role `json:"projects,omitempty" doc:"role by project"`
}

// Complete fills in the defaults and returns an error that lists every problem.
func (n *NewInvitation) Complete() error {
	n.Email = strings.ToLower(strings.TrimSpace(n.Email))
	if n.Role == "" {
		n.Role = RoleResponder
	}
	if n.Handle == "" {
		n.Handle = handleOf(n.Email)
	}
	var ps problems
	if n.Handle == "" {
		ps.add("handle", "is needed where there is no e-mail address to take it from")
	}
	ps.checkName("handle", n.Handle)
	ps.checkPerson(n.Name, n.Email, n.Role, n.Projects, n.Groups)
	if len(ps) > 0 {
		return Invalid(ps...)
	}
	n.Groups = SortUnique(n.Groups)
	return nil
}

// handleOf returns a handle derived from a mail address. It is empty if no
// character of the address fits.
func handleOf(email string) string {
	local, _, _ := strings.Cut(email, "@")
	handle := []rune{}
	for _, r := range local {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || slices.Contains([]rune("-_."), r) {
			handle = append(handle, r)
		}
	}
	return string(handle[:min(len(handle), 48)])
}

// Invitation is an invitation that nobody has accepted yet.
type Invitation struct {
	ID string `json:"id"`
	NewInvitation
	CreatedBy Actor     `json:"created_by"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
	// URL is set only in the response that creates the invitation.
	URL  string `json:"url,omitempty" doc:"shown this once; the person who opens it becomes the member"`
	Sent bool   `json:"sent,omitempty" doc:"a mail with the link is on its way"`
}

// Invitation returns the link in the form of an invitation.
func (l *Link) Invitation() *Invitation {
	i := &Invitation{ID: l.ID, CreatedBy: l.CreatedBy, CreatedAt: l.CreatedAt, ExpiresAt: l.ExpiresAt, URL: l.URL, Sent: l.Sent}
	if l.Invite != nil {
		i.NewInvitation = *l.Invite
	}
	return i
}

// Passkey is a key on a person's device that can sign in.
type Passkey struct {
	ID         string     `json:"id"`
	MemberID   string     `json:"member_id"`
	Name       string     `json:"name"`
	CreatedAt  time.Time  `json:"created_at"`
	LastUsedAt *time.Time `json:"last_used_at,omitempty"`

	// CredentialID names the key to the browser. Credential is the whole
	// credential as JSON.
	CredentialID string `json:"-"`
	Credential   string `json:"-"`
}
