package api

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

type memberReply = reply[*fermata.Member]

// MemberInput names a member in the path. It is exported because huma ignores
// embedded structs that are not.
type MemberInput struct {
	ID string `path:"id" maxLength:"64" doc:"a handle, an id, or a unique short ending of one"`
}

// memberNothing names a member, for a call without a body.
type memberNothing struct {
	MemberInput
	Body *nothing
}

type memberChangeInput struct {
	MemberInput
	Body fermata.MemberChange
}

func (s *Server) registerMembers() {
	e := s.Engine
	addOperation(s, operation("GET /members", "list-members", "List people"),
		func(ctx context.Context, c fermata.Caller, _ *struct{}) (*reply[page[*fermata.Member]], error) {
			return listOf(e.Members(ctx, c))
		})
	addOperation(s, withStatusCreated(operation("POST /members", "add-member", "Add a person")),
		func(ctx context.Context, c fermata.Caller, in *bodyInput[engine.NewMember]) (*memberReply, error) {
			return replyOf(e.AddMember(ctx, c, in.Body))
		})
	addOperation(s, operation("PATCH /members/{id}", "change-member", "Change a person: role, groups, address; disable"),
		func(ctx context.Context, c fermata.Caller, in *memberChangeInput) (*memberReply, error) {
			return replyOf(e.ChangeMember(ctx, c, in.ID, in.Body))
		})
	addOperation(s, withStatusCreated(operation("POST /members/{id}/links", "make-sign-in-link", "Make a one-time link by which the person signs in")),
		func(ctx context.Context, c fermata.Caller, in *memberNothing) (*reply[*fermata.Link], error) {
			l, err := e.MakeLink(ctx, c, in.ID)
			if err == nil {
				l.URL = s.linkURL(l.Secret)
			}
			return replyOf(l, err)
		})
	s.registerDevices()
	addOperation(s, operation("DELETE /members/{id}/answer-links", "revoke-answer-links", "End every link by which the person answers without signing in"),
		func(ctx context.Context, c fermata.Caller, in *MemberInput) (*empty, error) {
			return emptyOf(e.RevokeAnswerLinks(ctx, c, in.ID))
		})
	addOperation(s, operation("GET /invitations", "list-invitations", "List the invitations that nobody accepted yet"),
		func(ctx context.Context, c fermata.Caller, _ *struct{}) (*reply[page[*fermata.Invitation]], error) {
			return listOf(e.Invitations(ctx, c))
		})
	addOperation(s, withStatusCreated(operation("POST /invitations", "invite", "Invite a person; the link is shown this once")), s.invite)
	addOperation(s, operation("DELETE /invitations/{id}", "withdraw-invitation", "Withdraw an invitation"),
		func(ctx context.Context, c fermata.Caller, in *IDInput) (*empty, error) {
			return emptyOf(e.Uninvite(ctx, c, in.ID))
		})
}

func (s *Server) invite(ctx context.Context, c fermata.Caller, in *bodyInput[fermata.NewInvitation]) (*reply[*fermata.Invitation], error) {
	l, err := s.Engine.Invite(ctx, c, in.Body)
	if err != nil {
		return nil, err
	}
	i := l.Invitation()
	i.URL = s.linkURL(l.Secret)
	if s.Mail != nil && i.Email != "" && i.URL != "" {
		s.Mail.SendInvitation(i)
		i.Sent = true
	}
	return replyOf(i, nil)
}

// linkURL returns the address of a sign-in link. The secret is after #, so that
// no server, proxy or log sees it. A repeated call has no secret, and the
// address is then empty.
func (s *Server) linkURL(secret string) string { return LinkURL(s.PublicURL, secret) }

// LinkURL returns the address of the sign-in link with the secret, on the
// server with this public address. Without a secret it returns "".
func LinkURL(public, secret string) string {
	if secret == "" {
		return ""
	}
	return public + "/sign-in#" + secret
}
