package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/private"
)

// slotSize is how many bytes a record takes in the head file. A disk writes so many at once.
const slotSize = 512

// Head is the end of a workspace's chain that was acknowledged.
type Head struct {
	Workspace string    `json:"workspace"`
	Seq       int64     `json:"seq"`
	Hash      string    `json:"hash"`
	At        time.Time `json:"at"`
}

// rest is the first record of the file: how the database was left.
type rest struct {
	// Closed reports that it was closed in order, as a file of this size that was changed last at this time.
	Closed   bool  `json:"closed"`
	Size     int64 `json:"size,omitempty"`
	Modified int64 `json:"modified,omitempty"`
}

// record is a line of the file. A line that was written by half has another sum.
type record struct {
	Sum  uint32          `json:"sum"`
	Data json.RawMessage `json:"data"`
}

// heads keeps the head of every workspace in a file outside the database. A head is written after its commit, so it
// is never ahead of the database. A process that is killed leaves it exact; after a power cut it lags by as much as
// was committed since the last sync.
type heads struct {
	path string
	// syncing is held by the one sync that is under way. A disk may take long for it, and commits do not wait.
	syncing sync.Mutex

	mu   sync.Mutex
	file headFile
	rest rest
	// last are the heads by workspace; places are where they stand in the file.
	last   map[string]Head
	places map[string]*place
	// dirty reports that something was written since the last sync; err is the first failure to write.
	dirty bool
	err   error
	// failed reports that a sync failed and no new file took the place of this one. What such a sync did not
	// make durable is lost, and a later one that succeeds does not say so (fsync(2)).
	failed bool
}

// headFile is what heads need of a file.
type headFile interface {
	io.WriterAt
	io.Closer
	Sync() error
}

// place is the two slots of a workspace, which are written in turn.
type place struct{ slot, turn int64 }

// openHeads opens the file, or makes it.
func openHeads(path string) (*heads, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, headTrouble(err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, headTrouble(err)
	}
	h := &heads{path: path, file: file, last: map[string]Head{}, places: map[string]*place{}}
	data, err := io.ReadAll(file)
	if err != nil {
		return nil, errors.Join(headTrouble(err), file.Close())
	}
	h.read(data)
	return h, nil
}

func headTrouble(err error) error {
	reason, hint := "the file that keeps what was acknowledged cannot be written", hintFull
	if errors.Is(err, syscall.EROFS) {
		reason, hint = "the file that keeps what was acknowledged is on a read-only file system", hintReadOnly
	}
	return unavailable("keep the head of the chain", passing(reason, hint, err))
}

// read takes every record that is whole.
func (h *heads) read(data []byte) {
	for slot := int64(0); slot*slotSize < int64(len(data)); slot++ {
		line := data[slot*slotSize : min((slot+1)*slotSize, int64(len(data)))]
		if slot == 0 {
			_ = readRecord(line, &h.rest)
			continue
		}
		var head Head
		if readRecord(line, &head) != nil {
			continue
		}
		h.places[head.Workspace] = &place{slot: slot - (slot-1)%2, turn: slot % 2}
		if head.Seq > h.last[head.Workspace].Seq {
			h.last[head.Workspace] = head
		}
	}
}

func readRecord(line []byte, into any) error {
	var r record
	if err := json.Unmarshal(bytes.TrimRight(line, " \n\x00"), &r); err != nil {
		return err
	}
	if crc32.ChecksumIEEE(r.Data) != r.Sum {
		return errors.New("the record was written by half")
	}
	return json.Unmarshal(r.Data, into)
}

// slotOf returns the bytes of a record.
func slotOf(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	line, err := json.Marshal(record{Sum: crc32.ChecksumIEEE(data), Data: data})
	if err != nil {
		return nil, err
	}
	if len(line) >= slotSize {
		return nil, fmt.Errorf("the record of %d bytes is longer than %d", len(line), slotSize)
	}
	return append(append(line, bytes.Repeat([]byte(" "), slotSize-len(line)-1)...), '\n'), nil
}

// note writes a head that was committed. The next sync makes it durable.
func (h *heads) note(head Head) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last[head.Workspace] = head
	h.writeHead(head)
}

func (h *heads) writeHead(head Head) {
	p := h.places[head.Workspace]
	if p == nil {
		p = &place{slot: 1 + 2*int64(len(h.places))}
		h.places[head.Workspace] = p
	}
	h.write(p.slot+p.turn, head)
	p.turn = 1 - p.turn
}

func (h *heads) write(slot int64, v any) {
	if err := writeSlot(h.file, slot, v); err != nil && h.err == nil {
		h.err = err
	}
	h.dirty = true
}

