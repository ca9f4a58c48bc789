package store

import (
	"context"
	"encoding/base64"

	"github.com/fermata-hq/fermata"
)

const eventColumns = `seq, type, task_id, question_id, run_id, actor_kind, actor_id, actor_name, at, data, prev_hash`

func (r Reader) scanEvent(rs rows) (*fermata.Event, error) {
	e := &fermata.Event{WorkspaceID: r.workspace}
	var typ, kind, data string
	var prev []byte
	var ms int64
	if err := rs.Scan(&e.Seq, &typ, &e.TaskID, &e.QuestionID, &e.RunID, &kind, &e.Actor.ID, &e.Actor.Name, &ms, &data, &prev); err != nil {
		return nil, err
	}
	e.Type, e.Actor.Kind, e.At, e.Data = fermata.EventType(typ), fermata.ActorKind(kind), at(ms), raw(data)
	e.PrevHash = hashText(prev)
	// An event's own hash is the next one's prev_hash: it is not kept twice.
	e.Rehash()
	return e, nil
}

// EventFilter narrows a list of events.
type EventFilter struct {
	// After is the number behind which the list begins.
	After  int64
	TaskID string
	Types  []string
	Limit  int
}

// Events lists events in order.
func (r Reader) Events(f EventFilter) ([]*fermata.Event, error) {
	w := r.where()
	w.add("seq > $%d", f.After)
	if f.TaskID != "" {
		w.add("task_id = $%d AND task_id <> ''", f.TaskID)
	}
	if len(f.Types) > 0 {
		w.in("type", f.Types)
	}
	w.args = append(w.args, f.Limit)
	return list(r, r.scanEvent, "SELECT "+eventColumns+" FROM events WHERE "+w.sql()+
		" ORDER BY seq LIMIT $"+itoa(len(w.args)), w.args...)
}

// hashText is a hash as the world sees it.
func hashText(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// hashBytes is a hash of [fermata.Event.Seal] as it is kept.
func hashBytes(s string) []byte {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		panic("store: the hash of an event is no base64: " + s)
	}
	return b
}

// scanHead reads a counter row, and what else the query returns.
func scanHead(rs rows, more ...any) (fermata.Chain, error) {
	var c fermata.Chain
	var hash []byte
	err := rs.Scan(append([]any{&c.Seq, &hash}, more...)...)
	c.Hash = hashText(hash)
	return c, err
}

// Head returns the number and the hash of the last event.
func (r Reader) Head() (fermata.Chain, error) {
	return one(r, "workspace", r.workspace, func(rs rows) (fermata.Chain, error) { return scanHead(rs) }, "SELECT event_seq, event_hash FROM workspaces WHERE id = $1", r.workspace)
}

// Listen calls wake for every commit of another process, until ctx ends. A
// call is a hint: look, and look from time to time anyway.
func (db *DB) Listen(ctx context.Context, wake func(workspace string)) error {
	return db.backend.listen(ctx, wake)
}

// Notify tells other processes of a commit.
func (db *DB) Notify(ctx context.Context, workspace string) error {
	return db.backend.notify(ctx, workspace)
}
