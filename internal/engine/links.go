package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

func badLinkError() error {
	return fermata.Errorf(fermata.CodeUnauthenticated, "the link is not valid any more: it works once, and for a limited time").
		WithHint("ask for a new one")
}

// newLink returns a new link with a secret. It does not store the link.
func newLink(tx *store.Tx, method fermata.SignInMethod, by fermata.Caller, ttl time.Duration, secret string) *fermata.Link {
	return &fermata.Link{
		ID: fermata.NewID(fermata.PrefixLink, tx.Now()), WorkspaceID: tx.Workspace(), Method: method, Assurance: fermata.AssuranceSession,
		CreatedBy: by.Actor(), CreatorTokenID: by.TokenID, CreatedAt: tx.Now(), ExpiresAt: tx.Now().Add(ttl), Hash: fermata.HashSecret(secret), Secret: secret,
	}
}

// linkFacts returns the data of member.linked and of member.invited. The fingerprint identifies the secret without revealing it.
func linkFacts(l *fermata.Link) map[string]any {
	facts := map[string]any{
		"method": l.Method, "assurance": l.Assurance, "expires_at": l.ExpiresAt.UnixMilli(), "fingerprint": fermata.HashSecret(l.Hash), "token_id": l.CreatorTokenID,
	}
	if n := l.Invite; n != nil {
		facts["invitation_id"] = l.ID
		facts["handle"], facts["role"], facts["groups"], facts["projects"] = n.Handle, n.Role, n.Groups, n.Projects
		return facts
	}
	facts["link_id"], facts["member_id"], facts["handle"] = l.ID, l.MemberID, l.Member
	return facts
}

// makerAssurance returns the assurance that a link gets from its maker. For the
// server itself, it is the highest one that a link can give.
func makerAssurance(c fermata.Caller) fermata.Assurance {
	if c.Kind == fermata.ActorSystem {
		return fermata.AssuranceSession
	}
	return fermata.MaxLinkAssurance(c.Assurance)
}

// checkLinkPermission refuses a caller who would get more rights by the link than the caller has. A link gives all
// rights of its member.
func checkLinkPermission(c fermata.Caller, m *fermata.Member) error {
	if err := c.CheckPermission(fermata.ToMakeLink, fermata.OfMember(m.ID)); err != nil || c.SessionID != "" || c.HasScope(fermata.ScopeAdmin) {
		return err
	}
	for _, s := range m.Scopes() {
		if !c.HasScope(s) {
			return fermata.Errorf(fermata.CodeForbidden, "a sign-in link gives the scope %s, which the token does not have", s).
				WithHint("make it where you are signed in, or ask an admin")
		}
	}
	return nil
}

// MakeLink creates a one-time link by which a member signs in. A member creates
// links for themselves, an admin for anybody. A token cannot create a link to a
// session with more rights than its own. The reply contains the secret, which
// is not stored.
func (e *Engine) MakeLink(ctx context.Context, c fermata.Caller, handleOrID string) (*fermata.Link, error) {
	if handleOrID == "" {
		handleOrID = c.MemberID
	}
	m, err := findMember(e.reader(ctx, c), handleOrID)
	if err != nil {
		return nil, err
	}
	if err := checkLinkPermission(c, m); err != nil {
		return nil, err
	}
	secret := fermata.NewSecretWithPrefix(fermata.LinkPrefix)
	l, err := write(ctx, e, c, fermata.ToMakeLink, func(tx *store.Tx) (*fermata.Link, error) {
		m, err := tx.Member(m.ID)
		if err != nil {
			return nil, err
		}
		if m.DisabledAt != nil {
			return nil, fermata.Errorf(fermata.CodePolicyViolation, "%s is disabled", m.Handle).WithHint("enable the member first")
		}
		l := newLink(tx, fermata.SignInByLink, c, fermata.LinkLifetime, secret)
		l.MemberID, l.Member, l.Assurance = m.ID, m.Handle, makerAssurance(c)
		tx.InsertLink(l)
		tx.Append(&fermata.Event{Type: fermata.EventMemberLinked, Actor: c.Actor(), Data: encodeData(linkFacts(l))})
		return l, nil
	})
	return l, err
}

