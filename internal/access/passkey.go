package access

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/netip"
	"net/url"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

// Passkeys signs people in with a key of their device, which asks for a
// fingerprint, a face or a PIN.
type Passkeys struct {
	engine *engine.Engine
	wa     *webauthn.WebAuthn
}

// PasskeyHost returns the host name for passkeys of a server with this public
// address, and the origin of its pages. It returns "" if passkeys do not work
// there: browsers need a host name, and either https or this machine.
func PasskeyHost(public string) (host, origin string) {
	u, err := url.Parse(public)
	if err != nil {
		return "", ""
	}
	host = u.Hostname()
	if u.Scheme == "http" && isLoopback(host) {
		// The address is an IP address of this machine. Browsers accept passkeys only for its name, localhost.
		host = "localhost"
		origin = "http://localhost"
		if u.Port() != "" {
			origin += ":" + u.Port()
		}
		return host, origin
	}
	if _, err := netip.ParseAddr(host); err == nil || u.Scheme != "https" || host == "" {
		return "", ""
	}
	return host, "https://" + u.Host
}

// NewPasskeys returns passkeys for the host, on pages of the origin.
func NewPasskeys(e *engine.Engine, host, origin string) (*Passkeys, error) {
	limits := webauthn.TimeoutConfig{Enforce: true, Timeout: engine.FlowTimeout, TimeoutUVD: engine.FlowTimeout}
	wa, err := webauthn.New(&webauthn.Config{
		RPID: host, RPDisplayName: "Fermata", RPOrigins: []string{origin},
		Timeouts: webauthn.TimeoutsConfig{Login: limits, Registration: limits},
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, UserVerification: protocol.VerificationRequired,
		},
		AttestationPreference: protocol.PreferNoAttestation,
	})
	if err != nil {
		return nil, fermata.Internal("set passkeys up", err)
	}
	return &Passkeys{e, wa}, nil
}

// Host returns the host name for which the passkeys work.
func (p *Passkeys) Host() string { return p.wa.Config.RPID }

// owner is a member as a WebAuthn user.
type owner struct {
	member *fermata.Member
	keys   []*fermata.Passkey
}

// WebAuthnID returns the id by which a passkey names its owner.
func (o *owner) WebAuthnID() []byte { return []byte(o.member.ID) }

// WebAuthnName returns the member's handle.
func (o *owner) WebAuthnName() string { return o.member.Handle }

// WebAuthnDisplayName returns the name that people read.
func (o *owner) WebAuthnDisplayName() string {
	if o.member.Name != "" {
		return o.member.Name
	}
	return o.member.Handle
}

// WebAuthnCredentials returns the passkeys of the member.
func (o *owner) WebAuthnCredentials() []webauthn.Credential {
	all := make([]webauthn.Credential, 0, len(o.keys))
	for _, k := range o.keys {
		var c webauthn.Credential
		if json.Unmarshal([]byte(k.Credential), &c) == nil {
			all = append(all, c)
		}
	}
	return all
}

func (p *Passkeys) owner(ctx context.Context, memberID string) (*owner, error) {
	m, keys, err := p.engine.PasskeyOwner(ctx, memberID)
	return &owner{m, keys}, err
}

func credentialID(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

func badPasskeyError(err error) error {
	return withCause(fermata.Errorf(fermata.CodeUnauthenticated, "the passkey is not known here, or was not used as it must be").
		WithHint("try again, or sign in another way"), err)
}

// begin stores the data of a ceremony. It returns the options for the browser and the secret of the flow.
func (p *Passkeys) begin(ctx context.Context, kind string, options any, session *webauthn.SessionData) (json.RawMessage, string, error) {
	out, err := json.Marshal(options)
	if err != nil {
		return nil, "", fermata.Internal("write the options of a passkey", err)
	}
	secret, err := p.engine.BeginFlow(ctx, kind, session)
	return out, secret, err
}

// BeginSignIn returns the options for navigator.credentials.get, and the secret
// that the browser keeps until [Passkeys.EndSignIn]. The options name no
// member, because the passkey names its owner.
func (p *Passkeys) BeginSignIn(ctx context.Context) (options json.RawMessage, secret string, err error) {
	assertion, session, err := p.wa.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return nil, "", fermata.Internal("begin a sign-in with a passkey", err)
	}
	return p.begin(ctx, engine.FlowPasskey, assertion, session)
}

