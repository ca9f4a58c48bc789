package access_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"testing"

	"github.com/fxamacker/cbor/v2"
)

// authenticator is a software device with passkeys. It creates keys and signs
// as WebAuthn specifies. A test sets its fields to make it cheat.
type authenticator struct {
	t       *testing.T
	key     *ecdsa.PrivateKey
	id      []byte
	handle  []byte
	rp      string
	origin  string
	flags   byte
	counter uint32
}

// present is the flag for a person who touched the device; verified is the flag
// for a person whom the device recognised.
const (
	present  = 0x01
	verified = 0x04
	attested = 0x40
)

func newAuthenticator(t *testing.T, origin string) *authenticator {
	t.Helper()
	return &authenticator{t: t, origin: origin, flags: present | verified}
}

func (a *authenticator) must(err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
}

func encodeBase64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// credentialOptions is the part of the options that the authenticator reads.
type credentialOptions struct {
	Options struct {
		PublicKey struct {
			Challenge string
			RPID      string `json:"rpId"`
			RP        struct{ ID string }
			User      struct{ ID string }
			Selection struct {
				ResidentKey      string
				UserVerification string
			} `json:"authenticatorSelection"`
			UserVerification string
		} `json:"publicKey"`
	}
}

func (a *authenticator) clientData(ceremony, challenge string) []byte {
	data, err := json.Marshal(map[string]any{"type": "webauthn." + ceremony, "challenge": challenge, "origin": a.origin, "crossOrigin": false})
	a.must(err)
	return data
}

func (a *authenticator) authenticatorData(flags byte) []byte {
	host := sha256.Sum256([]byte(a.rp))
	return binary.BigEndian.AppendUint32(append(host[:], flags), a.counter)
}

// create creates a passkey, as navigator.credentials.create does.
func (a *authenticator) create(options string) string {
	a.t.Helper()
	var w credentialOptions
	a.must(json.Unmarshal([]byte(options), &w))
	o := w.Options.PublicKey
	if o.Selection.ResidentKey != "required" || o.Selection.UserVerification != "required" {
		a.t.Errorf("options: %s", options)
	}
	var err error
	a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	a.must(err)
	a.rp, a.id = o.RP.ID, []byte(rand.Text())
	a.handle, err = base64.RawURLEncoding.DecodeString(o.User.ID)
	a.must(err)
	point, err := a.key.PublicKey.Bytes()
	a.must(err)
	public, err := cbor.Marshal(map[int]any{1: 2, 3: -7, -1: 1, -2: point[1:33], -3: point[33:]})
	a.must(err)
	data := append(a.authenticatorData(a.flags|attested), make([]byte, 16)...)
	data = append(binary.BigEndian.AppendUint16(data, uint16(len(a.id))), a.id...)
	attestation, err := cbor.Marshal(map[string]any{"fmt": "none", "attStmt": map[string]any{}, "authData": append(data, public...)})
	a.must(err)
	return a.credential(map[string]any{
		"clientDataJSON": encodeBase64(a.clientData("create", o.Challenge)), "attestationObject": encodeBase64(attestation), "transports": []string{"internal"},
	})
}

// get signs, as navigator.credentials.get does.
func (a *authenticator) get(options string) string {
	a.t.Helper()
	var w credentialOptions
	a.must(json.Unmarshal([]byte(options), &w))
	if w.Options.PublicKey.UserVerification != "required" {
		a.t.Errorf("options: %s", options)
	}
	a.counter++
	client, data := a.clientData("get", w.Options.PublicKey.Challenge), a.authenticatorData(a.flags)
	hash := sha256.Sum256(client)
	signed := sha256.Sum256(append(data[:len(data):len(data)], hash[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, a.key, signed[:])
	a.must(err)
	return a.credential(map[string]any{
		"clientDataJSON": encodeBase64(client), "authenticatorData": encodeBase64(data), "signature": encodeBase64(signature), "userHandle": encodeBase64(a.handle),
	})
}

func (a *authenticator) credential(response map[string]any) string {
	data, err := json.Marshal(map[string]any{"credential": map[string]any{
		"id": encodeBase64(a.id), "rawId": encodeBase64(a.id), "type": "public-key", "response": response,
		"authenticatorAttachment": "platform", "clientExtensionResults": map[string]any{},
	}})
	a.must(err)
	return string(data)
}
