package engine

import (
	"container/list"
	"slices"
	"time"

	"github.com/fermata-hq/fermata"
)

const (
	// filterRetention is how long the matchmaker remembers a filter that no claim waits with.
	filterRetention = 2 * time.Minute
	// maxTakers is the number of kinds of tasks whose filters are remembered.
	maxTakers = 4096
)

// waitingClaims are the claims that wait in a workspace, and the kinds of its claimable tasks.
type waitingClaims struct {
	// filters are the filters of the claims, by their text.
	filters map[string]*claimFilter
	// takers are the filters that take tasks of a kind. An entry is made when it is needed.
	takers map[fermata.TaskKind][]*claimFilter
	kinds  knownKinds
}

// claimFilter says which tasks claims take. Claims with the same filter wait in one queue.
type claimFilter struct {
	request fermata.ClaimRequest
	// queue holds a *waitingClaim for each claim, in the order in which they came.
	queue *list.List
	// most is the largest number of tasks that a look may still find, or -1 if it is not known. A look that finds nothing
	// sets it to 0, a task for which no claim waits adds one, and a look that finds a task takes one away.
	most int64
	// hasFound reports whether the last look found a task.
	hasFound bool
	// ungiven counts the tasks for which no claim waited.
	ungiven int64
	usedAt  time.Time
}

// expectation is what the matchmaker knows about the tasks that a filter takes.
type expectation int

const (
	expectAnything expectation = iota
	// expectTask says that there probably is a task, and expectNothing that there is none.
	expectTask
	expectNothing
)

// expects returns what a look with the filter will find.
func (f *claimFilter) expects() expectation {
	switch {
	case f.most == 0:
		return expectNothing
	case f.most > 0 || f.hasFound:
		return expectTask
	default:
		return expectAnything
	}
}

// isOfExecutor reports whether the filter is that of the server's own executor of workflows.
func (f *claimFilter) isOfExecutor() bool {
	return slices.Contains(f.request.Runners, fermata.RunnerWorkflow)
}

func (m *matchmaker) inWorkspace(id string) *waitingClaims {
	in := m.workspaces[id]
	if in == nil {
		in = &waitingClaims{filters: map[string]*claimFilter{}, takers: map[fermata.TaskKind][]*claimFilter{}}
		m.workspaces[id] = in
	}
	return in
}

// filterKey returns a text that is different for requests that take different tasks.
func filterKey(r fermata.ClaimRequest) (string, error) {
	return workerKey("", fermata.Worker{Runners: r.Runners, Projects: r.Projects, Agents: r.Agents, Isolates: r.Isolates, Visible: r.Visible})
}

// filterOf returns the filter of requests with the key. The caller holds the lock.
func (m *matchmaker) filterOf(workspace, key string, r fermata.ClaimRequest) *claimFilter {
	in := m.inWorkspace(workspace)
	f := in.filters[key]
	if f == nil {
		f = &claimFilter{request: r, queue: list.New(), most: -1}
		in.filters[key] = f
		clear(in.takers)
	}
	f.usedAt = time.Now()
	return f
}

func (in *waitingClaims) takersOf(k fermata.TaskKind) []*claimFilter {
	takers, ok := in.takers[k]
	if !ok {
		if len(in.takers) >= maxTakers {
			clear(in.takers)
		}
		for _, f := range in.filters {
			if f.request.Takes(k) {
				takers = append(takers, f)
			}
		}
		in.takers[k] = takers
	}
	return takers
}

// look is one look of a claim for a task.
type look struct {
	filter *claimFilter
	// expects is what the look will find.
	expects expectation
	// ungiven is the number of tasks for which no claim had waited before the look.
	ungiven int64
}

// beginLook begins a look for a task that the request takes. Call noteLook after it.
func (m *matchmaker) beginLook(workspace string, r fermata.ClaimRequest) (look, error) {
	key, err := filterKey(r)
	if err != nil {
		return look{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.filterOf(workspace, key, r).beginLook(), nil
}

// beginLookOf begins a look of a claim that has joined. Call noteLook after it.
func (m *matchmaker) beginLookOf(w *waitingClaim) look {
	m.mu.Lock()
	defer m.mu.Unlock()
	return w.filter.beginLook()
}

func (f *claimFilter) beginLook() look { return look{f, f.expects(), f.ungiven} }

// noteLook records whether a look found a task.
func (m *matchmaker) noteLook(l look, found bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := l.filter
	f.hasFound = found
	switch {
	case !found:
		f.most = f.ungiven - l.ungiven
	case f.most > 0:
		f.most--
	}
}

// forgetLooks makes the claims that take the kind look into the database. It is called if an offered task was gone: then
// a look has taken that task, and the one that it was expected to take may be left.
func (m *matchmaker) forgetLooks(workspace string, k fermata.TaskKind) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if in := m.workspaces[workspace]; in != nil {
		for _, f := range in.takersOf(k) {
			f.most = -1
		}
	}
}
