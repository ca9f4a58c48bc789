package story

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/process"
)

// The amount of load.
const (
	workers = 8
	people  = 6
	// maxOpenTasks is how many tasks are in progress at the same time.
	maxOpenTasks = 32
)

// Story is the load and its log.
type Story struct {
	tb       testing.TB
	balancer *process.LoadBalancer
	random   *process.Random
	admin    *client.Client

	// Acknowledged counts the changes that a server acknowledged.
	Acknowledged atomic.Int64

	ctx  context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup
	// slots holds a place for each task in progress. questions holds the questions that a person has to answer.
	slots        chan struct{}
	questions    chan string
	creating     context.Context
	stopCreating context.CancelFunc

	mu sync.Mutex
	log
}

// log holds what was acknowledged.
type log struct {
	tasks map[string]bool
	// asked holds the questions that the end of a run opened. ends holds how each closed.
	asked map[string]bool
	ends  map[string]end
	// newEnds holds the ends since the last Recheck.
	newEnds []string
	// claims maps the runs that workers were given to their tasks. finished holds the runs that ended with a result.
	claims   map[string]string
	finished map[string]bool
	// handed maps a question to the runs that were handed its end.
	handed map[string][]handover
	done   map[string]bool
	seen   []seenEvent
	// resets are the lengths of seen at which the stream said that it had shown an event that is there no more.
	resets []int
}

// end is how a question closed: its status and the value.
type end struct{ status, value string }

type handover struct {
	run string
	end end
}

type seenEvent struct {
	seq  int64
	hash string
}

// Begin starts the load through the load balancer front. The token is an admin's.
func Begin(tb testing.TB, front *process.LoadBalancer, random *process.Random, token string) *Story {
	tb.Helper()
	s := &Story{
		tb: tb, balancer: front, random: random, admin: front.Client(tb, token),
		slots: make(chan struct{}, maxOpenTasks), questions: make(chan string, 8*maxOpenTasks),
		log: log{
			tasks: map[string]bool{}, asked: map[string]bool{}, ends: map[string]end{}, claims: map[string]string{},
			finished: map[string]bool{}, handed: map[string][]handover{}, done: map[string]bool{},
		},
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.creating, s.stopCreating = context.WithCancel(s.ctx)
	tb.Cleanup(func() { s.stop(); s.wg.Wait() })

	agent := s.token(fermata.NewToken{Name: "worker", Kind: fermata.ActorAgent, Scopes: []fermata.Scope{fermata.ScopeWork, fermata.ScopeAsk}})
	for n := range workers {
		s.wg.Go(func() { s.work(agent, fmt.Sprintf("worker-%d", n)) })
	}
	for n := range people {
		handle := fmt.Sprintf("person-%d", n)
		c := s.token(fermata.NewToken{Name: handle, Kind: fermata.ActorHuman, Member: handle, Role: fermata.RoleResponder, Scopes: []fermata.Scope{fermata.ScopeAnswer}})
		s.wg.Go(func() { s.answerQuestions(c, handle) })
	}
	s.wg.Go(s.createTasks)
	s.wg.Go(s.follow)
	return s
}

func (s *Story) token(n fermata.NewToken) *client.Client {
	s.tb.Helper()
	t, err := s.admin.CreateToken(s.ctx, n)
	if err != nil {
		s.tb.Fatal(err)
	}
	return s.balancer.Client(s.tb, t.Secret)
}

// failTest fails the test, unless the story has ended.
func (s *Story) failTest(format string, args ...any) {
	if s.ctx.Err() == nil {
		s.tb.Errorf(format, args...)
	}
}

// createTasks keeps as many tasks in progress as there are slots.
func (s *Story) createTasks() {
	for n := 0; ; n++ {
		select {
		case s.slots <- struct{}{}:
		case <-s.creating.Done():
			return
		}
		t, err := s.admin.CreateTask(s.ctx, fermata.NewTask{Title: fmt.Sprintf("Task %d", n), MaxAttempts: 100})
		if err != nil {
			s.failTest("create a task: %v", err)
			<-s.slots
			continue
		}
		s.record(func(l *log) { l.tasks[t.ID] = true })
	}
}

// record writes acknowledged facts into the log.
func (s *Story) record(write func(*log)) {
	s.mu.Lock()
	write(&s.log)
	s.mu.Unlock()
	s.Acknowledged.Add(1)
}

// follow reads the stream of events from its beginning, across all interruptions.
func (s *Story) follow() {
	onReset := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.resets = append(s.resets, len(s.seen))
	}
	err := s.admin.Stream(s.ctx, client.StreamQuery{FromStart: true, OnReset: onReset}, func(e *fermata.Event) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.seen = append(s.seen, seenEvent{e.Seq, e.Hash})
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		s.failTest("the stream of events ended: %v", err)
	}
}

// AwaitChanges waits until the servers have acknowledged n more changes.
func (s *Story) AwaitChanges(n int) {
	s.tb.Helper()
	until := s.Acknowledged.Load() + int64(n)
	patience.Await(s.tb, fmt.Sprintf("%d more acknowledgements", n), func() bool {
		return s.Acknowledged.Load() >= until
	})
}

// End lets the tasks in progress end, and stops the load.
func (s *Story) End() {
	s.tb.Helper()
	s.stopCreating()
	patience.Await(s.tb, "every task is done", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.done) == len(s.tasks) && len(s.slots) == 0
	})
	events, err := ReadEvents(s.admin)
	if err != nil {
		s.tb.Fatal(err)
	}
	patience.Await(s.tb, "the stream has come to the end", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.seen) > 0 && s.seen[len(s.seen)-1].seq >= int64(len(events))
	})
	s.compare(events)
	s.stop()
	s.wg.Wait()
}
