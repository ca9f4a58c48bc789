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

// Handover is one thing that an agent was told by its worker.
type Handover struct {
	Run string
	At  time.Time
	// Raw is the complete text, as it came.
	Raw string
	// Messages and Questions are the ids of the messages and questions in it.
	Messages, Questions []string
}

// parseHandover reads a resume context.
func parseHandover(run string, raw json.RawMessage) Handover {
	t := Handover{Run: run, At: time.Now(), Raw: string(raw)}
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

// AgentProcess is one process of an agent.
type AgentProcess struct {
	Task, Run string
	PID       int
	Began     time.Time

	// perform carries out an order. lastBeat returns when one of the agent's processes was last seen alive.
	perform  func(ctx context.Context, o order) (report, error)
	lastBeat func() time.Time
	// isListening reports whether the agent takes orders at the moment.
	isListening func() bool
	// session is set if the agent is Claude Code.
	session *session

	mu        sync.Mutex
	handovers []Handover
	// toldToEnd is when the agent was told to end. deaf is true if it ignores SIGTERM, leftChild if it left a child
	// behind.
	toldToEnd       time.Time
	deaf, leftChild bool
	gone            chan struct{}
	goneAt          time.Time
}

// isAlive reports whether the agent is running, takes orders and was not told to end.
func (l *AgentProcess) isAlive() bool {
	return l.isRunning() && (l.isListening == nil || l.isListening())
}

// isRunning reports whether the agent is running and was not told to end.
func (l *AgentProcess) isRunning() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.goneAt.IsZero() && l.toldToEnd.IsZero()
}

// markEnded records that the process has ended.
func (l *AgentProcess) markEnded() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.goneAt.IsZero() {
		l.goneAt = time.Now()
		close(l.gone)
	}
}

// Handovers returns what the agent was told so far.
func (l *AgentProcess) Handovers() []Handover {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Handover(nil), l.handovers...)
}

// puppet is the connection to an agent that runs the program of the folder puppet.
type puppet struct {
	*AgentProcess
	conn    net.Conn
	folder  string
	replies map[int]chan report // AgentProcess.mu guards it
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
		p.toldToEnd = time.Now()
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
		p.handovers = append(p.handovers, parseHandover(p.Run, r.Told))
	}
	if ch := p.replies[r.Did]; ch != nil {
		p.replies[r.Did] = nil
		ch <- r
	}
}

// agentHub is the place to which the agents report.
type agentHub struct {
	// folder is where the agents write the time. socket is where they connect.
	folder, socket string
	bell           *changeSignal
	mu             sync.Mutex
	processes      map[string][]*AgentProcess // by task
}

// newAgentHub starts a hub. Its folder has a short name, because the path of a socket must be short.
func newAgentHub(tb testing.TB, b *changeSignal) *agentHub {
	tb.Helper()
	folder, err := os.MkdirTemp("", "seams-") //nolint:usetesting // the path of a socket must be short
	if err != nil {
		tb.Fatal(err)
	}
	s := &agentHub{folder: folder, socket: filepath.Join(folder, "stage"), bell: b, processes: map[string][]*AgentProcess{}}
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
func (s *agentHub) attend(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	reports := json.NewDecoder(conn)
	var first report
	if err := reports.Decode(&first); err != nil || first.Hello == nil {
		return
	}
	p := &puppet{conn: conn, folder: s.folder, replies: map[int]chan report{}, AgentProcess: &AgentProcess{
		Task: first.Hello.Task, Run: first.Hello.Run, PID: first.Hello.PID, Began: time.Now(),
		gone: make(chan struct{}), handovers: []Handover{parseHandover(first.Hello.Run, first.Hello.Context)},
	}}
	p.AgentProcess.perform, p.AgentProcess.lastBeat = p.perform, p.lastBeat
	s.register(p.AgentProcess)
	for {
		var r report
		if err := reports.Decode(&r); err != nil {
			break
		}
		p.take(r)
		s.bell.signal()
	}
	p.markEnded()
	s.bell.signal()
}

// register adds an agent to the hub.
func (s *agentHub) register(l *AgentProcess) {
	s.mu.Lock()
	s.processes[l.Task] = append(s.processes[l.Task], l)
	s.mu.Unlock()
	s.bell.signal()
}

// agentsOf returns the processes of a task's agents so far.
func (s *agentHub) agentsOf(task string) []*AgentProcess {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*AgentProcess(nil), s.processes[task]...)
}

// lastAgent returns the latest agent of the run, or nil.
func (s *agentHub) lastAgent(task, run string) *AgentProcess {
	lives := s.agentsOf(task)
	for i := len(lives) - 1; i >= 0; i-- {
		if lives[i].Run == run {
			return lives[i]
		}
	}
	return nil
}

// forget drops a task and the files of its agents.
func (s *agentHub) forget(task string) {
	s.mu.Lock()
	lives := s.processes[task]
	delete(s.processes, task)
	s.mu.Unlock()
	for _, l := range lives {
		found, _ := filepath.Glob(filepath.Join(s.folder, l.Run+".*"))
		for _, name := range found {
			_ = os.Remove(name)
		}
	}
}

// hasHeard reports whether one of these contexts contains the text.
func hasHeard(told []Handover, text string) bool {
	for i := range told {
		if strings.Contains(told[i].Raw, text) {
			return true
		}
	}
	return false
}
