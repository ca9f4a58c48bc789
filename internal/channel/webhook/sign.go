package webhook

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/fermata-hq/fermata"
)

// These are the prefixes of secrets and keys.
const (
	secretPrefix     = "whsec_"
	privateKeyPrefix = "whsk_"
	publicKeyPrefix  = "whpk_"
)

// These are the sizes of secrets, in bytes.
const (
	minSecretSize, maxSecretSize = 24, 64
	newSecretSize                = 32
)

var encoding = base64.StdEncoding

// signer signs with every secret and key that receivers may use to verify.
type signer struct {
	secrets []*standardwebhooks.Webhook
	key     ed25519.PrivateKey
}

func newSigner(s keys) (signer, error) {
	var sign signer
	for _, secret := range []struct{ field, text string }{
		{"settings.secret", s.Secret}, {"settings.previous_secret", s.PreviousSecret},
	} {
		if secret.text == "" {
			continue
		}
		raw, err := decodeSecret(secret.field, secret.text)
		if err != nil {
			return sign, err
		}
		hook, err := standardwebhooks.NewWebhookRaw(raw)
		if err != nil {
			return sign, err
		}
		sign.secrets = append(sign.secrets, hook)
	}
	if s.Ed25519PrivateKey != "" {
		key, err := decodeKey(s.Ed25519PrivateKey)
		if err != nil {
			return sign, err
		}
		sign.key = key
	}
	if len(sign.secrets) == 0 && sign.key == nil {
		return sign, fermata.Invalid(fermata.Problem{Field: "settings.secret", Message: "is missing"}).
			WithHint("write \"generate\" for a new one")
	}
	return sign, nil
}

// sign returns the signatures of one attempt. The one with the current secret
// comes first.
func (s signer) sign(id string, at time.Time, body []byte) (string, error) {
	var all []string
	for _, secret := range s.secrets {
		signature, err := secret.Sign(id, at, body)
		if err != nil {
			return "", err
		}
		all = append(all, signature)
	}
	if s.key != nil {
		signed := fmt.Appendf(nil, "%s.%s.%s", id, formatUnix(at), body)
		all = append(all, "v1a,"+encoding.EncodeToString(ed25519.Sign(s.key, signed)))
	}
	return strings.Join(all, " "), nil
}

func formatUnix(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }

// decodeSecret reads whsec_… and checks that the secret has 24 to 64 bytes.
func decodeSecret(field, text string) ([]byte, error) {
	rest, ok := strings.CutPrefix(text, secretPrefix)
	raw, err := encoding.DecodeString(rest)
	if !ok || err != nil || len(raw) < minSecretSize || len(raw) > maxSecretSize {
		return nil, fermata.Invalid(fermata.Problem{
			Field: field, Message: fmt.Sprintf("is not %s followed by the base64 of %d to %d bytes", secretPrefix, minSecretSize, maxSecretSize),
		}).WithHint("write \"generate\" for a new one, or make one with: echo %s$(openssl rand -base64 32)", secretPrefix)
	}
	return raw, nil
}

// decodeKey reads whsk_… followed by a seed, or by a seed and its public key.
func decodeKey(text string) (ed25519.PrivateKey, error) {
	rest, ok := strings.CutPrefix(text, privateKeyPrefix)
	raw, err := encoding.DecodeString(rest)
	if ok && err == nil && len(raw) == ed25519.SeedSize {
		return ed25519.NewKeyFromSeed(raw), nil
	}
	if ok && err == nil && len(raw) == ed25519.PrivateKeySize {
		key := ed25519.NewKeyFromSeed(raw[:ed25519.SeedSize])
		if key.Equal(ed25519.PrivateKey(raw)) {
			return key, nil
		}
	}
	return nil, fermata.Invalid(fermata.Problem{
		Field: "settings.ed25519_private_key", Message: "is not " + privateKeyPrefix + " followed by the base64 of a key of 32 or 64 bytes",
	}).WithHint("write \"generate\" for a new one")
}

// publicKey returns the public key of a private one, for receivers.
func publicKey(private string) (string, error) {
	key, err := decodeKey(private)
	if err != nil {
		return "", err
	}
	return publicKeyPrefix + encoding.EncodeToString(key.Public().(ed25519.PublicKey)), nil
}

func newSecret() string {
	raw := make([]byte, newSecretSize)
	_, _ = rand.Read(raw) // it never fails
	return secretPrefix + encoding.EncodeToString(raw)
}

func newKey() string {
	seed := make([]byte, ed25519.SeedSize)
	_, _ = rand.Read(seed) // it never fails
	return privateKeyPrefix + encoding.EncodeToString(ed25519.NewKeyFromSeed(seed))
}

// isStoredElsewhere reports whether a setting only names the place where the
// secret is stored.
func isStoredElsewhere(text string) bool {
	return strings.HasPrefix(text, "env:") || strings.HasPrefix(text, "file:")
}
