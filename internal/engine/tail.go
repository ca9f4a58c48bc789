package engine

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// tailSize is how many of a workspace's newest events are kept in memory for
// all streams. A reader that is further behind reads the database.
const tailSize = 1024

// tailPage is the largest number of events that a reader gets at once.
const tailPage = 256

// TailEvent is an event and its JSON, which is encoded once for all readers.
type TailEvent struct {
	*fermata.Event
	JSON []byte
	// project is the project of the event's task. It is nil until it was looked up.
	project atomic.Pointer[string]
}

// Tail holds the newest events of every workspace, shared by all streams of the
// process. Replay and live reading are the same: read the events after a
// number, or wait for them.
type Tail struct {
	e     *Engine
	mu    sync.Mutex
	tails map[string]*workspaceTail
	// counting is held while the database counts the tasks of a workspace.
	counting sync.Mutex
}

type workspaceTail struct {
	// events are the newest events without a gap. last is the number of the newest one.
	events []*TailEvent
	last   int64
	// newEvents is closed and replaced when events arrive.
	newEvents chan struct{}
	// counts are the numbers of tasks, or nil if they are not known. isCounted reports whether someone asked for them; then
	// all events come with their moves.
	counts    *taskCounts
	isCounted bool
	// withoutMoves is the number of the last event that came without its move.
	withoutMoves int64
}

func newTail(e *Engine) *Tail { return &Tail{e: e, tails: map[string]*workspaceTail{}} }

// Tail returns the shared end of the event log.
func (e *Engine) Tail() *Tail { return e.tail }

// Head returns the number of the workspace's last event.
func (t *Tail) Head(ctx context.Context, workspace string) (int64, error) {
	head, err := t.e.db.Reader(ctx, workspace).Head()
	return head.Seq, err
}

// add appends events that this process committed. If another replica committed
// before them, the missing events are first read from the database.
func (t *Tail) add(workspace string, events []*fermata.Event) {
	t.dropStaleCaches(events)
	t.mu.Lock()
	w := t.workspace(workspace)
	if len(events) > 0 {
		w.dropReplaced(events[0])
	}
	fits := len(events) > 0 && (w.last == 0 || events[0].Seq == w.last+1 && w.isFollowedBy(events[0]))
	if fits {
		w.append(events)
	}
	t.mu.Unlock()
	if fits {
		t.dispatch(events)
		return
	}
	if err := t.catchUp(context.Background(), workspace); err != nil {
		t.e.log.Error("read events of other replicas", "error", err)
	}
}

func (t *Tail) workspace(id string) *workspaceTail {
	w := t.tails[id]
	if w == nil {
		w = &workspaceTail{newEvents: make(chan struct{})}
		t.tails[id] = w
	}
	return w
}

func (w *workspaceTail) append(events []*fermata.Event) {
	for _, e := range events {
		w.events = append(w.events, &TailEvent{Event: e})
		w.last = e.Seq
		if w.counts != nil {
			w.counts.apply(e)
		}
	}
	if over := len(w.events) - tailSize; over > tailSize/4 {
		w.events = append([]*TailEvent(nil), w.events[over:]...)
	}
	close(w.newEvents)
	w.newEvents = make(chan struct{})
}

// A standby that takes over may lack events that were shown here: PostgreSQL shows a commit that waits for its standby
// when the leader is shut down. These events were not acknowledged, and others get their numbers.

// isFollowedBy reports whether the event, which has the next number, belongs to the history of the newest event here.
func (w *workspaceTail) isFollowedBy(e *fermata.Event) bool {
	n := len(w.events)
	return n == 0 || w.events[n-1].Hash == e.PrevHash
}

// dropReplaced drops the events from the number of e on, if the tail has another event with this number.
func (w *workspaceTail) dropReplaced(e *fermata.Event) {
	place := len(w.events) - 1 - int(w.last-e.Seq)
	if place >= 0 && place < len(w.events) && w.events[place].Hash != e.Hash {
		w.drop(len(w.events) - place)
	}
}

// drop removes the newest n events. Readers may still hold the list, so it gets a new one.
func (w *workspaceTail) drop(n int) {
	w.events = slices.Clone(w.events[:len(w.events)-n])
	w.last -= int64(n)
	w.counts = nil
}

// workspaces lists the workspaces that have a tail.
func (t *Tail) workspaces() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Collect(maps.Keys(t.tails))
}

