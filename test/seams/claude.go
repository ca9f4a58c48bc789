package seams

import (
	"context"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/scriptedmodel"
	"github.com/fermata-hq/fermata/test/agent"
	"github.com/fermata-hq/fermata/test/process"
)

// Claude is the real Claude Code. The test plays its model.
type Claude struct {
	w    *World
	room *agent.Room
	env  agent.Env
	// program is the path of Claude Code.
	program string
}

// watchInterval is how often the processes of a run are checked, and findInterval how often new processes are searched for.
const (
	watchInterval = 20 * time.Millisecond
	findInterval  = 10 * watchInterval
)

// newClaude creates a room for Claude Code, with a repository to work on.
func newClaude(tb testing.TB, w *World) *Claude {
	tb.Helper()
	// The story of the sequence has the requests to the model, so they are not shown here.
	quiet := &processTB{TB: tb}
	quiet.over.Store(true)
	room := agent.NewRoom(quiet, scriptedmodel.Script{})
	c := &Claude{w: w, room: room, env: room.Claude(tb), program: agent.Program(tb, "claude")}
	room.Model.ReplyLive(c.reply)
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main"},
		{"commit", "--quiet", "--allow-empty", "--message=Begin"},
	} {
		cmd := exec.CommandContext(tb.Context(), "git", append([]string{"-c", "user.name=t", "-c", "user.email=t@localhost"}, args...)...)
		cmd.Dir = room.Work
		if out, err := cmd.CombinedOutput(); err != nil {
			tb.Fatalf("git %s: %v\n%s", args[0], err, out)
		}
	}
	return c
}

// flags returns the flags of the worker.
func (c *Claude) flags() []string {
	flags := []string{"--runner", "claude", "--program", c.program, "--workdir", c.room.Work}
	for _, name := range c.env.Names() {
		flags = append(flags, "--pass-env", name)
	}
	return flags
}

// session is what the test knows about Claude Code in one run.
type session struct {
	*AgentProcess
	c  *Claude
	mu sync.Mutex
	// waiting takes the reply to the request of the model that is in progress.
	waiting chan []scriptedmodel.Part
	// lastSeenAt is when a process of the run was last seen.
	lastSeenAt time.Time
	// worker is the number of the worker that began the run.
	worker int64
}

// reply waits until the test chooses the reply of the model, and returns it.
func (c *Claude) reply(ctx context.Context, conv *scriptedmodel.Conversation) ([]scriptedmodel.Part, bool) {
	task, run := "", ""
	if !c.w.awaitCondition(ctx, c.w.pace.restTimeout, func() bool {
		task = c.w.taskTitled(conv.Text())
		run = runOf(task)
		return run != ""
	}) {
		return nil, false
	}
	s := c.session(task, run)
	last := conv.Last()
	s.recordTold(last)
	if strings.Contains(last, "waiting for a person") {
		return scriptedmodel.Say("I stop."), true
	}
	ch := make(chan []scriptedmodel.Part, 1)
	s.setWaiting(ch)
	defer s.clearWaiting(ch)
	select {
	case parts := <-ch:
		return parts, true
	case <-ctx.Done():
		return nil, false
	}
}

// session returns the session of the run.
func (c *Claude) session(task, run string) *session {
	if l := c.w.hub.lastAgent(task, run); l != nil {
		return l.session
	}
	s := &session{c: c, lastSeenAt: time.Now(), worker: c.w.workers.Load(), AgentProcess: &AgentProcess{Task: task, Run: run, Began: time.Now(), gone: make(chan struct{})}}
	s.AgentProcess.session, s.perform, s.lastBeat, s.isListening = s, s.act, s.lastSeen, s.isWaiting
	c.w.hub.register(s.AgentProcess)
	go s.watch()
	return s
}

func (s *session) recordTold(text string) {
	s.AgentProcess.mu.Lock()
	s.handovers = append(s.handovers, Handover{Run: s.Run, At: time.Now(), Raw: text})
	s.toldToEnd = time.Time{}
	s.AgentProcess.mu.Unlock()
	s.c.w.bell.signal()
}

func (s *session) setWaiting(ch chan []scriptedmodel.Part) {
	s.mu.Lock()
	s.waiting = ch
	s.mu.Unlock()
	s.c.w.bell.signal()
}

func (s *session) clearWaiting(ch chan []scriptedmodel.Part) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting == ch {
		s.waiting = nil
	}
}

func (s *session) isWaiting() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waiting != nil
}

func (s *session) lastSeen() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lastSeenAt
}

