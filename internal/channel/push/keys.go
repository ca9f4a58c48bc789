package push

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"strings"

	"github.com/fermata-hq/fermata"
)

// storedKey is the key under which the server stores the private key that it
// created.
const storedKey = "vapid_private_key"

// PublicKey returns the key that a page gives to the browser when a person adds
// a device. The device then accepts messages only from this server.
func (c *Channel) PublicKey(ctx context.Context) (string, error) {
	key, err := c.key(ctx)
	if err != nil {
		return "", err
	}
	return encodePublicKey(key), nil
}

// key returns the key of the settings, or else the key that was created at the
// first use. It reads that key each time, because another process may have
// created it.
func (c *Channel) key(ctx context.Context) (*ecdh.PrivateKey, error) {
	if c.PrivateKey != "" {
		return readKey(c.PrivateKey)
	}
	kept, err := c.env.Load(ctx, storedKey)
	if err != nil {
		return nil, err
	}
	if kept == "" {
		if kept, err = c.makeKey(ctx); err != nil {
			return nil, err
		}
	}
	return readKey(kept)
}

// makeKey creates and stores a key, unless another process has stored one
// first. It returns the stored key. A device that was given another key would
// accept nothing from this server.
func (c *Channel) makeKey(ctx context.Context) (string, error) {
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return "", err
	}
	return c.env.LoadOrStore(ctx, storedKey, encodePrivateKey(key))
}

func readKey(written string) (*ecdh.PrivateKey, error) {
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(strings.TrimSpace(written), "="))
	if err == nil {
		var key *ecdh.PrivateKey
		if key, err = ecdh.P256().NewPrivateKey(raw); err == nil {
			return key, nil
		}
	}
	return nil, fermata.Errorf(fermata.CodeInvalidRequest, "private_key is not a VAPID key").
		WithHint("it is 32 bytes in base64url, as `npx web-push generate-vapid-keys` prints it; leave it out and the server makes one")
}

func encodePublicKey(key *ecdh.PrivateKey) string {
	return base64.RawURLEncoding.EncodeToString(key.PublicKey().Bytes())
}

func encodePrivateKey(key *ecdh.PrivateKey) string {
	return base64.RawURLEncoding.EncodeToString(key.Bytes())
}
