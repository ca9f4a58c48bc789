package scriptedmodel

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// Model plays a script. It is safe for concurrent use.
type Model struct {
	mu       sync.Mutex
	script   Script
	used     []int
	requests []Request
	// requestAdded is closed, and replaced, at each request.
	requestAdded chan struct{}
	// released is closed, and replaced, at each release.
	released  chan struct{}
	freeRules map[string]bool
	log       io.Writer
	live      LiveReply
}

// LiveReply replies to conversations while they happen, before the script is consulted. It may take any time; ctx ends when
// the client gives up. If ok is false, the script replies.
type LiveReply func(ctx context.Context, c *Conversation) (reply []Part, ok bool)

// Request is a request that the model got.
type Request struct {
	Seq int `json:"seq"`
	// Kind is model if the script replied; otherwise it is count_tokens, models, bad or other.
	Kind   string    `json:"kind"`
	Method string    `json:"method"`
	Path   string    `json:"path"`
	At     time.Time `json:"at"`
	// Rule is the name of the rule that replied, or "live", "side" or "fallback".
	Rule  string   `json:"rule,omitempty"`
	Reply []string `json:"reply,omitempty"`
	// Conversation is the parsed request.
	Conversation *Conversation `json:"conversation,omitempty"`
	// Body is the body of a request that could not be parsed.
	Body string `json:"body,omitempty"`
}

// New returns a model that plays the script.
func New(s Script) *Model {
	if len(s.Side) == 0 {
		s.Side = Say("ok")
	}
	if len(s.Fallback) == 0 {
		s.Fallback = Say("SCRIPT-END")
	}
	for i := range s.Rules {
		if s.Rules[i].Name == "" {
			s.Rules[i].Name = fmt.Sprintf("rule[%d]", i)
		}
	}
	return &Model{
		script: s, used: make([]int, len(s.Rules)), requestAdded: make(chan struct{}), released: make(chan struct{}), freeRules: map[string]bool{},
	}
}

// LogTo makes the model write a line of JSON for each request. Call it before the first one.
func (m *Model) LogTo(w io.Writer) { m.log = w }

// ReplyLive sets the function that replies before the script. Call it before the first request.
func (m *Model) ReplyLive(live LiveReply) { m.live = live }

// Requests returns the requests that got a scripted or live reply, in order.
func (m *Model) Requests() []Request {
	var main []Request
	for _, r := range m.AllRequests() {
		if r.Kind == "model" {
			main = append(main, r)
		}
	}
	return main
}

// AllRequests returns all requests, including those that get no scripted reply.
func (m *Model) AllRequests() []Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// Await waits until the rule has been chosen for a request, and returns the first such request. A rule with Hold is
// chosen before its reply is held.
func (m *Model) Await(ctx context.Context, rule string) (Request, error) {
	for {
		m.mu.Lock()
		added := m.requestAdded
		i := slices.IndexFunc(m.requests, func(r Request) bool { return r.Rule == rule })
		if i >= 0 {
			defer m.mu.Unlock()
			return m.requests[i], nil
		}
		m.mu.Unlock()
		select {
		case <-added:
		case <-ctx.Done():
			return Request{}, fmt.Errorf("wait for the rule %s: %w", rule, context.Cause(ctx))
		}
	}
}

// Release releases every held reply of the rule, including later ones.
func (m *Model) Release(rule string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.freeRules[rule] = true
	close(m.released)
	m.released = make(chan struct{})
}

// nextReply chooses the reply to a conversation, and records both.
func (m *Model) nextReply(ctx context.Context, c *Conversation, method, path string) *reply {
	rule := m.liveRule(ctx, c)
	m.mu.Lock()
	defer m.mu.Unlock()
	if rule == nil {
		rule = m.chooseRule(c)
	}
	r := newReply(len(m.requests)+1, rule, c)
	m.addRequest(Request{Kind: "model", Method: method, Path: path, Rule: r.rule.Name, Reply: r.describe(), Conversation: c})
	return r
}

// liveRule returns a rule with the reply of the live function, or nil if that gives no reply. Side requests always
// get the script's reply.
func (m *Model) liveRule(ctx context.Context, c *Conversation) *Rule {
	if m.live == nil || c.isSideRequest() {
		return nil
	}
	parts, ok := m.live(ctx, c)
	if !ok {
		return nil
	}
	return &Rule{Name: "live", Reply: parts}
}

// chooseRule returns the first rule that matches. The caller holds the lock.
func (m *Model) chooseRule(c *Conversation) *Rule {
	for i := range m.script.Rules {
		rule := &m.script.Rules[i]
		if (rule.Times == 0 || m.used[i] < rule.Times) && rule.When.isMet(c) {
			m.used[i]++
			return rule
		}
	}
	if c.isSideRequest() {
		return &Rule{Name: "side", Reply: m.script.Side}
	}
	return &Rule{Name: "fallback", Reply: m.script.Fallback}
}

// record records a request that gets no scripted reply.
func (m *Model) record(r Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.addRequest(r)
}

// addRequest adds a request. The caller holds the lock.
func (m *Model) addRequest(r Request) {
	r.Seq, r.At = len(m.requests)+1, time.Now().UTC()
	m.requests = append(m.requests, r)
	close(m.requestAdded)
	m.requestAdded = make(chan struct{})
	if m.log == nil {
		return
	}
	if line, err := json.Marshal(r); err == nil {
		m.log.Write(append(line, '\n')) //nolint:errcheck // a log that is full must not change what the model says
	}
}

// awaitSend waits until the reply may be sent. It returns false if the client gave up.
func (m *Model) awaitSend(ctx context.Context, rule *Rule) bool {
	if d := rule.delay(); d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return false
		}
	}
	for rule.Hold {
		m.mu.Lock()
		released, free := m.released, m.freeRules[rule.Name]
		m.mu.Unlock()
		if free {
			break
		}
		select {
		case <-released:
		case <-ctx.Done():
			return false
		}
	}
	return true
}