// dropStaleCaches drops cached data that the events make stale. It runs before readers
// get the events: a reader that has seen a revocation must find it in force.
func (t *Tail) dropStaleCaches(events []*fermata.Event) {
	for _, e := range events {
		switch e.Type {
		case fermata.EventPolicyChanged:
			t.e.policies.forget(e.WorkspaceID)
			t.e.callers.clear()
		case fermata.EventTokenRevoked, fermata.EventMemberChanged, fermata.EventMemberSignedIn, fermata.EventMemberSignedOut,
			fermata.EventGroupChanged:
			t.e.callers.clear()
		default:
		}
	}
}

// dispatch wakes the calls that wait for the events. events is empty if another
// goroutine caught up first.
func (t *Tail) dispatch(events []*fermata.Event) {
	if len(events) == 0 {
		return
	}
	for _, e := range events {
		t.e.hub.dispatch(e)
	}
	t.e.claims.offerMoved(events)
	for _, callback := range t.e.onEveryCommit {
		callback(events)
	}
}

// catchUp reads the events that other replicas committed after the last event
// known here.
func (t *Tail) catchUp(ctx context.Context, workspace string) error {
	for {
		t.mu.Lock()
		last, isCounted := t.workspace(workspace).last, t.workspace(workspace).isCounted
		t.mu.Unlock()
		events, err := t.e.db.Reader(ctx, workspace).Events(store.EventFilter{After: last, Limit: tailSize})
		if err != nil || len(events) == 0 {
			return err
		}
		if err := t.loadMoves(ctx, workspace, events, isCounted); err != nil {
			return err
		}
		t.dropStaleCaches(events)
		t.mu.Lock()
		w := t.workspace(workspace)
		// Another goroutine may have caught up in the meantime.
		for len(events) > 0 && events[0].Seq <= w.last {
			events = events[1:]
		}
		if len(events) > 0 && !w.isFollowedBy(events[0]) {
			// The next round reads what took the place of the newest event here.
			w.drop(1)
			t.mu.Unlock()
			continue
		}
		if len(events) > 0 {
			w.append(events)
			if !isCounted {
				w.counts, w.withoutMoves = nil, w.last
			}
		}
		t.mu.Unlock()
		t.dispatch(events)
	}
}

// loadMoves reads the moves of tasks from events of other replicas: all moves if the tasks are counted here, and those to a
// claimable state if claims may wait here.
func (t *Tail) loadMoves(ctx context.Context, workspace string, events []*fermata.Event, isCounted bool) error {
	if !isCounted && !t.e.claims.concerns(workspace) {
		return nil
	}
	var ids []string
	for _, e := range events {
		if move := e.StoredMove(); move.To.IsClaimable() || isCounted && move.To != "" {
			e.Move, ids = &move, append(ids, e.TaskID)
		}
	}
	kinds, err := t.e.db.Reader(ctx, workspace).KindsByID(ids)
	for _, e := range events {
		if e.Move != nil {
			e.Move.Kind = kinds[e.TaskID]
		}
	}
	return err
}

// start sets the beginning of the tail to the workspace's present end.
func (t *Tail) start(ctx context.Context, workspace string) error {
	head, err := t.Head(ctx, workspace)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if w := t.workspace(workspace); w.last < head {
		w.last, w.events, w.counts = head, nil, nil
	}
	return nil
}

