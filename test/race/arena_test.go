package race

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/test/process"
)

// clients is the number of clients that race.
const clients = 64

// Deadlines of the questions.
const (
	// soon is the deadline of the questions that race against time.
	soon = time.Second
	// lateBy is how long after its deadline a question may still be open, on a
	// busy machine. make bench measures how late questions really are.
	lateBy = 30 * time.Second
	// early allows for times that are truncated to milliseconds.
	early = 5 * time.Millisecond
)

// arena holds the clients that race, and the history of their calls.
type arena struct {
	*testing.T
	random  *process.Random
	asker   *client.Client
	clients []*client.Client
	names   []string
	began   time.Time

	mu      sync.Mutex
	history []porcupine.Operation
	faults  []string
	// expired holds the questions of which a client was told that they timed out.
	expired map[string]bool
}

func newArena(t *testing.T, servers ...*process.Server) *arena {
	t.Helper()
	a := &arena{T: t, random: process.NewRandom(t), began: time.Now(), expired: map[string]bool{}}
	admin := process.NewLoadBalancer(t, servers...).Client(t, servers[0].FirstToken)
	policy, err := admin.Policy(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	policy.AllowShorter = true
	if _, err := admin.SetPolicy(t.Context(), policy); err != nil {
		t.Fatal(err)
	}
	token := func(n fermata.NewToken) string {
		made, err := admin.CreateToken(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		return made.Secret
	}
	a.asker = process.NewLoadBalancer(t, servers...).Client(t, token(fermata.NewToken{Name: "asker", Kind: fermata.ActorAgent, Scopes: []fermata.Scope{fermata.ScopeAsk}}))
	for n := range clients {
		name := fmt.Sprintf("person-%d", n)
		secret := token(fermata.NewToken{Name: name, Kind: fermata.ActorHuman, Member: name, Role: fermata.RoleResponder, Scopes: []fermata.Scope{fermata.ScopeAnswer}})
		// Each client has its own connections. With several servers, every call
		// goes to another server.
		a.clients = append(a.clients, process.NewLoadBalancer(t, servers...).Client(t, secret))
		a.names = append(a.names, name)
	}
	return a
}

// play races for the given number of questions, with all clients at work, and
// returns when each question is closed.
func (a *arena) play(questions int) {
	a.Helper()
	const together = clients / racers
	var wg sync.WaitGroup
	for group := range together {
		wg.Go(func() {
			for n := group; n < questions; n += together * batch {
				a.race(group, min(batch, (questions-n+together-1)/together))
			}
		})
	}
	wg.Wait()
}

// racers is how many clients race for one question. batch is how many questions
// a group of clients has open at the same time, because some wait for their
// deadline.
const (
	racers = 8
	batch  = 25
)

// race asks a batch of questions and lets the group's clients race for each.
func (a *arena) race(group, n int) {
	var wg sync.WaitGroup
	for range n {
		q := a.ask()
		if q == nil {
			continue
		}
		wg.Go(func() {
			var racing sync.WaitGroup
			for r := range racers {
				racing.Go(func() { a.compete(group*racers+r, q) })
			}
			racing.Wait()
			a.mustBeClosed(group*racers, q)
		})
	}
	wg.Wait()
}

// ask asks a question. Half of them race against time.
func (a *arena) ask() *fermata.Question {
	ask := fermata.Ask{Question: "Who is first?", Timeout: "1h", OnTimeout: fermata.SkipTask}
	if a.random.Chance(50) {
		ask.Timeout = fermata.Timeout(soon.String())
	}
	q, err := a.asker.AskOutside(a.Context(), client.OutsideQuestion{Ask: ask})
	if err != nil {
		a.fault("ask: %v", err)
		return nil
	}
	return q
}

// compete lets one client answer, cancel or read a question, at random. If the
// question has a short deadline, the client acts around the deadline, so that
// about half of these questions time out.
func (a *arena) compete(n int, q *fermata.Question) {
	if q.Timeout == fermata.Timeout(soon.String()) {
		about := time.Duration(a.random.N(80)-10) * time.Millisecond
		<-time.After(time.Until(q.Deadline.Add(about)))
	}
	switch choice := a.random.N(100); {
	case choice < 55:
		a.answer(n, q)
	case choice < 70:
		a.cancel(n, q)
	default:
		a.read(n, q)
	}
	a.read(n, q)
}

func (a *arena) answer(n int, q *fermata.Question) {
	call := a.clock()
	got, err := a.clients[n].Answer(a.Context(), q.ID, fermata.Answer{Answer: "by " + a.names[n]})
	a.told(n, q, input{q.ID, "answered: by " + a.names[n], true}, call, got, err)
}

// cancel cancels a question. The end names the client, so that the model can
// distinguish the cancellations of different clients.
func (a *arena) cancel(n int, q *fermata.Question) {
	call := a.clock()
	got, err := a.clients[n].CancelQuestion(a.Context(), q.ID, "")
	in := input{q.ID, "cancelled by " + a.names[n], false}
	if err == nil && got.Status == fermata.Cancelled && endOf(got) != in.end {
		// To cancel a question that another client has cancelled is allowed and
		// changes nothing.
		in.end = ""
	}
	a.told(n, q, in, call, got, err)
}

func (a *arena) read(n int, q *fermata.Question) {
	call := a.clock()
	got, err := a.clients[n].Question(a.Context(), q.ID)
	a.told(n, q, input{question: q.ID}, call, got, err)
}

// mustBeClosed checks that a question with a short deadline was closed, by a
// client or by the deadline. It closes a question with a long deadline, to end
// its history.
func (a *arena) mustBeClosed(n int, q *fermata.Question) {
	if q.Timeout != fermata.Timeout(soon.String()) {
		a.answer(n, q)
		return
	}
	got, err := a.clients[n].WaitQuestion(a.Context(), q.ID, time.Until(q.Deadline.Add(lateBy)))
	if err != nil || got.Status == fermata.Pending {
		a.fault("question %s has its deadline at %s and is not closed at %s: %v", q.ID, q.Deadline, time.Now(), err)
	}
	a.read(n, q)
}

// told adds a client's call and its reply to the history.
func (a *arena) told(n int, q *fermata.Question, in input, call int64, got *fermata.Question, err error) {
	ret := a.clock()
	var out output
	lost, isError := errors.AsType[*fermata.Error](err)
	switch {
	case err == nil:
		out = output{end: endOf(got)}
	case isError && lost.Code == fermata.CodeQuestionClosed && lost.Question != nil:
		out = output{endOf(lost.Question), true}
	default:
		a.fault("client %d, %+v: %v", n, in, err)
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.history = append(a.history, porcupine.Operation{ClientId: n, Input: in, Call: call, Output: out, Return: ret})
	if out.end == timedOut && !a.expired[q.ID] {
		// The deadline is a client too. It closes the question at the deadline or
		// later, and before any client is told.
		a.expired[q.ID] = true
		a.history = append(a.history, porcupine.Operation{
			ClientId: clients, Input: input{question: q.ID, end: timedOut}, Output: output{end: timedOut},
			Call: min(q.Deadline.Add(-early).Sub(a.began).Nanoseconds(), ret), Return: ret,
		})
	}
}

func (a *arena) clock() int64 { return time.Since(a.began).Nanoseconds() }

func (a *arena) fault(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.faults = append(a.faults, fmt.Sprintf(format, args...))
}

// tally counts the ends by kind.
func (a *arena) tally() map[string]int {
	ends := map[string]string{}
	for _, op := range a.history {
		if end := op.Output.(output).end; end != pending {
			ends[op.Input.(input).question] = end
		}
	}
	n := map[string]int{}
	for _, end := range ends {
		kind := end
		if len(kind) > 8 {
			kind = kind[:9]
		}
		n[kind]++
	}
	return n
}

// endOf names the end of a question so that no two ends have the same name.
func endOf(q *fermata.Question) string {
	r := q.Resolution
	switch {
	case r == nil || r.Status == fermata.Pending:
		return pending
	case r.Status == fermata.Answered:
		return fmt.Sprintf("answered: %v", r.Answer)
	case r.Status == fermata.Cancelled && r.AnsweredBy != nil:
		return "cancelled by " + r.AnsweredBy.Name
	default:
		return string(r.Status)
	}
}