func writeSlot(file headFile, slot int64, v any) error {
	line, err := slotOf(v)
	if err == nil {
		_, err = file.WriteAt(line, slot*slotSize)
	}
	return err
}

// sync makes durable what was written before it began. After a failure a new file with all heads takes the place of the
// old one; until one does, every sync returns the failure.
func (h *heads) sync() error {
	if h == nil {
		return nil
	}
	h.syncing.Lock()
	defer h.syncing.Unlock()
	h.mu.Lock()
	file, dirty, failed, err := h.file, h.dirty, h.failed, h.err
	h.dirty, h.err = false, nil
	h.mu.Unlock()
	if !dirty && !failed {
		return nil
	}
	if err == nil && !failed {
		if err = file.Sync(); err == nil {
			return nil
		}
	}
	return h.beginAnew(err)
}

// beginAnew replaces the file after a failure. The caller holds syncing.
func (h *heads) beginAnew(failure error) error {
	err := h.replace()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failed = err != nil
	if err != nil {
		return headTrouble(errors.Join(failure, err))
	}
	return nil
}

// replace writes a new file with every head and puts it in the place of the old one. The caller holds syncing.
func (h *heads) replace() error {
	h.mu.Lock()
	rest, last := h.rest, maps.Clone(h.last)
	h.mu.Unlock()
	file, err := os.CreateTemp(filepath.Dir(h.path), filepath.Base(h.path)+".*")
	if err != nil {
		return err
	}
	places := map[string]*place{}
	err = writeSlot(file, 0, rest)
	for _, workspace := range slices.Sorted(maps.Keys(last)) {
		p := &place{slot: 1 + 2*int64(len(places))}
		places[workspace] = p
		// Both slots hold the same, so that no older head is left.
		err = errors.Join(err, writeSlot(file, p.slot, last[workspace]), writeSlot(file, p.slot+1, last[workspace]))
	}
	if err = errors.Join(err, file.Sync()); err == nil {
		err = os.Rename(file.Name(), h.path)
	}
	if err != nil {
		return errors.Join(err, file.Close(), os.Remove(file.Name()))
	}
	return errors.Join(h.swap(file, places, rest, last).Close(), private.SyncFolder(filepath.Dir(h.path)))
}

// swap goes on with a new file, adds the heads that were noted while it was written, and returns the old file.
func (h *heads) swap(file headFile, places map[string]*place, left rest, written map[string]Head) (old headFile) {
	h.mu.Lock()
	defer h.mu.Unlock()
	old = h.file
	h.file, h.places, h.dirty, h.err = file, places, false, nil
	if h.rest != left {
		h.write(0, h.rest)
	}
	for _, workspace := range slices.Sorted(maps.Keys(h.last)) {
		if head := h.last[workspace]; head != written[workspace] {
			h.writeHead(head)
		}
	}
	return old
}

// setRest writes how the database is left.
func (h *heads) setRest(r rest) error {
	h.mu.Lock()
	h.rest = r
	h.write(0, r)
	h.mu.Unlock()
	return h.sync()
}

// close closes the file. A database that is whole is noted as such.
func (h *heads) close(r rest) error {
	err := h.sync()
	if err == nil && r.Closed {
		err = h.setRest(r)
	}
	return errors.Join(err, h.file.Close())
}

// noteHead keeps the head of a workspace that was committed.
func (db *DB) noteHead(workspace string, head fermata.Chain) {
	db.ends.Store(workspace, head)
	if db.heads != nil {
		db.heads.note(Head{Workspace: workspace, Seq: head.Seq, Hash: head.Hash, At: time.Now().UTC()})
	}
}

// checkHead refuses a database that went back while this process used it: another server took its place that has less.
func (db *DB) checkHead(workspace string, found counter) error {
	known, ok := db.ends.Load(workspace)
	if !ok {
		return nil
	}
	if last := known.(fermata.Chain); found.Seq < last.Seq || found.Seq == last.Seq && found.Hash != last.Hash {
		return unavailable("begin", stopError(describeLoss(Head{Workspace: workspace, Seq: last.Seq, Hash: last.Hash}, found.Seq), nil))
	}
	return nil
}

// restOf returns how a SQLite file is left that was closed.
func restOf(path string) rest {
	info, err := os.Stat(path)
	if err != nil {
		return rest{}
	}
	if size, err := sizeOf(path + "-wal"); size > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return rest{}
	}
	return rest{Closed: true, Size: info.Size(), Modified: info.ModTime().UnixNano()}
}
