package engine

import (
	"context"
	"encoding/json"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// maxPasskeys is the largest number of passkeys of one member.
const maxPasskeys = 20

// CheckAddPasskey returns an error if the caller may not add a passkey. It needs
// a fresh sign-in. A member with a passkey must have signed in with one.
// Otherwise a person with a weaker sign-in could give themselves the strongest
// one. The local user of a single-user server needs no sign-in, because there
// is none.
func (e *Engine) CheckAddPasskey(ctx context.Context, c fermata.Caller) error {
	if err := c.CheckPermission(fermata.ToManagePasskeys, c.OwnResource()); err != nil {
		return err
	}
	keys, err := e.reader(ctx, c).PasskeysOf(c.MemberID)
	if err != nil {
		return err
	}
	switch {
	case c.TokenID != "":
		return fermata.Errorf(fermata.CodeForbidden, "adding a passkey needs a sign-in in a browser, not a token")
	case len(keys) >= maxPasskeys:
		return fermata.Errorf(fermata.CodePolicyViolation, "you have %d passkeys, the most there may be", len(keys)).WithHint("remove one first")
	case len(keys) > 0 && !c.Assurance.AtLeast(fermata.AssurancePasskey):
		return fermata.Errorf(fermata.CodeForbidden, "adding another passkey needs a sign-in with a passkey").
			WithHint("sign in with a passkey; if all are lost, an admin can remove them")
	case c.SessionID != "" && !c.Assurance.AtLeast(fermata.AssuranceSession):
		return fermata.Errorf(fermata.CodeForbidden, "adding a passkey needs a fresh sign-in in a browser").WithHint("sign out and in again")
	}
	return nil
}

// Passkeys lists the caller's passkeys.
func (e *Engine) Passkeys(ctx context.Context, c fermata.Caller) ([]*fermata.Passkey, error) {
	if err := c.CheckPermission(fermata.ToReadOwn, c.OwnResource()); err != nil {
		return nil, err
	}
	return e.reader(ctx, c).PasskeysOf(c.MemberID)
}

// AddPasskey adds a passkey to the caller. The passkey must have been verified before.
func (e *Engine) AddPasskey(ctx context.Context, c fermata.Caller, name, credentialID, credential string) (*fermata.Passkey, error) {
	if err := e.CheckAddPasskey(ctx, c); err != nil {
		return nil, err
	}
	name = cutText(name, 100)
	if name == "" {
		name = "passkey"
	}
	var p *fermata.Passkey
	err := e.db.Write(ctx, c.WorkspaceID, func(tx *store.Tx) error {
		p = &fermata.Passkey{
			ID: fermata.NewID(fermata.PrefixPasskey, tx.Now()), MemberID: c.MemberID, Name: name, CreatedAt: tx.Now(),
			CredentialID: credentialID, Credential: credential,
		}
		tx.InsertPasskey(p)
		tx.Append(&fermata.Event{Type: fermata.EventPasskeyAdded, Actor: c.Actor(), Data: encodeData(passkeyFacts(p))})
		return nil
	})
	return p, err
}

// passkeyFacts returns the data of the event passkey.added. Its public key is used to verify the signatures of the
// passkey.
func passkeyFacts(p *fermata.Passkey) map[string]any {
	var credential struct {
		PublicKey string `json:"publicKey"`
	}
	_ = json.Unmarshal([]byte(p.Credential), &credential) // nobody can sign in with a passkey without a key
	return map[string]any{"passkey_id": p.ID, "name": p.Name, "credential_id": p.CredentialID, "public_key": credential.PublicKey}
}

// RemovePasskey removes a passkey. Members remove their own ones after they signed in with a passkey. An admin
// removes any; a member without a passkey may then add a first one again. All sessions of the member that began with
// a passkey end, since one of them may be on a lost device. Only the caller's own session stays.
func (e *Engine) RemovePasskey(ctx context.Context, c fermata.Caller, idOrSuffix string) error {
	if err := c.CheckPermission(fermata.ToManagePasskeys, c.OwnResource()); err != nil {
		return err
	}
	id, err := e.reader(ctx, c).FindID("passkey", "passkeys", fermata.PrefixPasskey, idOrSuffix)
	if err != nil {
		return err
	}
	return e.db.Write(ctx, c.WorkspaceID, func(tx *store.Tx) error {
		p, err := tx.Passkey(id)
		if err != nil {
			return err
		}
		isOwn := p.MemberID == c.MemberID
		switch {
		case isOwn && c.Assurance.AtLeast(fermata.AssurancePasskey), c.HasScope(fermata.ScopeAdmin):
		case isOwn:
			return fermata.Errorf(fermata.CodeForbidden, "removing a passkey needs a sign-in with a passkey").
				WithHint("sign in with a passkey; if all are lost, an admin can remove them")
		default:
			return fermata.NotFound("passkey", idOrSuffix)
		}
		tx.DeletePasskey(id)
		if err := endOtherPasskeySessions(tx, c, p.MemberID); err != nil {
			return err
		}
		tx.Append(&fermata.Event{
			Type: fermata.EventPasskeyRemoved, Actor: c.Actor(), Data: encodeData(map[string]string{"passkey_id": id, "member_id": p.MemberID}),
		})
		return nil
	})
}

// endOtherPasskeySessions ends the sessions of a member that began with a passkey, except the caller's own.
func endOtherPasskeySessions(tx *store.Tx, c fermata.Caller, memberID string) error {
	all, err := tx.SessionsOf(memberID)
	for _, s := range all {
		if s.Method != fermata.SignInByPasskey || s.ID == c.SessionID {
			continue
		}
		tx.Append(signedOutEvent(c, s))
		if err := endSession(tx, c.Actor(), s); err != nil {
			return err
		}
	}
	return err
}

// PasskeyOwner returns the member with the id that a passkey names, and the member's passkeys.
func (e *Engine) PasskeyOwner(ctx context.Context, memberID string) (*fermata.Member, []*fermata.Passkey, error) {
	r := e.db.Reader(ctx, store.DefaultWorkspace)
	m, err := r.Member(memberID)
	if err != nil {
		return nil, nil, err
	}
	keys, err := r.PasskeysOf(memberID)
	return m, keys, err
}

// SignInByPasskey signs in the member of a passkey whose signature was
// verified. The credential is stored in place of the old one.
func (e *Engine) SignInByPasskey(ctx context.Context, id, credential string, from Browser) (*IssuedSession, error) {
	sessionSecret := fermata.NewSecretWithPrefix(fermata.SessionPrefix)
	var issued *IssuedSession
	err := e.db.Write(ctx, store.DefaultWorkspace, func(tx *store.Tx) error {
		p, err := tx.Passkey(id)
		if err != nil {
			return err
		}
		m, err := tx.Member(p.MemberID)
		if err != nil {
			return err
		}
		now := tx.Now()
		p.Credential, p.LastUsedAt = credential, &now
		tx.UpdatePasskey(p)
		issued, err = startSession(tx, m, signIn{method: fermata.SignInByPasskey, assurance: fermata.AssurancePasskey}, from, sessionSecret)
		return err
	})
	return issued, err
}
