package engine

import (
	"context"
	"encoding/json"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// FlowTimeout is the time limit for a sign-in with the identity provider or a passkey, and for adding a passkey.
const FlowTimeout = 10 * time.Minute

// flowPrefix begins the secrets by which a browser proves that it began a flow.
const flowPrefix = "fmf_"

// Flow kinds.
const (
	FlowOIDC       = "oidc"
	FlowPasskey    = "passkey"
	FlowAddPasskey = "add_passkey"
)

func unknownFlowError() error {
	return fermata.Errorf(fermata.CodeUnauthenticated, "the sign-in was not begun in this browser, or took too long").
		WithHint("begin again")
}

// BeginFlow stores the data that the end of a sign-in must match, for
// [FlowTimeout]. It returns the secret that the browser keeps until then.
func (e *Engine) BeginFlow(ctx context.Context, kind string, v any) (string, error) {
	secret := fermata.NewSecretWithPrefix(flowPrefix)
	encoded, err := json.Marshal(v)
	if err != nil {
		return "", fermata.Internal("keep a sign-in", err)
	}
	return secret, e.db.Write(ctx, store.DefaultWorkspace, func(tx *store.Tx) error {
		tx.InsertFlow(store.Flow{Kind: kind, Data: string(encoded), Hash: fermata.HashSecret(secret), ExpiresAt: tx.Now().Add(FlowTimeout)})
		return nil
	})
}

// EndFlow reads the stored data of a flow into v. It works only once: the flow ends, even if the call fails.
func (e *Engine) EndFlow(ctx context.Context, kind, secret string, v any) error {
	if !fermata.IsWholeSecret(flowPrefix, secret) {
		return unknownFlowError()
	}
	var f store.Flow
	var now time.Time
	err := e.db.Write(ctx, store.DefaultWorkspace, func(tx *store.Tx) error {
		var err error
		now = tx.Now()
		f, err = tx.TakeFlow(kind, fermata.HashSecret(secret))
		return err
	})
	if fermata.CodeOf(err) == fermata.CodeNotFound || err == nil && !now.Before(f.ExpiresAt) {
		return unknownFlowError()
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(f.Data), v); err != nil {
		return fermata.Internal("read what was kept of a sign-in", err)
	}
	return nil
}

// Identity is a person as the identity provider knows them.
type Identity struct {
	// Subject is the issuer and the subject.
	Subject string
	// Email is set only if the provider says that it is verified.
	Email string
	// UnverifiedEmail is an address that the provider does not call verified. It makes no person a member.
	UnverifiedEmail string
	Name            string
	// Role is the role that the person's groups at the provider give, or empty if they give none.
	Role fermata.Role
}

// SignInByIdentity signs in the member of an identity from the identity provider. This is the member who signed in with
// the identity before, else the member with the verified address, else the person who was invited by that address. An
// identity makes a person a member in no other way. If groups at the provider give a role, the member gets this role,
// except that the last admin stays an admin.
func (e *Engine) SignInByIdentity(ctx context.Context, id Identity, from Browser) (*IssuedSession, error) {
	sessionSecret := fermata.NewSecretWithPrefix(fermata.SessionPrefix)
	var issued *IssuedSession
	err := e.db.Write(ctx, store.DefaultWorkspace, func(tx *store.Tx) error {
		m, err := memberOfIdentity(tx, id)
		if err == nil {
			m, err = e.setRole(tx, m, id.Role)
		}
		if err != nil {
			return err
		}
		issued, err = startSession(tx, m, signIn{method: fermata.SignInByOIDC, assurance: fermata.AssuranceSession}, from, sessionSecret)
		return err
	})
	return issued, err
}

// setRole gives a member the role, if the member has another one. The last admin stays an admin.
func (e *Engine) setRole(tx *store.Tx, m *fermata.Member, role fermata.Role) (*fermata.Member, error) {
	if role == "" || role == m.Role {
		return m, nil
	}
	changed := *m
	changed.Role = role
	err := e.saveMember(tx, m, &changed, fermata.SystemActor)
	if fermata.CodeOf(err) == fermata.CodePolicyViolation {
		return m, nil
	}
	return &changed, err
}

func memberOfIdentity(tx *store.Tx, id Identity) (*fermata.Member, error) {
	m, err := tx.MemberBySubject(id.Subject)
	if err == nil || fermata.CodeOf(err) != fermata.CodeNotFound {
		return m, err
	}
	if linked, err := tx.Identity(fermata.IdentityOIDC, id.Subject); err == nil {
		return tx.Member(linked.MemberID)
	} else if fermata.CodeOf(err) != fermata.CodeNotFound {
		return nil, err
	}
	if id.Email == "" && id.UnverifiedEmail != "" {
		return nil, fermata.Errorf(fermata.CodeNotEligible, "the identity provider does not say that the address %s is verified", id.UnverifiedEmail).
			WithHint("an admin links you: fermata member identity HANDLE oidc %q; or starts the server with --oidc-trust-email, if the provider gives addresses only to whom they belong", id.Subject)
	}
	m, err = memberOfEmail(tx, id.Email)
	if err != nil {
		return nil, err
	}
	if m.Subject != "" {
		return nil, fermata.Errorf(fermata.CodeUnauthenticated, "the address belongs to somebody else at the identity provider").
			WithHint("ask an admin")
	}
	m.Subject = id.Subject
	if m.Name == "" {
		m.Name = cutText(id.Name, fermata.MaxMemberName)
	}
	tx.UpdateMember(m)
	tx.Append(&fermata.Event{Type: fermata.EventMemberChanged, Actor: m.Actor(), Data: encodeData(memberFacts(m))})
	return m, nil
}

// memberOfEmail returns the member with the address. If the address was
// invited, it accepts the invitation.
func memberOfEmail(tx *store.Tx, email string) (*fermata.Member, error) {
	unknown := fermata.Errorf(fermata.CodeUnauthenticated, "no member belongs to this identity").
		WithHint("ask an admin for an invitation to the address that the identity provider has")
	if email == "" {
		return nil, unknown
	}
	m, err := tx.MemberByEmail(email)
	if err == nil || fermata.CodeOf(err) != fermata.CodeNotFound {
		return m, err
	}
	invitations, err := tx.Invitations(tx.Now())
	if err != nil {
		return nil, err
	}
	for _, l := range invitations {
		if l.Invite.Email != email {
			continue
		}
		m, err := acceptInvitation(tx, l)
		if err != nil {
			return nil, err
		}
		l.MemberID = m.ID
		tx.UseLink(l)
		return m, nil
	}
	return nil, unknown
}
