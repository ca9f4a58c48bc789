package api

import (
	"context"
	"time"

	"github.com/fermata-hq/fermata"
)

// whoami describes the caller.
type whoami struct {
	Workspace string            `json:"workspace"`
	Kind      fermata.ActorKind `json:"kind" enum:"human,agent,system,policy,timeout"`
	MemberID  string            `json:"member_id,omitempty" doc:"of a person"`
	Name      string            `json:"name" doc:"of a person: the handle"`
	FullName  string            `json:"full_name,omitempty"`
	Email     string            `json:"email,omitempty"`
	Role      fermata.Role      `json:"role,omitempty" enum:"none,viewer,responder,operator,admin" doc:"where projects says nothing else"`
	// Projects are the member's roles in single projects.
	Projects  map[string]fermata.Role `json:"projects,omitempty" doc:"role by project"`
	Groups    []string                `json:"groups,omitempty"`
	Scopes    []fermata.Scope         `json:"scopes"`
	Assurance fermata.Assurance       `json:"assurance,omitempty" enum:"link,channel,session,passkey" doc:"how strongly the person is known now"`
	SessionID string                  `json:"session_id,omitempty" doc:"of a person who is signed in with a browser"`
	// FreshUntil is the instant at which the assurance of a session falls to
	// channel.
	FreshUntil *time.Time `json:"fresh_until,omitempty" doc:"when the assurance of the session falls to channel"`
	SingleUser bool       `json:"single_user" doc:"the server serves one local user without sign-in"`
	ServerTime time.Time  `json:"server_time"`
	Version    string     `json:"version"`
}

// signedOut is the reply that deletes the cookie.
type signedOut struct {
	SetCookie []string `header:"Set-Cookie"`
	Body      afterSignOut
}

// afterSignOut is the body of the reply to a sign-out.
type afterSignOut struct {
	ProviderURL string `json:"provider_url,omitempty" doc:"where the browser can end its session at the identity provider, if it was signed in by it"`
}

func (s *Server) registerSessions() {
	e := s.Engine
	addOperation(s, operation("GET /whoami", "whoami", "Read who calls, and what he may do"),
		func(ctx context.Context, c fermata.Caller, _ *struct{}) (*reply[whoami], error) {
			return replyOf(s.describeCaller(ctx, c))
		})
	addOperation(s, operation("POST /sign-out", "sign-out", "End the session of this browser"), s.signOut)
	addOperation(s, operation("GET /sessions", "list-sessions", "List where you are signed in"),
		func(ctx context.Context, c fermata.Caller, _ *struct{}) (*reply[page[*fermata.BrowserSession]], error) {
			return listOf(e.Sessions(ctx, c))
		})
	addOperation(s, operation("DELETE /sessions/{id}", "end-session", "Sign a browser out"),
		func(ctx context.Context, c fermata.Caller, in *IDInput) (*empty, error) {
			return emptyOf(e.EndSession(ctx, c, in.ID))
		})
}

// signOut ends the session before it asks the identity provider, which may be
// slow.
func (s *Server) signOut(ctx context.Context, c fermata.Caller, _ *bodyInput[*nothing]) (*signedOut, error) {
	session, sessionErr := s.Engine.Session(ctx, c)
	if err := s.Engine.SignOut(ctx, c); err != nil {
		return nil, err
	}
	out := &signedOut{SetCookie: []string{cookie(sessionCookie, "", 0)}}
	if s.OIDC != nil && sessionErr == nil && session.Method == fermata.SignInByOIDC {
		out.Body.ProviderURL = s.OIDC.SignOutURL(ctx)
	}
	return out, nil
}

// describeCaller returns the description of the caller.
func (s *Server) describeCaller(ctx context.Context, c fermata.Caller) (whoami, error) {
	me := whoami{
		Workspace: c.WorkspaceID, Kind: c.Kind, MemberID: c.MemberID, Name: c.Name, Role: c.Role, Projects: c.VisibleRoles(), Groups: c.Groups,
		Scopes: c.Scopes, SessionID: c.SessionID, SingleUser: s.SingleUser, ServerTime: fermata.TruncateTime(time.Now()), Version: s.Version,
	}
	if c.MemberID == "" {
		return me, nil
	}
	me.Assurance = c.Assurance
	m, err := s.Engine.Self(ctx, c)
	if err != nil {
		return me, err
	}
	me.FullName, me.Email = m.Name, m.Email
	if c.SessionID == "" {
		return me, nil
	}
	session, err := s.Engine.Session(ctx, c)
	if err == nil && c.Assurance.AtLeast(fermata.AssuranceSession) {
		until := session.FreshUntil()
		me.FreshUntil = &until
	}
	return me, err
}
