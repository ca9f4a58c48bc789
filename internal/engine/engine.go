// Package engine does what people, agents and clocks ask for: one file per
// verb. Every verb loads rows, calls a rule of the root package, saves what
// changed, and appends events, all in one transaction of the store. Nothing
// leaves the process before the commit; afterwards the hub wakes who waits.
//
// Each verb asks the table of the root what its caller may. The engine knows nothing of HTTP.
package engine

import (
	"context"
	"encoding/json"
	"log/slog"
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
	// Signer signs the ends of the audit chains, and Witnesses keep them outside the database. Without a signer nothing
	// is signed. CheckpointEvery is for how long an event waits at most for its signature; 0 signs at once.
	Signer          Signer
	Witnesses       []Witness
	CheckpointEvery time.Duration
}

// Engine is the one door to a workspace's state.
type Engine struct {
	db   *store.DB
	log  *slog.Logger
	opts Options
	tail *Tail
	hub  *hub
	// other replicas are told of commits by one goroutine, so that a burst
	// costs one notification.
	told chan string

	auditBounds auditBounds

	policies *policyCache
	// seen is told of every commit that this process learns of.
	seen []func(events []*fermata.Event)
	// reaches says why nobody is told of a question; nil where nobody knows.
	reaches func(r store.Reader, q *fermata.Question) (string, error)
	// about adds to a question what it is about; nil where nobody knows.
	about   func(r store.Reader, t *fermata.Task, q *fermata.Question) error
	callers *callerCache
	roll    roll
	away    awayWitnesses
}

// New returns an engine on an open, migrated database.
func New(db *store.DB, opts Options) *Engine {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	e := &Engine{
		db: db, log: opts.Log, opts: opts, hub: newHub(), told: make(chan string, 1), policies: newPolicyCache(), callers: newCallerCache(),
		auditBounds: auditBounds{window: 25_000, most: 200_000},
	}
	e.tail = newTail(e)
	db.OnCommit(e.handleCommit)
	return e
}

// OnSeen adds what is told of every commit, of this process and of others. It
// must not block, is added before the engine starts, and takes every event as a
// hint: commits of two replicas that come together may be told in either order.
func (e *Engine) OnSeen(fn func(events []*fermata.Event)) { e.seen = append(e.seen, fn) }

// OnAsk sets what says, as a question is asked, why nobody is told of it. It is
// set before the engine starts.
func (e *Engine) OnAsk(fn func(r store.Reader, q *fermata.Question) (string, error)) { e.reaches = fn }

// OnOpen sets what adds to a question, before it is asked, what it is about. It is set
// before the engine starts.
func (e *Engine) OnOpen(fn func(r store.Reader, t *fermata.Task, q *fermata.Question) error) {
	e.about = fn
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
	case e.told <- workspace:
	default:
		// A notification is on its way that will be sent after this commit, or
		// the second look of the other replicas finds the events.
	}
}

// data writes what an event adds.
func data(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		// Event data are small structs of texts and numbers.
		panic("engine: write event data: " + err.Error())
	}
	return b
}

// reads returns a reader of what the caller sees of the workspace.
func (e *Engine) reads(ctx context.Context, c fermata.Caller) store.Reader {
	return e.db.For(ctx, c)
}