// Next returns the events that follow a number, at most 256. It waits until
// there are some or ctx ends.
func (t *Tail) Next(ctx context.Context, workspace string, after int64) ([]*TailEvent, error) {
	for {
		events, newEvents, isBehind := t.eventsAfter(workspace, after)
		if isBehind {
			return t.readStored(ctx, workspace, after)
		}
		if len(events) > 0 {
			return events, nil
		}
		select {
		case <-newEvents:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// eventsAfter returns events from memory. isBehind reports that the reader is too
// far behind, so that it must read the database.
func (t *Tail) eventsAfter(workspace string, after int64) (events []*TailEvent, newEvents chan struct{}, isBehind bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.workspace(workspace)
	first := w.last - int64(len(w.events)) + 1
	if after+1 < first {
		return nil, nil, true
	}
	if after >= w.last {
		return nil, w.newEvents, false
	}
	from := int(after + 1 - first)
	events = w.events[from:min(from+tailPage, len(w.events)):len(w.events)]
	for _, e := range events {
		if e.JSON == nil {
			e.JSON = encodeEvent(e.Event)
		}
	}
	return events, w.newEvents, false
}

// VisibilityFilter returns a function that reports whether the caller may see one of the events. A caller who may see
// every project sees every event. Another caller sees the events of tasks in their projects.
func (t *Tail) VisibilityFilter(ctx context.Context, c fermata.Caller, events []*TailEvent) (func(*TailEvent) bool, error) {
	projects := c.VisibleProjects()
	if projects.HasAll() {
		return func(*TailEvent) bool { return true }, nil
	}
	var unknown []string
	for _, e := range events {
		if e.TaskID != "" && e.project.Load() == nil {
			unknown = append(unknown, e.TaskID)
		}
	}
	known, err := t.e.db.Reader(ctx, c.WorkspaceID).ProjectsOf(unknown)
	if err != nil {
		return nil, err
	}
	for _, e := range events {
		if project, ok := known[e.TaskID]; ok {
			e.project.Store(&project)
		}
	}
	return func(e *TailEvent) bool {
		project := e.project.Load()
		return project != nil && projects.Has(*project)
	}, nil
}

func encodeEvent(e *fermata.Event) []byte {
	b, err := json.Marshal(e)
	if err != nil {
		panic("engine: write an event: " + err.Error())
	}
	return b
}

// readStored reads events from the database that are not in memory.
func (t *Tail) readStored(ctx context.Context, workspace string, after int64) ([]*TailEvent, error) {
	events, err := t.e.db.Reader(ctx, workspace).Events(store.EventFilter{After: after, Limit: tailPage})
	if err != nil {
		return nil, err
	}
	out := make([]*TailEvent, 0, len(events))
	for _, e := range events {
		out = append(out, &TailEvent{Event: e, JSON: encodeEvent(e)})
	}
	return out, nil
}

// Start lets the tails begin at the present end of the events, and starts to
// watch the clock. Call it before the first reader starts.
func (e *Engine) Start(ctx context.Context) error {
	if err := e.db.WatchClock(ctx); err != nil {
		return err
	}
	now, err := e.db.Now(ctx)
	if err != nil {
		return err
	}
	e.startedAt.Store(now.UnixMilli())
	workspaces, err := e.db.Reader(ctx, "").Workspaces()
	if err != nil {
		return err
	}
	for _, w := range workspaces {
		if err := e.tail.start(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// RunTail follows the commits of other replicas until ctx ends. Their
// notifications wake it, and it also polls once a second. On SQLite there are
// no other replicas.
func (e *Engine) RunTail(ctx context.Context) {
	wakeUp := make(chan struct{}, 1)
	var parts sync.WaitGroup
	defer parts.Wait()
	parts.Go(func() { e.listen(ctx, wakeUp) })
	parts.Go(func() { e.notifyReplicas(ctx) })
	if e.db.Dialect() == "sqlite" {
		<-ctx.Done()
		return
	}
	tick := time.NewTicker(e.hub.rescanInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-wakeUp:
		case <-tick.C:
		}
		for _, w := range e.tail.workspaces() {
			if err := e.tail.catchUp(ctx, w); err != nil && ctx.Err() == nil {
				e.log.Error("read events of other replicas", "error", err)
			}
		}
	}
}

// listen waits for notifications of other replicas' commits. It connects again
// after an error.
func (e *Engine) listen(ctx context.Context, wakeUp chan<- struct{}) {
	for ctx.Err() == nil {
		err := e.db.Listen(ctx, func() {
			select {
			case wakeUp <- struct{}{}:
			default:
			}
		})
		if ctx.Err() != nil {
			return
		}
		e.log.Warn("listening to other replicas was cut off", "error", err)
		Sleep(ctx, rescanInterval)
	}
}

// notifyInterval is the shortest time between two notifications. Under load,
// one notification covers all commits in between.
const notifyInterval = 20 * time.Millisecond

// notifyReplicas sends one notification for all commits since the last one.
func (e *Engine) notifyReplicas(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.notifySignal:
			if err := e.db.Notify(ctx); err != nil && ctx.Err() == nil {
				e.log.Warn("notify other replicas", "error", err)
			}
			Sleep(ctx, notifyInterval)
		}
	}
}
