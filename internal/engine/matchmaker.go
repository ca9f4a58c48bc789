package engine

import (
	"container/list"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

const (
	// executorLookInterval is the time between two looks if only executors of workflows wait. They wait in every server,
	// whether or not there are workflows.
	executorLookInterval = 5 * time.Second
	// lookShare bounds the cost of looks: the pause after a look is at least that many times as long as the look.
	lookShare = 100
)

// matchmaker holds the claims that wait in this process. It offers each task that becomes claimable to one of them: the
// one that has waited longest of those that take the task. So a waiting claim costs nothing until there is a task for it.
//
// A write that makes a task claimable takes it for a waiting claim in the same transaction, if it can: see [joinedClaims].
// Otherwise the task is offered after the commit. Such an offer is a hint: the claim loads the task, and another process
// may be first. Offers can be lost between replicas, so one look at intervals, for all claims of the process, finds what
// was not offered.
type matchmaker struct {
	db  *store.DB
	log *slog.Logger
	// lookInterval is the shortest time between two looks. executorLookInterval is the same if only executors wait.
	lookInterval, executorLookInterval time.Duration

	mu sync.Mutex
	// workspaces are the waiting claims by workspace.
	workspaces map[string]*waitingClaims
	// arrivals counts the claims that came, in the order of which they are served.
	arrivals int64
	// waiting is the number of waiting claims, and waitingWorkers is the number of those that are not of executors.
	waiting, waitingWorkers int
	// stopLooking ends the looks. It is nil if no claim waits.
	stopLooking chan struct{}
}

// waitingClaim is a claim that waits.
type waitingClaim struct {
	// ctx is the context of the call, which may have an idempotency key.
	ctx       context.Context //nolint:containedctx // the value lives as long as the call
	workspace string
	request   fermata.ClaimRequest
	// key is the text of the claim's filter, and filter is the filter with whose claims it waits.
	key    string
	filter *claimFilter
	// arrival is the claim's place among all that wait.
	arrival int64
	// offers receives one offer while the claim waits.
	offers chan claimOffer

	// The lock of the matchmaker guards the rest. place is the place in the queue. It is nil while the claim does not
	// wait, or after it got an offer.
	place *list.Element
	// isReady reports whether a write may take a task for the claim, with the rights of the caller. The generation of the
	// callers' cache tells whether rights have changed since.
	isReady    bool
	caller     fermata.Caller
	generation int
	// isReserved reports whether a write under way takes a task for the claim. An offer follows in any case.
	isReserved bool
}

// claimOffer is a task that a claim may take. Without a task, it says that there may be tasks of the kind.
type claimOffer struct {
	// claim is set if a write has taken the task for the claim.
	claim  *fermata.Claim
	kind   fermata.TaskKind
	taskID string
	// isNew reports whether the task was just created, so that there is nothing to hand over to its run.
	isNew bool
}

func newMatchmaker(db *store.DB, log *slog.Logger) *matchmaker {
	return &matchmaker{
		db: db, log: log, lookInterval: rescanInterval, executorLookInterval: executorLookInterval,
		workspaces: map[string]*waitingClaims{},
	}
}

// join returns a claim that waits from now on, so that no offer is lost while it looks for a task.
func (m *matchmaker) join(ctx context.Context, workspace string, r fermata.ClaimRequest) (*waitingClaim, error) {
	key, err := filterKey(r)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.arrivals++
	w := &waitingClaim{ctx: ctx, workspace: workspace, request: r, key: key, arrival: m.arrivals, offers: make(chan claimOffer, 1)}
	m.enter(ctx, w)
	return w, nil
}

// rejoin lets a claim wait again whose offer came to nothing. It keeps its place before the claims that came later.
func (m *matchmaker) rejoin(ctx context.Context, w *waitingClaim) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.enter(ctx, w)
}

// enter adds a claim to the queue of its filter. The caller holds the lock.
func (m *matchmaker) enter(ctx context.Context, w *waitingClaim) {
	f := m.filterOf(w.workspace, w.key, w.request)
	w.filter = f
	after := f.queue.Back()
	for after != nil && after.Value.(*waitingClaim).arrival > w.arrival { //nolint:forcetypeassert // the queue holds nothing else
		after = after.Prev()
	}
	if after == nil {
		w.place = f.queue.PushFront(w)
	} else {
		w.place = f.queue.InsertAfter(w, after)
	}
	m.count(f, 1)
	if m.stopLooking == nil {
		m.stopLooking = make(chan struct{})
		// The looks are for all claims, so they outlive the call.
		go m.lookAtIntervals(context.WithoutCancel(ctx), m.stopLooking)
	}
}

// count changes the number of waiting claims, and ends the looks if there are none. The caller holds the lock.
func (m *matchmaker) count(f *claimFilter, n int) {
	m.waiting += n
	if !f.isOfExecutor() {
		m.waitingWorkers += n
	}
	if m.waiting == 0 {
		close(m.stopLooking)
		m.stopLooking = nil
	}
}

// leave ends the wait of a claim. An offer that it did not take goes to the next claim. If a write has taken a task for
// the claim, leave returns that.
func (m *matchmaker) leave(w *waitingClaim) *fermata.Claim {
	m.mu.Lock()
	if w.place != nil {
		m.remove(w)
	}
	isReserved := w.isReserved
	m.mu.Unlock()
	var o claimOffer
	if isReserved {
		// The write is under way, and cannot be stopped.
		o = <-w.offers
	} else {
		select {
		case o = <-w.offers:
		default:
			return nil
		}
	}
	if o.claim == nil {
		m.offer(w.workspace, o)
	}
	return o.claim
}

