package keys

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
)

const (
	// keySize is how many random bytes a master key has.
	keySize = 32
	// idPrefix begins the id of a master key.
	idPrefix = "mk_"
	// idSize is how many bytes of the key's fingerprint the id has.
	idSize = 8
)

// Ring is the master keys of a server and its signing key. It is safe for concurrent use.
type Ring struct {
	// path is the file of the ring; empty for a ring in memory.
	path string
	// readOnly reports that the file cannot be written: systemd hands it out as a credential.
	readOnly bool

	mu sync.RWMutex
	// stored is the content of the file; ciphers are its master keys, ready to use.
	stored  stored
	ciphers map[string]cipher.AEAD
	// reread is when the file was read again last.
	reread time.Time
}

// MasterKey describes a master key without its secret.
type MasterKey struct {
	ID        string    `json:"id"`
	CreatedAt time.Time `json:"created_at"`
	// Current reports that new values are sealed with this key.
	Current bool `json:"current"`
}

// New makes a ring in memory with new keys. Whatever it seals is lost with the process.
func New() *Ring {
	r := &Ring{stored: newStored()}
	if err := r.prepare(); err != nil {
		// The keys were made here.
		panic("keys: " + err.Error())
	}
	return r
}

// prepare makes the ciphers of the stored keys. The caller holds the lock, or owns the ring alone.
func (r *Ring) prepare() error {
	ciphers := make(map[string]cipher.AEAD, len(r.stored.Keys))
	for _, k := range r.stored.Keys {
		if k.ID != fingerprint(k.Secret) {
			return fmt.Errorf("the key %s was changed: its id is not the fingerprint of its secret", k.ID)
		}
		aead, err := newCipher(k.Secret)
		if err != nil {
			return fmt.Errorf("the key %s: %w", k.ID, err)
		}
		ciphers[k.ID] = aead
	}
	if ciphers[r.stored.Current] == nil {
		return fmt.Errorf("the current key %q is not among the keys", r.stored.Current)
	}
	r.ciphers = ciphers
	return nil
}

// Path returns the file of the ring; empty for a ring in memory.
func (r *Ring) Path() string { return r.path }

// Current returns the id of the key that the file wants new values sealed with.
func (r *Ring) Current() string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.stored.Current
}

// Has reports whether the ring has the master key.
func (r *Ring) Has(id string) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.ciphers[id] != nil
}

// IsNewer reports whether the master key a was added to the ring after b.
func (r *Ring) IsNewer(a, b string) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.place(a) > r.place(b)
}

func (r *Ring) place(id string) int {
	return slices.IndexFunc(r.stored.Keys, func(k storedKey) bool { return k.ID == id })
}

// MasterKeys lists the master keys without their secrets, the oldest first.
func (r *Ring) MasterKeys() []MasterKey {
	r.mu.RLock()
	defer r.mu.RUnlock()
	all := make([]MasterKey, 0, len(r.stored.Keys))
	for _, k := range r.stored.Keys {
		all = append(all, MasterKey{ID: k.ID, CreatedAt: k.CreatedAt, Current: k.ID == r.stored.Current})
	}
	return all
}

// cipher returns the key with the id. A key that is missing is looked for in the file again: another process may have
// added it.
func (r *Ring) cipher(id string) (cipher.AEAD, error) {
	r.mu.RLock()
	aead := r.ciphers[id]
	r.mu.RUnlock()
	if aead != nil {
		return aead, nil
	}
	r.reload()
	r.mu.RLock()
	defer r.mu.RUnlock()
	if aead = r.ciphers[id]; aead == nil {
		return nil, r.missingKey(id)
	}
	return aead, nil
}

// missingKey says that the database is sealed with a key that the ring lacks.
func (r *Ring) missingKey(id string) error {
	where := "the keys of this process"
	if r.path != "" {
		where = r.path
	}
	return fermata.Errorf(fermata.CodeUnavailable, "the database is sealed with the master key %s, which is not in %s", id, where).
		WithHint("name the file that has the key: --master-key-file, or FERMATA_MASTER_KEY_FILE; all replicas need the same file. " +
			"If the key is lost, the sealed secrets are lost, too: see docs/operations.md")
}

// newCipher derives the cipher of a master key.
func newCipher(secret []byte) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, secret, nil, "fermata seal v1", keySize)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// fingerprint returns the id of a master key. It tells nothing of the secret.
func fingerprint(secret []byte) string {
	sum, err := hkdf.Key(sha256.New, secret, nil, "fermata master key id v1", idSize)
	if err != nil {
		// The size is a constant that the hash can give.
		panic("keys: " + err.Error())
	}
	return idPrefix + hex.EncodeToString(sum)
}

func newSecret() []byte {
	secret := make([]byte, keySize)
	_, _ = rand.Read(secret) // it never fails
	return secret
}
