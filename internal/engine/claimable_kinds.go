package engine

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/fermata-hq/fermata"
)

// kindsMaxAge is the age at which a claim reads the kinds of claimable tasks again. While claims wait, every look reads
// them.
const kindsMaxAge = time.Minute

// knownKinds are the kinds of a workspace's claimable tasks. Kinds that have no task any more may be among them, but none is
// missing whose task was committed before the last event that this process knows of. The matchmaker's lock guards
// them.
type knownKinds struct {
	// added is the number of the last addition; kinds are the kinds with the number of the addition that named them last.
	added int64
	kinds map[fermata.TaskKind]int64
	// readAt is when the kinds were read. It is zero before that.
	readAt time.Time
}

// add adds a kind whose task has become claimable.
func (k *knownKinds) add(kind fermata.TaskKind) {
	if k.kinds == nil {
		k.kinds = map[fermata.TaskKind]int64{}
	}
	k.added++
	k.kinds[kind] = k.added
}

// claimableKinds returns the kinds of the workspace's claimable tasks. It reads the database only if this process does
// not know them.
func (m *matchmaker) claimableKinds(ctx context.Context, workspace string) ([]fermata.TaskKind, error) {
	m.mu.Lock()
	known := &m.inWorkspace(workspace).kinds
	if !known.readAt.IsZero() && time.Since(known.readAt) < kindsMaxAge {
		defer m.mu.Unlock()
		return slices.Collect(maps.Keys(known.kinds)), nil
	}
	m.mu.Unlock()
	return m.refreshKinds(ctx, workspace)
}

// refreshKinds reads the kinds of the workspace's claimable tasks. It keeps the kinds that were added meanwhile.
func (m *matchmaker) refreshKinds(ctx context.Context, workspace string) ([]fermata.TaskKind, error) {
	m.mu.Lock()
	before := m.inWorkspace(workspace).kinds.added
	m.mu.Unlock()
	read, err := m.db.Reader(ctx, workspace).ClaimableKinds()
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	known := &m.inWorkspace(workspace).kinds
	maps.DeleteFunc(known.kinds, func(_ fermata.TaskKind, added int64) bool { return added <= before })
	for _, kind := range read {
		if _, ok := known.kinds[kind]; !ok {
			known.add(kind)
		}
	}
	known.readAt = time.Now()
	return slices.Collect(maps.Keys(known.kinds)), nil
}