// MakeMailLink creates a sign-in link for the member with the address. If there is no such member, the error is
// [fermata.CodeNotFound]. Do not tell the requester: the answer would reveal who is a member.
func (e *Engine) MakeMailLink(ctx context.Context, email string) (*fermata.Link, error) {
	secret := fermata.NewSecretWithPrefix(fermata.LinkPrefix)
	var l *fermata.Link
	err := e.db.Write(ctx, store.DefaultWorkspace, func(tx *store.Tx) error {
		m, err := tx.MemberByEmail(email)
		if err != nil {
			return err
		}
		if m.DisabledAt != nil {
			return fermata.NotFound("member", email)
		}
		l = newLink(tx, fermata.SignInByMail, fermata.Caller{Kind: fermata.ActorSystem}, fermata.MailLinkLifetime, secret)
		l.MemberID, l.Member = m.ID, m.Handle
		tx.InsertLink(l)
		tx.Append(&fermata.Event{Type: fermata.EventMemberLinked, Actor: l.CreatedBy, Data: encodeData(linkFacts(l))})
		return nil
	})
	return l, err
}

// SignInByLink uses up a link and signs its member in. For an invitation, it
// first adds the member.
func (e *Engine) SignInByLink(ctx context.Context, secret string, from Browser) (*IssuedSession, error) {
	if !fermata.IsWholeSecret(fermata.LinkPrefix, secret) {
		return nil, badLinkError()
	}
	hash := fermata.HashSecret(secret)
	found, err := e.db.Reader(ctx, "").LinkByHash(hash)
	if fermata.CodeOf(err) == fermata.CodeNotFound {
		return nil, badLinkError()
	}
	if err != nil {
		return nil, err
	}
	sessionSecret := fermata.NewSecretWithPrefix(fermata.SessionPrefix)
	var issued *IssuedSession
	err = e.db.Write(ctx, found.WorkspaceID, func(tx *store.Tx) error {
		l, err := tx.LinkByHash(hash)
		if fermata.CodeOf(err) == fermata.CodeNotFound {
			return badLinkError()
		}
		if err != nil {
			return err
		}
		if l.UsedAt != nil || !tx.Now().Before(l.ExpiresAt) {
			return badLinkError()
		}
		if err := checkMaker(tx, l); err != nil {
			return err
		}
		m, err := memberOfLink(tx, l)
		if err != nil {
			return err
		}
		tx.UseLink(l)
		issued, err = startSession(tx, m, signIn{l.Method, l.Assurance, l}, from, sessionSecret)
		return err
	})
	return issued, err
}

// checkMaker refuses a link if its maker could not create it at present.
func checkMaker(tx *store.Tx, l *fermata.Link) error {
	if l.CreatorTokenID != "" {
		t, err := tx.Token(l.CreatorTokenID)
		switch {
		case fermata.CodeOf(err) == fermata.CodeNotFound:
			return badLinkError()
		case err != nil:
			return err
		case t.IsEnded(tx.Now()):
			return badLinkError()
		}
	}
	if l.CreatedBy.Kind != fermata.ActorHuman {
		return nil
	}
	maker, err := tx.Member(l.CreatedBy.ID)
	switch isOwn := l.Method != fermata.SignInByInvitation && l.MemberID == l.CreatedBy.ID; {
	case fermata.CodeOf(err) == fermata.CodeNotFound:
		return nil
	case err != nil:
		return err
	case maker.DisabledAt != nil || !isOwn && !isActiveAdmin(maker):
		return badLinkError()
	}
	return nil
}

// deleteLinks removes the usable links for which matches returns true.
func deleteLinks(tx *store.Tx, matches func(l *fermata.Link) bool) error {
	links, err := tx.UnusedLinks(tx.Now())
	for _, l := range links {
		if matches(l) {
			tx.DeleteLink(l.ID)
		}
	}
	return err
}

// isMadeBy reports whether a member created a link.
func isMadeBy(l *fermata.Link, member string) bool {
	return l.CreatedBy.Kind == fermata.ActorHuman && l.CreatedBy.ID == member
}

// memberOfLink returns the member whom a link signs in.
func memberOfLink(tx *store.Tx, l *fermata.Link) (*fermata.Member, error) {
	if l.Method != fermata.SignInByInvitation {
		return tx.Member(l.MemberID)
	}
	m, err := acceptInvitation(tx, l)
	if err == nil {
		l.MemberID = m.ID
	}
	return m, err
}

// acceptInvitation adds the member of an invitation. If the handle was taken in the
// meantime, the member gets a handle with a number.
func acceptInvitation(tx *store.Tx, l *fermata.Link) (*fermata.Member, error) {
	n := NewMember{
		Handle: l.Invite.Handle, Name: l.Invite.Name, Email: l.Invite.Email, Role: l.Invite.Role, Groups: l.Invite.Groups, Projects: l.Invite.Projects,
	}
	for i := 2; ; i++ {
		err := checkHandleFree(tx.Reader, n.Handle)
		if err == nil {
			break
		}
		if fermata.CodeOf(err) != fermata.CodeInvalidRequest {
			return nil, err
		}
		n.Handle = fmt.Sprintf("%s-%d", l.Invite.Handle, i)
	}
	return addMember(tx, n, l.CreatedBy)
}
