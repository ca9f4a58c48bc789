// Package engine implements the operations of people, agents and clocks: one file per verb. Every verb loads rows,
// calls a rule of the root package, saves what changed, and appends events, all in one transaction of the store.
// Nothing leaves the process before the commit. After the commit, the hub wakes the calls that wait for the change.
//
// Each verb checks the caller against the permission table of the root package. The engine knows nothing of HTTP.
package engine

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// Options adjust an engine.
type Options struct {
	Log *slog.Logger
	// OnCommit is called with the events that this process committed, in
	// order. It must not block.
	OnCommit func(events []*fermata.Event)
	// Signer signs the ends of the audit chains, and Witnesses keep the signatures outside the database. Without a
	// signer nothing is signed. CheckpointEvery is the longest time that an event waits for its signature; 0 signs at
	// once.
	Signer          Signer
	Witnesses       []Witness
	CheckpointEvery time.Duration
}

// Engine reads and changes the state of all workspaces of one database. It is the only way to that state.
type Engine struct {
	db   *store.DB
	log  *slog.Logger
	opts Options
	tail *Tail
	hub  *hub
	// claims are the claims that wait in this process.
	claims *matchmaker
	// notifySignal wakes the one goroutine that notifies other replicas of commits. A burst of commits costs one
	// notification.
	notifySignal chan struct{}

	auditBounds auditBounds

	policies *policyCache
	// onEveryCommit are callbacks for every commit that this process learns of; see [Engine.OnEveryCommit].
	onEveryCommit []func(events []*fermata.Event)
	// unreachedReason returns why no person will be notified of a question, or ""; see [Engine.SetUnreachedReason]. It
	// may be nil.
	unreachedReason func(r store.Reader, q *fermata.Question) (string, error)
	// enrichQuestion adds data to a question before it is asked; see [Engine.SetQuestionEnricher]. It may be nil.
	enrichQuestion func(r store.Reader, t *fermata.Task, q *fermata.Question) error
	// checkOtherInput refuses another input for a failed step; see [Engine.SetOtherInputCheck]. It may be nil.
	checkOtherInput  func(r store.Reader, q *fermata.Question, input json.RawMessage) error
	callers          *callerCache
	recordedWorkers  recordedWorkers
	failingWitnesses failingWitnesses
	// startedAt is when this process started, in milliseconds of the database's clock. It is 0 before that.
	startedAt atomic.Int64
}

// New returns an engine on an open, migrated database.
func New(db *store.DB, opts Options) *Engine {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	e := &Engine{
		db: db, log: opts.Log, opts: opts, hub: newHub(), notifySignal: make(chan struct{}, 1), policies: newPolicyCache(), callers: newCallerCache(),
		auditBounds: auditBounds{window: 25_000, maxEvents: 200_000},
	}
	e.tail, e.claims = newTail(e), newMatchmaker(db, opts.Log)
	db.OnCommit(e.handleCommit)
	return e
}

// OnEveryCommit adds a callback for every commit, of this process and of others. The callback must not block, and must
// be added before the engine starts. Its events are only hints: commits of two replicas at the same time may come in
// either order.
func (e *Engine) OnEveryCommit(fn func(events []*fermata.Event)) {
	e.onEveryCommit = append(e.onEveryCommit, fn)
}

// SetUnreachedReason sets a function that is called when a question is asked. It returns why no person will be notified
// of the question, or "" if a person will be. Set it before the engine starts.
func (e *Engine) SetUnreachedReason(fn func(r store.Reader, q *fermata.Question) (string, error)) {
	e.unreachedReason = fn
}

// SetQuestionEnricher sets a function that adds data of a task to its question before the question is asked, such as
// the issue of a workflow run. Set it before the engine starts.
func (e *Engine) SetQuestionEnricher(fn func(r store.Reader, t *fermata.Task, q *fermata.Question) error) {
	e.enrichQuestion = fn
}

// SetOtherInputCheck sets a function that is called when the answer to the question about a failed step gives the step
// another input. The answer is refused with its error. Set it before the engine starts.
func (e *Engine) SetOtherInputCheck(fn func(r store.Reader, q *fermata.Question, input json.RawMessage) error) {
	e.checkOtherInput = fn
}

// Now returns the time by the database's clock, which decides deadlines.
func (e *Engine) Now(ctx context.Context) (time.Time, error) { return e.db.Now(ctx) }

// handleCommit runs after each commit of this process.
func (e *Engine) handleCommit(workspace string, events []*fermata.Event) {
	e.tail.add(workspace, events)
	if e.opts.OnCommit != nil {
		e.opts.OnCommit(events)
	}
	select {
	case e.notifySignal <- struct{}{}:
	default:
		// A notification is pending already, and covers this commit. If it is
		// lost, the other replicas find the events at their next poll.
	}
}

// encodeData encodes the data of an event as JSON.
func encodeData(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		// Event data are small structs of texts and numbers, which can always be encoded.
		panic("engine: write event data: " + err.Error())
	}
	return b
}

// reader returns a reader of the part of the workspace that the caller may see.
func (e *Engine) reader(ctx context.Context, c fermata.Caller) store.Reader {
	return e.db.ReaderFor(ctx, c)
}

// listReader is [Engine.reader] for lists, searches and analytics.
func (e *Engine) listReader(ctx context.Context, c fermata.Caller) store.Reader {
	return e.reader(ctx, c).ForLongReads()
}
