//go:build unix

package runnertest

import (
	"bytes"
	"io"
	"slices"
	"sync"

	"github.com/fermata-hq/fermata"
)

// handle is the worker's side of a run, as the suite plays it.
type handle struct {
	dir      string
	log      record
	progress updates
	inbox    chan *fermata.ResumeContext
	session  fermata.Session
	mu       sync.Mutex
	toldIDs  []string
}

func newRunHandle(dir string) *handle {
	return &handle{dir: dir, inbox: make(chan *fermata.ResumeContext, 1)}
}

func (d *handle) Dir() string                          { return d.dir }
func (d *handle) Log() io.Writer                       { return &d.log }
func (d *handle) Progress(p fermata.Progress)          { d.progress.add(p) }
func (d *handle) Inbox() <-chan *fermata.ResumeContext { return d.inbox }
func (d *handle) KeepSession(s fermata.Session)        { d.session = s }

// MarkTold records what the runner says its agent was told.
func (d *handle) MarkTold(rc *fermata.ResumeContext) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.toldIDs = append(d.toldIDs, rc.IDs()...)
}

func (d *handle) allTold() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.toldIDs)
}

// record is a log for concurrent writers.
type record struct {
	mu   sync.Mutex
	data bytes.Buffer
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.data.Write(p)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.data.String()
}

func (r *record) size() int { return len(r.String()) }

// head returns the beginning of the log, for messages.
func (r *record) head() string {
	s := r.String()
	return s[:min(len(s), 500)]
}

type updates struct {
	mu   sync.Mutex
	list []fermata.Progress
}

func (u *updates) add(p fermata.Progress) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.list = append(u.list, p)
}

func (u *updates) all() []fermata.Progress {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Clone(u.list)
}