// act makes the model reply with the parts of the order.
func (s *session) act(_ context.Context, o order) (report, error) {
	parts, ok := replies[o.Do]
	if !ok {
		return report{}, fmt.Errorf("a model cannot %s", o.Do)
	}
	s.mu.Lock()
	ch := s.waiting
	s.waiting = nil
	s.mu.Unlock()
	if ch == nil {
		return report{}, errAgentGone
	}
	s.AgentProcess.mu.Lock()
	s.toldToEnd = time.Now()
	s.AgentProcess.mu.Unlock()
	ch <- parts
	return report{}, nil
}

// replies maps each order to the reply of the model.
var replies = map[string][]scriptedmodel.Part{
	"end":      scriptedmodel.Say("It is done."),
	"ask user": {scriptedmodel.Call("~ask_user", map[string]any{"question": "What now?"})},
	"ask user question": {scriptedmodel.Call("AskUserQuestion", map[string]any{"questions": []any{map[string]any{
		"question": "Which colour?", "header": "Colour", "multiSelect": false,
		"options": []any{
			map[string]any{"label": "green", "description": "as grass"}, map[string]any{"label": "red", "description": "as blood"},
		},
	}}})},
	"run":   {scriptedmodel.Call("Bash", map[string]any{"command": "echo once >>ran.txt", "description": "write a line"})},
	"write": {scriptedmodel.Call("Write", map[string]any{"file_path": "fence.txt", "content": "green\n"})},
}

// watch checks the processes of the run until they have ended and the run can start no more.
func (s *session) watch() {
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	var pids []int
	for n := 0; ; n++ {
		if n%int(findInterval/watchInterval) == 0 {
			pids = processesOf(s.Run)
		}
		running := false
		for _, pid := range pids {
			running = running || process.IsRunning(pid)
		}
		if running {
			s.mu.Lock()
			s.lastSeenAt = time.Now()
			s.mu.Unlock()
		} else if pids = processesOf(s.Run); len(pids) == 0 && s.isOver() {
			s.markEnded()
			s.c.w.bell.signal()
			return
		}
		select {
		case <-tick.C:
		case <-s.c.w.Context().Done():
			return
		}
	}
}

// isOver reports whether the run can start no more processes: the run has ended, or its worker has.
func (s *session) isOver() bool {
	state := s.c.w.ledger.runState(s.Task, s.Run)
	return state != "" && state != fermata.RunRunning || s.c.w.workers.Load() != s.worker
}

// processesOf returns the processes that have the run in their environment.
func processesOf(run string) (pids []int) {
	for pid, env := range environments() {
		if slices.Contains(env, "FERMATA_RUN="+run) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// runOf returns the newest run of the task that has a process. If a server was killed, the events of the run may come
// later.
func runOf(task string) (newest string) {
	if task == "" {
		return ""
	}
	for _, env := range environments() {
		if !slices.Contains(env, "FERMATA_TASK="+task) {
			continue
		}
		for _, each := range env {
			if run, ok := strings.CutPrefix(each, "FERMATA_RUN="); ok {
				newest = max(newest, run)
			}
		}
	}
	return newest
}

// environments yields the environments that this process may read, by process id.
func environments() iter.Seq2[int, []string] {
	return func(yield func(int, []string) bool) {
		entries, err := os.ReadDir("/proc")
		if err != nil {
			return
		}
		for _, e := range entries {
			pid, err := strconv.Atoi(e.Name())
			if err != nil {
				continue
			}
			env, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
			if err == nil && !yield(pid, strings.Split(string(env), "\x00")) {
				return
			}
		}
	}
}

// claudeVerbs are the actions that Claude Code takes when its model says so.
var claudeVerbs = []verb{
	{
		name: "claude-ends", sentence: "The model of %s ends its turn",
		weight: func(v view) int { return weightIf(v.claude, 12) },
		act:    func(p *Play, r *playTask, _ int) { p.sendOrder(r, order{Do: "end"}) },
	},
	{
		name: "claude-asks", sentence: "The model of %s calls ask_user",
		weight: func(v view) int { return weightIf(v.claude, 6) },
		act:    func(p *Play, r *playTask, _ int) { p.sendOrder(r, order{Do: "ask user"}) },
	},
	{
		name: "claude-asks-user-question", sentence: "The model of %s calls AskUserQuestion",
		weight: func(v view) int { return weightIf(v.claude, 12) },
		act:    func(p *Play, r *playTask, _ int) { p.sendOrder(r, order{Do: "ask user question"}) },
	},
	{
		name: "claude-runs", sentence: "The model of %s runs a command that needs leave",
		weight: func(v view) int { return weightIf(v.claude, 8) },
		act:    func(p *Play, r *playTask, _ int) { p.sendOrder(r, order{Do: "run"}) },
	},
	{
		name: "claude-writes", sentence: "The model of %s writes a file",
		weight: func(v view) int { return weightIf(v.claude, 5) },
		act:    func(p *Play, r *playTask, _ int) { p.sendOrder(r, order{Do: "write"}) },
	},
}
