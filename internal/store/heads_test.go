package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	limit "github.com/fermata-hq/fermata/test/patience"
)

// slowFile is a file whose sync fails, or waits.
type slowFile struct {
	headFile
	syncErr error
	begun   chan struct{}
	release chan struct{}
}

func (f *slowFile) Sync() error {
	if f.release != nil {
		close(f.begun)
		<-f.release
	}
	if f.syncErr != nil {
		return f.syncErr
	}
	return f.headFile.Sync()
}

func newHeads(t *testing.T) *heads {
	t.Helper()
	h, err := openHeadFile(filepath.Join(t.TempDir(), "kept", "heads"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.file.Close() })
	return h
}

// readHeads returns the heads in the file.
func readHeads(t *testing.T, h *heads) map[string]Head {
	t.Helper()
	again, err := openHeadFile(h.path)
	if err != nil {
		t.Fatal(err)
	}
	_ = again.file.Close()
	return again.last
}

// A later sync that succeeds does not repair a failed one. Only a new file with all heads does.
func TestAFailedSyncIsNotBelievedLater(t *testing.T) {
	t.Parallel()
	h := newHeads(t)
	h.noteHead(Head{Workspace: "a", Seq: 1})
	disk := &slowFile{headFile: h.file, syncErr: errors.New("input/output error")}
	h.file = disk
	folder := filepath.Dir(h.path)
	if err := os.Rename(folder, folder+".away"); err != nil {
		t.Fatal(err)
	}
	if h.sync() == nil {
		t.Error("a sync that failed is taken for a good one")
	}
	disk.syncErr = nil
	for range 2 {
		if h.sync() == nil {
			t.Error("a later sync is taken for one of everything")
		}
	}
	h.noteHead(Head{Workspace: "b", Seq: 2})
	if err := os.Rename(folder+".away", folder); err != nil {
		t.Fatal(err)
	}
	if err := h.sync(); err != nil {
		t.Fatal(err)
	}
	if got := readHeads(t, h); got["a"].Seq != 1 || got["b"].Seq != 2 {
		t.Errorf("the file has %v", got)
	}
	if err := h.sync(); err != nil {
		t.Error(err)
	}
}

// A commit does not wait for a disk that does not answer.
func TestANoteWaitsForNoSync(t *testing.T) {
	t.Parallel()
	h := newHeads(t)
	h.noteHead(Head{Workspace: "a", Seq: 1})
	disk := &slowFile{headFile: h.file, begun: make(chan struct{}), release: make(chan struct{})}
	h.file = disk
	synced := make(chan error, 1)
	go func() { synced <- h.sync() }()
	limit.Receive(t, "a sync begins", disk.begun)
	noted := make(chan struct{})
	go func() {
		h.noteHead(Head{Workspace: "a", Seq: 2})
		close(noted)
	}()
	limit.Receive(t, "the head is noted", noted)
	close(disk.release)
	if err := limit.Receive(t, "the sync ends", synced); err != nil {
		t.Error(err)
	}
	if !h.dirty {
		t.Error("the head that was noted meanwhile is taken for durable")
	}
}

// A head that is noted while a new file is written is in that file.
func TestHeadsAreNotedWhileTheFileIsReplaced(t *testing.T) {
	t.Parallel()
	h := newHeads(t)
	var noting sync.WaitGroup
	for w := range 3 {
		noting.Go(func() {
			for n := range int64(200) {
				h.noteHead(Head{Workspace: fmt.Sprint(w), Seq: n + 1})
			}
		})
	}
	for range 20 {
		if err := h.rewrite(func(map[string]Head) {}); err != nil {
			t.Fatal(err)
		}
	}
	noting.Wait()
	if err := h.sync(); err != nil {
		t.Fatal(err)
	}
	for workspace, head := range readHeads(t, h) {
		if head.Seq != 200 {
			t.Errorf("workspace %s: the file has %d", workspace, head.Seq)
		}
	}
}
