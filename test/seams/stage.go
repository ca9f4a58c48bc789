package seams

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
)

// Told is one thing that an agent was told by its worker.
type Told struct {
	Run string
	At  time.Time
	// Raw is the complete text, as it came.
	Raw string
	// Messages and Questions are the ids of those that it hands over.
	Messages, Questions []string
}

// toldFrom reads a resume context.
func toldFrom(run string, raw json.RawMessage) Told {
	t := Told{Run: run, At: time.Now(), Raw: string(raw)}
	var rc fermata.ResumeContext
	if err := json.Unmarshal(raw, &rc); err != nil {
		return t
	}
	for i := range rc.Messages {
		t.Messages = append(t.Messages, rc.Messages[i].ID)
	}
	for i := range rc.Questions {
		t.Questions = append(t.Questions, rc.Questions[i].QuestionID)
	}
	return t
}

// order is an order to an agent; see puppet/main.go.
type order struct {
	N      int             `json:"n"`
	Do     string          `json:"do"`
	Method string          `json:"method,omitempty"`
	Path   string          `json:"path,omitempty"`
	Body   any             `json:"body,omitempty"`
	Key    string          `json:"key,omitempty"`
	Text   string          `json:"text,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Code   int             `json:"code,omitempty"`
}

// report is a report of an agent.
type report struct {
	Hello *struct {
		Task    string          `json:"task"`
		Run     string          `json:"run"`
		PID     int             `json:"pid"`
		Context json.RawMessage `json:"context"`
	} `json:"hello"`
	Told   json.RawMessage `json:"told"`
	Bye    bool            `json:"bye"`
	Did    int             `json:"did"`
	Status int             `json:"status"`
	Body   json.RawMessage `json:"body"`
	Error  string          `json:"error"`
}

// errAgentGone means that the agent's process ended before it replied.
var errAgentGone = errors.New("the agent is gone")

// Life is one process of an agent.
type Life struct {
	Task, Run string
	PID       int
	Began     time.Time

	// perform carries out an order. lastBeat returns when one of the agent's processes was last seen alive.
	perform  func(ctx context.Context, o order) (report, error)
	lastBeat func() time.Time
	// listens reports whether the agent takes orders at the moment.
	listens func() bool
	// session is set if the agent is Claude Code.
	session *session

	mu   sync.Mutex
	told []Told
	// ending is when the agent was told to end. deaf is true if it ignores SIGTERM, parent if it left a child behind.
	ending       time.Time
	deaf, parent bool
	gone         chan struct{}
	goneAt       time.Time
}

// alive reports whether the agent is running, takes orders and was not told to end.
func (l *Life) alive() bool { return l.goesOn() && (l.listens == nil || l.listens()) }

// goesOn reports whether the agent is running and was not told to end.
func (l *Life) goesOn() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.goneAt.IsZero() && l.ending.IsZero()
}

// ends records that the process has ended.
func (l *Life) ends() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.goneAt.IsZero() {
		l.goneAt = time.Now()
		close(l.gone)
	}
}

// Told returns what the agent was told so far.
func (l *Life) Told() []Told {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Told(nil), l.told...)
}

// puppet is the connection to an agent of the tests' own.
type puppet struct {
	*Life
	conn    net.Conn
	folder  string
	replies map[int]chan report // Life.mu guards it
}

// lastBeat returns the latest time that the process, or a child that it left, wrote.
func (p *puppet) lastBeat() time.Time {
	latest := time.Time{}
	for _, suffix := range []string{"", ".child"} {
		data, err := os.ReadFile(filepath.Join(p.folder, fmt.Sprintf("%s.%d%s", p.Run, p.PID, suffix)))
		if err != nil || len(data) < 8 {
			continue
		}
		if at := time.Unix(0, int64(binary.BigEndian.Uint64(data))); at.After(latest) {
			latest = at
		}
	}
	return latest
}

// perform sends an order and waits for the reply. It fails if the agent ends first.
func (p *puppet) perform(ctx context.Context, o order) (report, error) {
	ch := make(chan report, 1)
	p.mu.Lock()
	o.N = len(p.replies) + 1
	p.replies[o.N] = ch
	if o.Do == "end" {
		p.ending = time.Now()
	}
	err := json.NewEncoder(p.conn).Encode(o)
	p.mu.Unlock()
	if err != nil {
		return report{}, errAgentGone
	}
	select {
	case r := <-ch:
		if r.Error != "" {
			return r, errors.New(r.Error)
		}
		return r, nil
	case <-p.gone:
		return report{}, errAgentGone
	case <-ctx.Done():
		return report{}, fmt.Errorf("the agent of run %s did not %s: %w", p.Run, o.Do, context.Cause(ctx))
	}
}

// take handles one report.
func (p *puppet) take(r report) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(r.Told) > 0 {
		p.told = append(p.told, toldFrom(p.Run, r.Told))
	}
	if ch := p.replies[r.Did]; ch != nil {
		p.replies[r.Did] = nil
		ch <- r
	}
}

// stage is the place to which the agents report.
type stage struct {
	// folder is where the agents write the time. socket is where they connect.
	folder, socket string
	bell           *bell
	mu             sync.Mutex
	lives          map[string][]*Life // by task
}

// newStage opens a stage. Its folder has a short name, because the path of a socket must be short.
func newStage(tb testing.TB, b *bell) *stage {
	tb.Helper()
	folder, err := os.MkdirTemp("", "seams-") //nolint:usetesting // the path of a socket must be short
	if err != nil {
		tb.Fatal(err)
	}
	s := &stage{folder: folder, socket: filepath.Join(folder, "stage"), bell: b, lives: map[string][]*Life{}}
	listener, err := net.Listen("unix", s.socket) //nolint:noctx // it is closed with the test
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = listener.Close()
		_ = os.RemoveAll(folder)
	})
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go s.attend(conn)
		}
	}()
	return s
}

// attend reads all reports of one agent.
func (s *stage) attend(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	reports := json.NewDecoder(conn)
	var first report
	if err := reports.Decode(&first); err != nil || first.Hello == nil {
		return
	}
	p := &puppet{conn: conn, folder: s.folder, replies: map[int]chan report{}, Life: &Life{
		Task: first.Hello.Task, Run: first.Hello.Run, PID: first.Hello.PID, Began: time.Now(),
		gone: make(chan struct{}), told: []Told{toldFrom(first.Hello.Run, first.Hello.Context)},
	}}
	p.Life.perform, p.Life.lastBeat = p.perform, p.lastBeat
	s.enter(p.Life)
	for {
		var r report
		if err := reports.Decode(&r); err != nil {
			break
		}
		p.take(r)
		s.bell.ring()
	}
	p.ends()
	s.bell.ring()
}

// enter adds an agent to the stage.
func (s *stage) enter(l *Life) {
	s.mu.Lock()
	s.lives[l.Task] = append(s.lives[l.Task], l)
	s.mu.Unlock()
	s.bell.ring()
}

// of returns the processes of a task's agents so far.
func (s *stage) of(task string) []*Life {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*Life(nil), s.lives[task]...)
}

// last returns the latest agent of the run, or nil.
func (s *stage) last(task, run string) *Life {
	lives := s.of(task)
	for i := len(lives) - 1; i >= 0; i-- {
		if lives[i].Run == run {
			return lives[i]
		}
	}
	return nil
}

// forget drops a task and the files of its agents.
func (s *stage) forget(task string) {
	s.mu.Lock()
	lives := s.lives[task]
	delete(s.lives, task)
	s.mu.Unlock()
	for _, l := range lives {
		found, _ := filepath.Glob(filepath.Join(s.folder, l.Run+".*"))
		for _, name := range found {
			_ = os.Remove(name)
		}
	}
}

// heard reports whether one of these contexts contains the text.
func heard(told []Told, text string) bool {
	for i := range told {
		if strings.Contains(told[i].Raw, text) {
			return true
		}
	}
	return false
}
