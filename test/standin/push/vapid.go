package push

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const longestProof = 24 * time.Hour

// checkVAPID checks that the sender has the key with which the device
// subscribed (RFC 8292). It uses go-jose, which is not the library that created
// the signature.
func checkVAPID(authorization, origin, subscribed string, now time.Time) error {
	fields, ok := strings.CutPrefix(authorization, "vapid ")
	if !ok {
		return errors.New("no VAPID authorization")
	}
	params := map[string]string{}
	for field := range strings.SplitSeq(fields, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		params[name] = value
	}
	if params["k"] != subscribed {
		return errors.New("the subscription belongs to another key")
	}
	key, err := publicKey(params["k"])
	if err != nil {
		return err
	}
	signed, err := jose.ParseSignedCompact(params["t"], []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		return err
	}
	payload, err := signed.Verify(key)
	if err != nil {
		return err
	}
	return checkClaims(payload, origin, now)
}

func checkClaims(payload []byte, origin string, now time.Time) error {
	var claims struct {
		Aud, Sub string
		Exp      int64
	}
	if err := json.Unmarshal(payload, &claims); err != nil {
		return err
	}
	left := time.Unix(claims.Exp, 0).Sub(now)
	contact, isMail := strings.CutPrefix(claims.Sub, "mailto:")
	switch {
	case claims.Aud != origin:
		return fmt.Errorf("the token is for %q, not for %q", claims.Aud, origin)
	case left <= 0 || left > longestProof:
		return fmt.Errorf("the token ends in %s", left)
	case !strings.HasPrefix(claims.Sub, "https://") && (!isMail || strings.Contains(contact, ":") || !strings.Contains(contact, "@")):
		return fmt.Errorf("%q is nobody's address", claims.Sub)
	}
	return nil
}

func publicKey(written string) (*ecdsa.PublicKey, error) {
	raw, err := base64.RawURLEncoding.DecodeString(written)
	if err != nil {
		return nil, err
	}
	return ecdsa.ParseUncompressedPublicKey(elliptic.P256(), raw)
}
