package keys

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
)

// AuditSigner signs checkpoints of the audit chain. Its key is in the key file and not in the database, so whoever can
// write the database cannot sign another history.
type AuditSigner struct {
	key ed25519.PrivateKey
}

// AuditSigner returns what signs checkpoints of the audit chain.
func (r *Ring) AuditSigner() AuditSigner {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return AuditSigner{ed25519.NewKeyFromSeed(r.stored.AuditSeed)}
}

// KeyID names the key by the fingerprint of its public half.
func (s AuditSigner) KeyID() string { return AuditKeyID(s.PublicKey()) }

// AuditKeyID names a public key by its fingerprint.
func AuditKeyID(public ed25519.PublicKey) string {
	sum := sha256.Sum256(public)
	return "ak_" + hex.EncodeToString(sum[:idSize])
}

// PublicKey returns the key that checks signatures. Everyone may know it.
func (s AuditSigner) PublicKey() ed25519.PublicKey { return s.key.Public().(ed25519.PublicKey) }

// Sign returns the Ed25519 signature of the message.
func (s AuditSigner) Sign(message []byte) []byte { return ed25519.Sign(s.key, message) }
