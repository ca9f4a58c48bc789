package engine

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// Invite creates a link by which a person becomes a member. The reply contains
// the secret of the link, which is not stored.
func (e *Engine) Invite(ctx context.Context, c fermata.Caller, n fermata.NewInvitation) (*fermata.Link, error) {
	if err := c.CheckPermission(fermata.ToManagePeople, fermata.InWorkspace); err != nil {
		return nil, err
	}
	if err := n.Complete(); err != nil {
		return nil, err
	}
	secret := fermata.NewSecretWithPrefix(fermata.LinkPrefix)
	return write(ctx, e, c, fermata.ToManagePeople, func(tx *store.Tx) (*fermata.Link, error) {
		if err := checkHandleFree(tx.Reader, n.Handle); err != nil {
			return nil, err
		}
		if err := checkEmailFree(tx.Reader, &fermata.Member{Email: n.Email}); err != nil {
			return nil, err
		}
		if err := checkNotInvited(tx, n); err != nil {
			return nil, err
		}
		l := newLink(tx, fermata.SignInByInvitation, c, fermata.InvitationLifetime, secret)
		l.Invite, l.Assurance = &n, makerAssurance(c)
		tx.InsertLink(l)
		tx.Append(&fermata.Event{Type: fermata.EventMemberInvited, Actor: c.Actor(), Data: encodeData(linkFacts(l))})
		return l, nil
	})
}

// checkNotInvited refuses a second invitation for the same person.
func checkNotInvited(tx *store.Tx, n fermata.NewInvitation) error {
	invitations, err := tx.Invitations(tx.Now())
	if err != nil {
		return err
	}
	for _, l := range invitations {
		if l.Invite.Handle != n.Handle && (n.Email == "" || l.Invite.Email != n.Email) {
			continue
		}
		return fermata.Invalid(fermata.Problem{Field: "handle", Message: l.Invite.Handle + " was invited already"}).
			WithHint("withdraw the invitation %s to make a new one", l.ID)
	}
	return nil
}

// Invitations lists the invitations that nobody has accepted yet.
func (e *Engine) Invitations(ctx context.Context, c fermata.Caller) ([]*fermata.Invitation, error) {
	if err := c.CheckPermission(fermata.ToManagePeople, fermata.InWorkspace); err != nil {
		return nil, err
	}
	now, err := e.Now(ctx)
	if err != nil {
		return nil, err
	}
	links, err := e.reader(ctx, c).Invitations(now)
	all := make([]*fermata.Invitation, 0, len(links))
	for _, l := range links {
		all = append(all, l.Invitation())
	}
	return all, err
}

// Uninvite withdraws an invitation. Its link stops working.
func (e *Engine) Uninvite(ctx context.Context, c fermata.Caller, idOrSuffix string) error {
	if err := c.CheckPermission(fermata.ToManagePeople, fermata.InWorkspace); err != nil {
		return err
	}
	id, err := e.reader(ctx, c).FindID("invitation", "sign_in_links", fermata.PrefixLink, idOrSuffix)
	if err != nil {
		return err
	}
	return e.db.Write(ctx, c.WorkspaceID, func(tx *store.Tx) error {
		invitations, err := tx.Invitations(tx.Now())
		if err != nil {
			return err
		}
		for _, l := range invitations {
			if l.ID != id {
				continue
			}
			tx.DeleteLink(id)
			tx.Append(&fermata.Event{
				Type: fermata.EventMemberUninvited, Actor: c.Actor(), Data: encodeData(map[string]any{"invitation_id": id, "handle": l.Invite.Handle}),
			})
			return nil
		}
		return fermata.NotFound("invitation", idOrSuffix)
	})
}
