package store

import (
	"bytes"
	"context"
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

// slotSize is the size of a record in the head file, in bytes. A disk writes that many bytes at once.
const slotSize = 512

// Head is the last acknowledged event of a workspace's chain: its number and its hash.
type Head struct {
	Workspace string    `json:"workspace"`
	Seq       int64     `json:"seq"`
	Hash      string    `json:"hash"`
	At        time.Time `json:"at"`
}

// closeState is the first record of the file. It says how the database was left.
type closeState struct {
	// Closed reports whether the database was closed cleanly. Its file then had this size and this modification time.
	Closed   bool  `json:"closed"`
	Size     int64 `json:"size,omitempty"`
	Modified int64 `json:"modified,omitempty"`
}

// record is one line of the file. A line that was only partly written does not match its sum.
type record struct {
	Sum  uint32          `json:"sum"`
	Data json.RawMessage `json:"data"`
}

// heads stores the head of every workspace in a file outside the database. A head is written after its commit, so it
// is never ahead of the database. If the process is killed, the file is exact. After a power cut, it lacks the
// commits since the last sync.
type heads struct {
	path string
	// syncing is held during a sync. A disk may take long for a sync, and commits do not wait for it.
	syncing sync.Mutex

	mu         sync.Mutex
	file       headFile
	closeState closeState
	// last are the heads by workspace; slots are their places in the file.
	last  map[string]Head
	slots map[string]*slotPair
	// dirty reports whether something was written since the last sync; err is the first failure to write.
	dirty bool
	err   error
	// failed reports whether a sync failed and no new file has replaced this one. The data of a failed sync is lost,
	// and a later sync that succeeds does not report this (fsync(2)).
	failed bool
}

// headFile is the part of a file that heads needs.
type headFile interface {
	io.WriterAt
	io.Closer
	Sync() error
}

// slotPair is the position of a workspace's two slots, which are written in turn.
type slotPair struct{ slot, turn int64 }

// openHeadFile opens the file, or creates it.
func openHeadFile(path string) (*heads, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, headError(err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, headError(err)
	}
	h := &heads{path: path, file: file, last: map[string]Head{}, slots: map[string]*slotPair{}}
	data, err := io.ReadAll(file)
	if err != nil {
		return nil, errors.Join(headError(err), file.Close())
	}
	h.read(data)
	return h, nil
}

func headError(err error) error {
	reason, hint := "the file that keeps what was acknowledged cannot be written", hintFull
	if errors.Is(err, syscall.EROFS) {
		reason, hint = "the file that keeps what was acknowledged is on a read-only file system", hintReadOnly
	}
	return unavailable("keep the head of the chain", temporaryTrouble(reason, hint, err))
}

// read loads every complete record into h.
func (h *heads) read(data []byte) {
	for slot := int64(0); slot*slotSize < int64(len(data)); slot++ {
		line := data[slot*slotSize : min((slot+1)*slotSize, int64(len(data)))]
		if slot == 0 {
			_ = readRecord(line, &h.closeState)
			continue
		}
		var head Head
		if readRecord(line, &head) != nil {
			continue
		}
		h.slots[head.Workspace] = &slotPair{slot: slot - (slot-1)%2, turn: slot % 2}
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

// slotOf returns the bytes of the slot that holds v.
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

// noteHead writes a head that was committed. The next sync makes it durable.
func (h *heads) noteHead(head Head) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last[head.Workspace] = head
	h.writeHead(head)
}

func (h *heads) writeHead(head Head) {
	p := h.slots[head.Workspace]
	if p == nil {
		p = &slotPair{slot: 1 + 2*int64(len(h.slots))}
		h.slots[head.Workspace] = p
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

// sync makes everything durable that was written before the call. After a failure it writes a new file with all
// heads, which replaces the old one. Until this succeeds, every sync returns the failure.
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
	return h.replaceFile(err)
}

// replaceFile replaces the file after a failure. The caller holds syncing.
func (h *heads) replaceFile(failure error) error {
	err := h.writeNewFile()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failed = err != nil
	if err != nil {
		return headError(errors.Join(failure, err))
	}
	return nil
}

// writeNewFile writes a new file with every head, and renames it over the old one. The caller holds syncing.
func (h *heads) writeNewFile() error {
	h.mu.Lock()
	state, last := h.closeState, maps.Clone(h.last)
	h.mu.Unlock()
	file, err := os.CreateTemp(filepath.Dir(h.path), filepath.Base(h.path)+".*")
	if err != nil {
		return err
	}
	slots := map[string]*slotPair{}
	err = writeSlot(file, 0, state)
	for _, workspace := range slices.Sorted(maps.Keys(last)) {
		p := &slotPair{slot: 1 + 2*int64(len(slots))}
		slots[workspace] = p
		// Both slots hold the same head, so that no older head is left.
		err = errors.Join(err, writeSlot(file, p.slot, last[workspace]), writeSlot(file, p.slot+1, last[workspace]))
	}
	if err = errors.Join(err, file.Sync()); err == nil {
		err = os.Rename(file.Name(), h.path)
	}
	if err != nil {
		return errors.Join(err, file.Close(), os.Remove(file.Name()))
	}
	return errors.Join(h.swap(file, slots, state, last).Close(), private.SyncFolder(filepath.Dir(h.path)))
}

// swap switches to a new file, adds the heads that were noted while that file was written, and returns the old file.
func (h *heads) swap(file headFile, slots map[string]*slotPair, state closeState, written map[string]Head) (old headFile) {
	h.mu.Lock()
	defer h.mu.Unlock()
	old = h.file
	h.file, h.slots, h.dirty, h.err = file, slots, false, nil
	if h.closeState != state {
		h.write(0, h.closeState)
	}
	for _, workspace := range slices.Sorted(maps.Keys(h.last)) {
		if head := h.last[workspace]; head != written[workspace] {
			h.writeHead(head)
		}
	}
	return old
}

// setCloseState records how the database is left.
func (h *heads) setCloseState(r closeState) error {
	h.mu.Lock()
	h.closeState = r
	h.write(0, r)
	h.mu.Unlock()
	return h.sync()
}

// close closes the file. If r says that the database was closed cleanly, close records r first.
func (h *heads) close(r closeState) error {
	err := h.sync()
	if err == nil && r.Closed {
		err = h.setCloseState(r)
	}
	return errors.Join(err, h.file.Close())
}

// committedHead is a head that this process committed, and the server that has it.
type committedHead struct {
	Head
	server int64
}

// noteHead stores the head of a workspace after a commit on a server.
func (db *DB) noteHead(workspace string, chain fermata.Chain, server int64) {
	head := Head{Workspace: workspace, Seq: chain.Seq, Hash: chain.Hash, At: time.Now().UTC()}
	db.committedHeads.Store(workspace, committedHead{head, server})
	if db.heads != nil {
		db.heads.noteHead(head)
	}
}

// checkHead returns an error if the database lacks an event that this process committed. This happens if another server
// with fewer events has taken its place. Other processes may have written there since, so that it has more events now.
// Therefore the first write on another server reads the committed event.
func (db *DB) checkHead(ctx context.Context, workspace string, found counter) error {
	known, ok := db.committedHeads.Load(workspace)
	if !ok {
		return nil
	}
	last := known.(committedHead)
	if found.Seq < last.Seq || found.Seq == last.Seq && found.Hash != last.Hash {
		return unavailable("begin", lossTrouble(describeLoss(last.Head, found.Seq)))
	}
	if found.server == last.server {
		return nil
	}
	loss, err := db.findLoss(ctx, last.Head)
	if err != nil {
		return err
	}
	if loss != nil {
		return unavailable("begin", lossTrouble(loss.String()))
	}
	db.committedHeads.Store(workspace, committedHead{last.Head, found.server})
	return nil
}

// closeStateOf returns the state of a closed SQLite file. It is the zero state if the write-ahead log is not empty.
func closeStateOf(path string) closeState {
	info, err := os.Stat(path)
	if err != nil {
		return closeState{}
	}
	if size, err := sizeOf(path + "-wal"); size > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return closeState{}
	}
	return closeState{Closed: true, Size: info.Size(), Modified: info.ModTime().UnixNano()}
}
