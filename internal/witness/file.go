// Package witness keeps signed checkpoints of the audit chain outside the database, so that a database that was
// rewritten or restored to an older state is detected.
package witness

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/private"
)

// File keeps checkpoints as lines of JSON, the newest last. It never changes a line. So the file may be on an
// append-only medium, or in a folder that a backup or another machine reads.
type File struct {
	path string

	mu sync.Mutex
	// newest is the number of the newest checkpoint in the file, by workspace. It is nil before the file was read.
	newest map[string]int64
}

// NewFile returns a witness that keeps checkpoints in a file. The file is created with its first line.
func NewFile(path string) (*File, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	return &File{path: absolute}, nil
}

// Name returns the path of the file.
func (f *File) Name() string { return f.path }

// Keep adds the checkpoint, unless the file has it or a later one. The line is on the disk when Keep returns.
func (f *File) Keep(ctx context.Context, c fermata.SignedCheckpoint) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.load(ctx); err != nil || f.newest[c.Workspace] >= c.Seq {
		return err
	}
	line, err := json.Marshal(c)
	if err == nil {
		err = f.add(append(line, '\n'))
	}
	if err == nil {
		f.newest[c.Workspace] = c.Seq
	}
	return err
}

// load reads once what earlier processes kept.
func (f *File) load(ctx context.Context) error {
	if f.newest != nil {
		return nil
	}
	kept, err := f.Checkpoints(ctx)
	if err != nil {
		return err
	}
	f.newest = newestByWorkspace(kept)
	return nil
}

// newestByWorkspace returns the number of the newest checkpoint of each workspace.
func newestByWorkspace(kept []fermata.SignedCheckpoint) map[string]int64 {
	newest := map[string]int64{}
	for _, c := range kept {
		newest[c.Workspace] = max(newest[c.Workspace], c.Seq)
	}
	return newest
}

// add appends a line to the file. If a crash cut off the last line, the new line begins on a line of its own.
func (f *File) add(line []byte) error {
	file, err := os.OpenFile(f.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, private.FileMode)
	if err != nil {
		return err
	}
	if info, err := file.Stat(); err == nil && info.Size() > 0 {
		last := make([]byte, 1)
		if _, err := file.ReadAt(last, info.Size()-1); err == nil && last[0] != '\n' {
			line = append([]byte{'\n'}, line...)
		}
	}
	_, err = file.Write(line)
	return errors.Join(err, file.Sync(), file.Close())
}

// Checkpoints returns the checkpoints of the file in the order of its lines. If the file does not exist, there are none.
func (f *File) Checkpoints(context.Context) ([]fermata.SignedCheckpoint, error) {
	file, err := os.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	kept, err := Read(file)
	return kept, errors.Join(err, file.Close())
}

// Read returns the checkpoints in the lines of a witness. It ignores the text that a system log writes before one,
// and lines that hold none or were cut off by a crash.
func Read(r io.Reader) ([]fermata.SignedCheckpoint, error) {
	var kept []fermata.SignedCheckpoint
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line := lines.Bytes()
		var c fermata.SignedCheckpoint
		if json.Unmarshal(bytes.TrimSpace(line[max(bytes.IndexByte(line, '{'), 0):]), &c) == nil && c.Note != "" {
			kept = append(kept, c)
		}
	}
	return kept, lines.Err()
}