// EndSignIn verifies the signature of the passkey and signs its owner in.
func (p *Passkeys) EndSignIn(ctx context.Context, secret string, credential []byte, from engine.Browser) (*engine.IssuedSession, error) {
	var session webauthn.SessionData
	if err := p.engine.EndFlow(ctx, engine.FlowPasskey, secret, &session); err != nil {
		return nil, err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(credential)
	if err != nil {
		return nil, badPasskeyError(err)
	}
	var user *owner
	_, used, err := p.wa.ValidatePasskeyLogin(func(_, handle []byte) (webauthn.User, error) {
		var err error
		user, err = p.owner(ctx, string(handle))
		return user, err
	}, session, parsed)
	if err != nil {
		return nil, badPasskeyError(err)
	}
	id, updated, err := user.usedCredential(used)
	if err != nil {
		return nil, err
	}
	return p.engine.SignInByPasskey(ctx, id, updated, from)
}

// usedCredential returns the id of the passkey that was used, and its new state.
func (o *owner) usedCredential(c *webauthn.Credential) (id, credential string, err error) {
	if c.Authenticator.CloneWarning {
		return "", "", fermata.Errorf(fermata.CodeUnauthenticated, "the passkey's counter went back: there may be a copy of it").
			WithHint("sign in another way; an admin can remove the passkey")
	}
	updated, err := json.Marshal(c)
	if err != nil {
		return "", "", fermata.Internal("keep a passkey", err)
	}
	for _, k := range o.keys {
		if k.CredentialID == credentialID(c.ID) {
			return k.ID, string(updated), nil
		}
	}
	return "", "", badPasskeyError(fermata.NotFound("passkey", ""))
}

// BeginRegistration returns the options for navigator.credentials.create, and the secret
// that the browser keeps until [Passkeys.EndRegistration].
func (p *Passkeys) BeginRegistration(ctx context.Context, c fermata.Caller) (options json.RawMessage, secret string, err error) {
	if err := p.engine.CheckAddPasskey(ctx, c); err != nil {
		return nil, "", err
	}
	user, err := p.owner(ctx, c.MemberID)
	if err != nil {
		return nil, "", err
	}
	creation, session, err := p.wa.BeginRegistration(user, webauthn.WithExclusions(webauthn.Credentials(user.WebAuthnCredentials()).CredentialDescriptors()))
	if err != nil {
		return nil, "", fermata.Internal("begin to add a passkey", err)
	}
	return p.begin(ctx, engine.FlowAddPasskey, creation, session)
}

// EndRegistration verifies the new passkey and stores it.
func (p *Passkeys) EndRegistration(ctx context.Context, c fermata.Caller, secret, name string, credential []byte) (*fermata.Passkey, error) {
	if err := p.engine.CheckAddPasskey(ctx, c); err != nil {
		return nil, err
	}
	var session webauthn.SessionData
	if err := p.engine.EndFlow(ctx, engine.FlowAddPasskey, secret, &session); err != nil {
		return nil, err
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(credential)
	if err != nil {
		return nil, badPasskeyError(err)
	}
	user, err := p.owner(ctx, c.MemberID)
	if err != nil {
		return nil, err
	}
	made, err := p.wa.CreateCredential(user, session, parsed)
	if err != nil {
		return nil, badPasskeyError(err)
	}
	data, err := json.Marshal(made)
	if err != nil {
		return nil, fermata.Internal("keep a passkey", err)
	}
	return p.engine.AddPasskey(ctx, c, name, credentialID(made.ID), string(data))
}
