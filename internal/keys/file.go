package keys

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/private"
)

// maxFileBytes is the largest size of a key file. It has room for hundreds of keys.
const maxFileBytes = 256 << 10

// reloadInterval is the shortest time between two reads of the file for a missing key.
const reloadInterval = time.Second

// fileContent is the content of a key file.
type fileContent struct {
	// Note explains the file to a person who finds it.
	Note string      `json:"note"`
	Keys []storedKey `json:"master_keys"`
	// Current is the id of the master key that seals new values.
	Current string `json:"current"`
	// AuditSeed is the Ed25519 seed that signs checkpoints of the audit chain.
	AuditSeed []byte `json:"audit_signing_seed"`
}

type storedKey struct {
	ID        string    `json:"id"`
	Secret    []byte    `json:"secret"`
	CreatedAt time.Time `json:"created_at"`
}

const note = "Keys of a Fermata server. Keep this file secret, and apart from backups of the database: " +
	"without it, the secrets in the database cannot be read."

func newFileContent() fileContent {
	k := newKey()
	seed := make([]byte, ed25519.SeedSize)
	copy(seed, newSecret())
	return fileContent{Note: note, Keys: []storedKey{k}, Current: k.ID, AuditSeed: seed}
}

func newKey() storedKey {
	secret := newSecret()
	return storedKey{ID: fingerprint(secret), Secret: secret, CreatedAt: time.Now().UTC().Truncate(time.Second)}
}

// Create creates a key file with new keys. Only the owner may read the file. If the file exists, Create returns an
// error.
func Create(path string) (*Ring, error) {
	r := &Ring{path: path, content: newFileContent()}
	if err := r.prepare(); err != nil {
		return nil, err
	}
	data, err := encode(r.content)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), private.FolderMode); err != nil {
		return nil, writeError(path, err)
	}
	return r, writeNew(path, data)
}

// writeNew writes a whole file under a free name. It writes a temporary file and links it to the name, which fails if
// the name is taken. So two processes that start together do not overwrite each other's keys.
func writeNew(path string, data []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return writeError(path, err)
	}
	defer func() { _ = os.Remove(temporary.Name()) }()
	_, err = temporary.Write(data)
	if err = errors.Join(err, temporary.Sync(), temporary.Close()); err == nil {
		err = os.Link(temporary.Name(), path)
	}
	if errors.Is(err, fs.ErrExist) {
		return fermata.Errorf(fermata.CodeInvalidRequest, "the key file %s exists already", path).
			WithHint("use it as it is, or name another file")
	}
	if err == nil {
		err = private.SyncFolder(filepath.Dir(path))
	}
	if err != nil {
		return writeError(path, err)
	}
	return nil
}

func writeError(path string, err error) error {
	return fermata.Errorf(fermata.CodeUnavailable, "the key file %s cannot be written: %w", path, err).
		WithHint("name a file that the server may write, outside the data folder, with --master-key-file or FERMATA_MASTER_KEY_FILE")
}

// Load reads a key file. If the file does not exist, the error is [fs.ErrNotExist].
func Load(path string) (*Ring, error) {
	s, err := read(path)
	if err != nil {
		return nil, err
	}
	r := &Ring{path: path, content: s}
	if err := r.prepare(); err != nil {
		return nil, readError(path, err)
	}
	return r, nil
}

func read(path string) (fileContent, error) {
	file, err := os.Open(path)
	if err != nil {
		return fileContent{}, readError(path, err)
	}
	data, err := io.ReadAll(io.LimitReader(file, maxFileBytes))
	if err = errors.Join(err, file.Close()); err != nil {
		return fileContent{}, readError(path, err)
	}
	var s fileContent
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return fileContent{}, readError(path, fmt.Errorf("it is no key file of Fermata: %w", err))
	}
	if len(s.AuditSeed) != ed25519.SeedSize {
		return fileContent{}, readError(path, errors.New("it has no key that signs the audit chain"))
	}
	return s, nil
}

func readError(path string, err error) error {
	return fermata.Errorf(fermata.CodeUnavailable, "the key file %s cannot be read: %w", path, err).
		WithHint("restore it from its own backup; the server's user must be able to read it")
}

func encode(s fileContent) ([]byte, error) {
	data, err := json.MarshalIndent(s, "", "  ")
	return append(data, '\n'), err
}

// reload reads the file again, at most once in reloadInterval. If the file cannot be read, the ring stays unchanged.
func (r *Ring) reload() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.path == "" || time.Since(r.rereadAt) < reloadInterval {
		return
	}
	r.rereadAt = time.Now()
	s, err := read(r.path)
	if err != nil {
		return
	}
	before := r.content
	r.content = s
	if r.prepare() != nil {
		r.content = before
	}
}

// Add puts a new master key into the file. It becomes the current key only by [Ring.Promote].
func (r *Ring) Add() (id string, err error) {
	k := newKey()
	return k.ID, r.change(func(s *fileContent) { s.Keys = append(slices.Clone(s.Keys), k) })
}

// Promote makes a master key of the ring the current one.
func (r *Ring) Promote(id string) error {
	if !r.Has(id) {
		return r.missingKey(id)
	}
	return r.change(func(s *fileContent) { s.Current = id })
}

// change replaces the file with changed keys. A crash leaves the old file or the new one.
func (r *Ring) change(edit func(*fileContent)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := r.content
	edit(&next)
	if err := r.write(next); err != nil {
		return err
	}
	r.content = next
	return r.prepare()
}

// write replaces the file of the ring, if it has one.
func (r *Ring) write(next fileContent) error {
	if r.path == "" {
		return nil
	}
	if r.readOnly {
		return fermata.Errorf(fermata.CodeInvalidRequest, "%s is a credential of systemd and cannot be changed here", r.path).
			WithHint("change the file that the credential is made from; name it with --master-key-file")
	}
	data, err := encode(next)
	if err == nil {
		err = private.Replace(r.path, data)
	}
	if err != nil {
		return writeError(r.path, err)
	}
	return nil
}
