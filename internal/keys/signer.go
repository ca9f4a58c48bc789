package keys

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
)

// AuditSigner signs checkpoints of the audit chain. Its key is in the key file and not in the database. So a person
// who can write the database cannot sign a false history.
type AuditSigner struct {
	key ed25519.PrivateKey
}

// AuditSigner returns the signer for checkpoints of the audit chain.
func (r *Ring) AuditSigner() AuditSigner {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return AuditSigner{ed25519.NewKeyFromSeed(r.content.AuditSeed)}
}

// KeyID returns the fingerprint of the public key.
func (s AuditSigner) KeyID() string { return AuditKeyID(s.PublicKey()) }

// AuditKeyID returns the fingerprint of a public key.
func AuditKeyID(public ed25519.PublicKey) string {
	sum := sha256.Sum256(public)
	return "ak_" + hex.EncodeToString(sum[:idSize])
}

// PublicKey returns the key that verifies signatures. It is not secret.
func (s AuditSigner) PublicKey() ed25519.PublicKey { return s.key.Public().(ed25519.PublicKey) }

// Sign returns the Ed25519 signature of the message.
func (s AuditSigner) Sign(message []byte) []byte { return ed25519.Sign(s.key, message) }
