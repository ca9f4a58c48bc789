package engine

import (
	"context"
	"encoding/json"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// mostPasskeys bounds the passkeys of one member.
const mostPasskeys = 20

// MayAddPasskey refuses who may not add a passkey: it needs a sign-in that is
// fresh, and where the member has one already, a sign-in with that. Otherwise
// whoever came by a weaker way could make himself known by the strongest. The
// one user of a single-user server has no other way to begin.
func (e *Engine) MayAddPasskey(ctx context.Context, c fermata.Caller) error {
	if err := c.May(fermata.ToManagePasskeys, c.OwnPlace()); err != nil {
		return err
	}
	keys, err := e.reads(ctx, c).PasskeysOf(c.MemberID)
	if err != nil {
		return err
	}
	switch {
	case c.TokenID != "":
		return fermata.Errorf(fermata.CodeForbidden, "a passkey is added in the browser, not with a token")
	case len(keys) >= mostPasskeys:
		return fermata.Errorf(fermata.CodePolicyViolation, "you have %d passkeys, the most there may be", len(keys)).WithHint("remove one first")
	case len(keys) > 0 && !c.Assurance.AtLeast(fermata.AssurancePasskey):
		return fermata.Errorf(fermata.CodeForbidden, "another passkey is added after signing in with one").
			WithHint("sign in with a passkey; if all are lost, an admin can remove them")
	case c.SessionID != "" && !c.Assurance.AtLeast(fermata.AssuranceSession):
		return fermata.Errorf(fermata.CodeForbidden, "adding a passkey needs a fresh sign-in in a browser").WithHint("sign out and in again")
	}
	return nil
}

// Passkeys lists the caller's passkeys.
func (e *Engine) Passkeys(ctx context.Context, c fermata.Caller) ([]*fermata.Passkey, error) {
	if err := c.May(fermata.ToReadOwn, c.OwnPlace()); err != nil {
		return nil, err
	}
	return e.reads(ctx, c).PasskeysOf(c.MemberID)
}

// AddPasskey adds a passkey that was verified.
func (e *Engine) AddPasskey(ctx context.Context, c fermata.Caller, name, credentialID, credential string) (*fermata.Passkey, error) {
	if err := e.MayAddPasskey(ctx, c); err != nil {
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
		tx.Append(&fermata.Event{Type: fermata.EventPasskeyAdded, Actor: c.Actor(), Data: data(passkeyFacts(p))})
		return nil
	})
	return p, err
}

// passkeyFacts returns the data of passkey.added. The public key in it checks the signatures of the passkey.
func passkeyFacts(p *fermata.Passkey) map[string]any {
	var credential struct {
		PublicKey string `json:"publicKey"`
	}
	_ = json.Unmarshal([]byte(p.Credential), &credential) // without a key the passkey signs nobody in
	return map[string]any{"passkey_id": p.ID, "name": p.Name, "credential_id": p.CredentialID, "public_key": credential.PublicKey}
}

// RemovePasskey removes a passkey. A person removes an own one after signing in with a passkey. An admin removes anybody's; without
// any, the person adds a first one again. The sessions of the person that began with a passkey end, since one of them may be on a
// lost device. The caller's own session stays.
func (e *Engine) RemovePasskey(ctx context.Context, c fermata.Caller, typed string) error {
	if err := c.May(fermata.ToManagePasskeys, c.OwnPlace()); err != nil {
		return err
	}
	id, err := e.reads(ctx, c).FindID("passkey", "passkeys", fermata.PrefixPasskey, typed)
	if err != nil {
		return err
	}
	return e.db.Write(ctx, c.WorkspaceID, func(tx *store.Tx) error {
		p, err := tx.Passkey(id)
		if err != nil {
			return err
		}
		own := p.MemberID == c.MemberID
		switch {
		case own && c.Assurance.AtLeast(fermata.AssurancePasskey), c.Has(fermata.ScopeAdmin):
		case own:
			return fermata.Errorf(fermata.CodeForbidden, "a passkey is removed after signing in with one").
				WithHint("sign in with a passkey; if all are lost, an admin can remove them")
		default:
			return fermata.NotFound("passkey", typed)
		}
		tx.DeletePasskey(id)
		if err := endOthers(tx, c, p.MemberID); err != nil {
			return err
		}
		tx.Append(&fermata.Event{
			Type: fermata.EventPasskeyRemoved, Actor: c.Actor(), Data: data(map[string]string{"passkey_id": id, "member_id": p.MemberID}),
		})
		return nil
	})
}

// endOthers ends the sessions of a member that began with a passkey, except the caller's own.
func endOthers(tx *store.Tx, c fermata.Caller, memberID string) error {
	all, err := tx.SessionsOf(memberID)
	for _, s := range all {
		if s.Method != fermata.ByPasskey || s.ID == c.SessionID {
			continue
		}
		tx.Append(signedOut(c, s))
		if err := endSession(tx, c.Actor(), s); err != nil {
			return err
		}
	}
	return err
}

// PasskeyOwner returns the member whom a passkey names, and his passkeys.
func (e *Engine) PasskeyOwner(ctx context.Context, memberID string) (*fermata.Member, []*fermata.Passkey, error) {
	r := e.db.In(ctx, store.DefaultWorkspace)
	m, err := r.Member(memberID)
	if err != nil {
		return nil, nil, err
	}
	keys, err := r.PasskeysOf(memberID)
	return m, keys, err
}

// SignInByPasskey signs the member of a passkey in whose signature was
// verified. The credential is what is known of it now.
func (e *Engine) SignInByPasskey(ctx context.Context, id, credential string, from Browser) (*SignedIn, error) {
	own := fermata.NewSecretOf(fermata.SessionPrefix)
	var in *SignedIn
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
		tx.UsePasskey(p)
		in, err = startSession(tx, m, signIn{method: fermata.ByPasskey, assurance: fermata.AssurancePasskey}, from, own)
		return err
	})
	return in, err
}