// setReady lets writes take a task for the claim, if it still waits.
func (m *matchmaker) setReady(w *waitingClaim, c fermata.Caller, generation int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w.isReady, w.caller, w.generation = true, c, generation
}

// reserve returns the claim that gets a task of the kind next, if a write may take the task for it. The claim then waits
// for the write: call deliver afterwards. now is the time by the database's clock, and generation is that of the callers'
// cache.
func (m *matchmaker) reserve(workspace string, k fermata.TaskKind, now time.Time, generation int) *waitingClaim {
	m.mu.Lock()
	defer m.mu.Unlock()
	w := m.first(workspace, k)
	if w == nil || !w.isReady || w.generation != generation || w.caller.IsEnded(now) || w.ctx.Err() != nil {
		return nil
	}
	m.remove(w)
	w.isReserved = true
	return w
}

// deliver gives a reserved claim the task that a write has taken for it. Without a task, the claim looks for another one.
func (m *matchmaker) deliver(w *waitingClaim, o claimOffer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w.isReserved = false
	w.offers <- o
}

// remove takes a claim out of its queue. The caller holds the lock.
func (m *matchmaker) remove(w *waitingClaim) {
	w.filter.queue.Remove(w.place)
	w.place, w.isReady = nil, false
	m.count(w.filter, -1)
}

// offer gives an offer to one claim.
func (m *matchmaker) offer(workspace string, o claimOffer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.give(workspace, o)
}

// give gives an offer to the claim that has waited longest of those that take the kind. The claim then waits no more. If no
// claim waits, the next one that takes the kind will look for the task. The caller holds the lock.
func (m *matchmaker) give(workspace string, o claimOffer) {
	if w := m.first(workspace, o.kind); w != nil {
		m.remove(w)
		w.offers <- o
		return
	}
	if in := m.workspaces[workspace]; in != nil {
		for _, f := range in.takersOf(o.kind) {
			f.ungiven++
			if f.most >= 0 {
				f.most++
			}
		}
	}
}

// first returns the claim that has waited longest of those that take the kind, or nil. The caller holds the lock.
func (m *matchmaker) first(workspace string, k fermata.TaskKind) *waitingClaim {
	in := m.workspaces[workspace]
	if in == nil {
		return nil
	}
	var first *waitingClaim
	for _, f := range in.takersOf(k) {
		if front := f.queue.Front(); front != nil {
			if w := front.Value.(*waitingClaim); first == nil || w.arrival < first.arrival { //nolint:forcetypeassert // the queue holds nothing else
				first = w
			}
		}
	}
	return first
}

// offerMoved offers the tasks that became claimable by the events, which are of one workspace.
func (m *matchmaker) offerMoved(events []*fermata.Event) {
	for _, e := range events {
		if e.Move == nil || !e.Move.To.IsClaimable() || e.Move.IsClaimed {
			continue
		}
		m.mu.Lock()
		if in := m.workspaces[e.WorkspaceID]; in != nil {
			in.kinds.add(e.Move.Kind)
			m.give(e.WorkspaceID, claimOffer{kind: e.Move.Kind, taskID: e.TaskID, isNew: e.Move.From == ""})
		}
		m.mu.Unlock()
	}
}

// concerns reports whether moves of tasks in a workspace must be offered.
func (m *matchmaker) concerns(workspace string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.workspaces[workspace] != nil
}

// hasWorkers reports whether workers claim tasks in the workspace, or did so a moment ago.
func (m *matchmaker) hasWorkers(workspace string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	in := m.workspaces[workspace]
	if in == nil {
		return false
	}
	for _, f := range in.filters {
		if !f.isOfExecutor() {
			return true
		}
	}
	return false
}

// lookAtIntervals looks for tasks that were not offered, until stop is closed.
func (m *matchmaker) lookAtIntervals(ctx context.Context, stop <-chan struct{}) {
	pause := time.NewTimer(m.pauseAfter(0))
	defer pause.Stop()
	for {
		select {
		case <-stop:
			return
		case <-pause.C:
		}
		began := time.Now()
		m.look(ctx)
		pause.Reset(m.pauseAfter(time.Since(began)))
	}
}

// pauseAfter returns the pause after a look that took some time.
func (m *matchmaker) pauseAfter(look time.Duration) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.waitingWorkers == 0 {
		return max(m.executorLookInterval, look*lookShare)
	}
	return max(m.lookInterval, look*lookShare)
}

// look reads the kinds of the claimable tasks in every workspace with waiting claims. It gives each kind to one claim
// that takes it; that claim passes the offer on if it finds a task.
func (m *matchmaker) look(ctx context.Context) {
	for _, workspace := range m.waitingWorkspaces() {
		kinds, err := m.refreshKinds(ctx, workspace)
		if err != nil {
			m.log.WarnContext(ctx, "look for claimable tasks", "error", err)
			return
		}
		for _, k := range kinds {
			m.offer(workspace, claimOffer{kind: k})
		}
	}
}

// waitingWorkspaces lists the workspaces with waiting claims, and forgets the filters that were not used for long.
func (m *matchmaker) waitingWorkspaces() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var ids []string
	for id, in := range m.workspaces {
		isWaiting := false
		for key, f := range in.filters {
			switch {
			case f.queue.Len() > 0:
				isWaiting = true
			case time.Since(f.usedAt) > filterRetention:
				delete(in.filters, key)
				clear(in.takers)
			}
		}
		if isWaiting {
			ids = append(ids, id)
		}
	}
	return ids
}
