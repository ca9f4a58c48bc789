//go:build lab

package ha

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/test/patience"
)

const (
	// contestants is the number of people who answer each question at the same time. groups is the number of questions
	// that are open at the same time.
	contestants = 3
	groups      = 8
	// contests is the number of questions that are answered between two faults.
	contests = 40
	// checkWithin is the time limit of the check of the history.
	checkWithin = 2 * time.Minute
)

// contest lets people answer the same questions at the same time, and writes down what each was told.
type contest struct {
	w      *world
	began  time.Time
	asker  *client.Client
	people []*client.Client
	ended  atomic.Int64

	mu      sync.Mutex
	history []porcupine.Operation
}

func (w *world) newContest() *contest {
	w.Helper()
	c := &contest{w: w, began: time.Now(), asker: w.front.Client(w, w.FirstToken)}
	for n := range groups * contestants {
		name := fmt.Sprintf("person-%d", n)
		made, err := c.asker.CreateToken(w.Context(), fermata.NewToken{
			Name: name, Kind: fermata.ActorHuman, Member: name, Role: fermata.RoleResponder, Scopes: []fermata.Scope{fermata.ScopeAnswer},
		})
		if err != nil {
			w.Fatal(err)
		}
		c.people = append(c.people, w.front.Client(w, made.Secret))
	}
	return c
}

// run holds contests until ctx ends. The contests that have begun are finished.
func (c *contest) run(ctx context.Context) {
	var all sync.WaitGroup
	for group := range groups {
		all.Go(func() {
			for ctx.Err() == nil {
				c.hold(group) //nolint:contextcheck // a contest that has begun is finished
			}
		})
	}
	all.Wait()
}

// hold asks one question. Each contestant reads, answers and reads.
func (c *contest) hold(group int) {
	q, err := c.asker.AskOutside(c.w.Context(), client.OutsideQuestion{Ask: fermata.Ask{Question: "Who is first?", Timeout: "1h", OnTimeout: fermata.SkipTask}})
	if err != nil {
		c.w.Errorf("ask: %v", err)
		return
	}
	var racing sync.WaitGroup
	for n := range contestants {
		racing.Go(func() {
			who := group*contestants + n
			c.record(who, call{question: q.ID})
			c.record(who, call{q.ID, fmt.Sprintf("by %d", who)})
			c.record(who, call{question: q.ID})
		})
	}
	racing.Wait()
	c.ended.Add(1)
}

// record makes a call and writes down its reply.
func (c *contest) record(who int, in call) {
	begin := time.Since(c.began).Nanoseconds()
	var q *fermata.Question
	var err error
	if in.answer == "" {
		q, err = c.people[who].Question(c.w.Context(), in.question)
	} else {
		q, err = c.people[who].Answer(c.w.Context(), in.question, fermata.Answer{Answer: in.answer})
	}
	end := time.Since(c.began).Nanoseconds()
	lost, isError := errors.AsType[*fermata.Error](err)
	var out reply
	switch {
	case err == nil:
		out = reply{answer: answerOf(q)}
	case isError && lost.Code == fermata.CodeQuestionClosed && lost.Question != nil:
		out = reply{answerOf(lost.Question), true}
	default:
		c.w.Errorf("client %d, %+v: %v", who, in, err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.history = append(c.history, porcupine.Operation{ClientId: who, Input: in, Call: begin, Output: out, Return: end})
}

func answerOf(q *fermata.Question) string {
	if q.Resolution == nil {
		return ""
	}
	answer, _ := q.Resolution.Answer.(string)
	return answer
}

// reread reads every question once more, after all faults.
func (c *contest) reread() {
	questions := map[string]bool{}
	for _, op := range c.history {
		questions[op.Input.(call).question] = true
	}
	for q := range questions {
		c.record(0, call{question: q})
	}
}

// While the leader is killed, frozen and replaced, each question keeps the one answer that the first client was told
// (linearizability, with porcupine).
func TestOneAnswerAcrossFailovers(t *testing.T) {
	w := begin(t, nil)
	w.front.RetriesUntilReply = true
	c := w.newContest()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); c.run(ctx) }()
	t.Cleanup(func() { stop(); <-done })
	for _, f := range faults {
		if !f.replaces {
			continue
		}
		c.await(contests)
		repair, replaced := f.strike(w)
		w.awaitPromotion(replaced)
		c.await(contests)
		repair()
		w.awaitHealthy()
	}
	stop()
	patience.Receive(t, "the contests end", done)
	c.reread()
	result := porcupine.CheckOperationsTimeout(oneAnswerModel, c.history, checkWithin)
	t.Logf("%d operations on %d questions: %s; %d requests were repeated", len(c.history), c.ended.Load(), result, w.front.Repeated.Load())
	if result == porcupine.Ok {
		return
	}
	t.Errorf("the history is %s", result)
	for _, part := range oneAnswerModel.Partition(c.history) {
		if !porcupine.CheckOperations(oneAnswerModel, part) {
			for _, op := range part {
				t.Logf("%d–%d client %d: %s", op.Call, op.Return, op.ClientId, oneAnswerModel.DescribeOperation(op.Input, op.Output))
			}
		}
	}
}

// await waits until so many more contests have ended.
func (c *contest) await(n int64) {
	c.w.Helper()
	until := c.ended.Load() + n
	patience.Await(c.w, fmt.Sprintf("%d more contests end", n), func() bool { return c.ended.Load() >= until })
}
