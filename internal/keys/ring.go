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
	// keySize is the number of random bytes of a master key.
	keySize = 32
	// idPrefix is the beginning of a master key's id.
	idPrefix = "mk_"
	// idSize is the number of bytes of the key's fingerprint in the id.
	idSize = 8
)

// Ring holds the master keys of a server and its signing key. It is safe for concurrent use.
type Ring struct {
	// path is the file of the ring, or empty for a ring in memory.
	path string
	// readOnly reports whether the file is a credential of systemd, which cannot be written.
	readOnly bool

	mu sync.RWMutex
	// content is the content of the file. ciphers are the ciphers of its master keys, by id.
	content fileContent
	ciphers map[string]cipher.AEAD
	// rereadAt is the time of the last reload of the file.
	rereadAt time.Time
}

// MasterKey describes a master key without its secret.
type MasterKey struct {
	ID        string    `json:"id"`
	CreatedAt time.Time `json:"created_at"`
	// Current reports whether new values are sealed with this key.
	Current bool `json:"current"`
}

// New creates a ring in memory with new keys. Values that it seals cannot be opened after the process ends.
func New() *Ring {
	r := &Ring{content: newFileContent()}
	if err := r.prepare(); err != nil {
		// newFileContent created these keys, so they are valid.
		panic("keys: " + err.Error())
	}
	return r
}

// prepare creates the ciphers of the stored keys. The caller must hold the lock or be the only owner of the ring.
func (r *Ring) prepare() error {
	ciphers := make(map[string]cipher.AEAD, len(r.content.Keys))
	for _, k := range r.content.Keys {
		if k.ID != fingerprint(k.Secret) {
			return fmt.Errorf("the key %s was changed: its id is not the fingerprint of its secret", k.ID)
		}
		aead, err := newCipher(k.Secret)
		if err != nil {
			return fmt.Errorf("the key %s: %w", k.ID, err)
		}
		ciphers[k.ID] = aead
	}
	if ciphers[r.content.Current] == nil {
		return fmt.Errorf("the current key %q is not among the keys", r.content.Current)
	}
	r.ciphers = ciphers
	return nil
}

// Path returns the file of the ring, or "" for a ring in memory.
func (r *Ring) Path() string { return r.path }

// Current returns the id of the key with which the file says to seal new values.
func (r *Ring) Current() string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.content.Current
}

// Has reports whether the ring has the master key.
func (r *Ring) Has(id string) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.ciphers[id] != nil
}

// IsNewer reports whether master key a was added to the ring after b.
func (r *Ring) IsNewer(a, b string) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.indexOf(a) > r.indexOf(b)
}

func (r *Ring) indexOf(id string) int {
	return slices.IndexFunc(r.content.Keys, func(k storedKey) bool { return k.ID == id })
}

// MasterKeys lists the master keys without their secrets, the oldest first.
func (r *Ring) MasterKeys() []MasterKey {
	r.mu.RLock()
	defer r.mu.RUnlock()
	all := make([]MasterKey, 0, len(r.content.Keys))
	for _, k := range r.content.Keys {
		all = append(all, MasterKey{ID: k.ID, CreatedAt: k.CreatedAt, Current: k.ID == r.content.Current})
	}
	return all
}

// cipher returns the cipher of the key with the id. If the key is missing, it reads the file again, because another
// process may have added the key.
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

// missingKey returns the error for a database that is sealed with a key that the ring does not have.
func (r *Ring) missingKey(id string) error {
	where := "the keys of this process"
	if r.path != "" {
		where = r.path
	}
	return fermata.Errorf(fermata.CodeUnavailable, "the database is sealed with the master key %s, which is not in %s", id, where).
		WithHint("name the file that has the key: --master-key-file, or FERMATA_MASTER_KEY_FILE; all replicas need the same file. " +
			"If the key is lost, the sealed secrets are lost, too: see docs/operate/backup.md")
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

// fingerprint returns the id of a master key. The id reveals nothing about the secret.
func fingerprint(secret []byte) string {
	sum, err := hkdf.Key(sha256.New, secret, nil, "fermata master key id v1", idSize)
	if err != nil {
		// The size is a constant that the hash supports.
		panic("keys: " + err.Error())
	}
	return idPrefix + hex.EncodeToString(sum)
}

func newSecret() []byte {
	secret := make([]byte, keySize)
	_, _ = rand.Read(secret) // it never fails
	return secret
}
