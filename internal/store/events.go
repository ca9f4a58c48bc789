package store

import (
	"context"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

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
	e.Type, e.Actor.Kind, e.At, e.Data = fermata.EventType(typ), fermata.ActorKind(kind), instantOf(ms), rawJSON(data)
	e.PrevHash = hashText(prev)
	// An event's own hash is the prev_hash of the next event, so it is not stored a second time.
	e.Rehash()
	return e, nil
}

// EventFilter narrows a list of events.
type EventFilter struct {
	// After is the number after which the list begins.
	After int64
	// Before is the number before which the list ends; 0 means no end.
	Before int64
	// From and To bound the instants of the events: at or after From, and before To. They only filter the list; After
	// and Before bound the rows that are read. See [Reader.SeqAt].
	From, To *time.Time
	TaskID   string
	// Types are whole event types such as question.asked, or nouns such as question. A noun matches all its types.
	Types []string
	// Actor is the kind, the id or the name of an actor.
	Actor string
	// Text is searched in the actors' names, in ids and in the data of the events.
	Text string
	// Newest lists the newest events first.
	Newest bool
	Limit  int
}

// Events lists events in the order of their numbers.
func (r Reader) Events(f EventFilter) ([]*fermata.Event, error) {
	w := r.newWhereClause()
	w.add("seq > $%d", f.After)
	if f.Before > 0 {
		w.add("seq < $%d", f.Before)
	}
	if f.From != nil {
		w.add("at >= $%d", f.From.UnixMilli())
	}
	if f.To != nil {
		w.add("at < $%d", f.To.UnixMilli())
	}
	if f.TaskID != "" {
		w.add("task_id = $%d AND task_id <> ''", f.TaskID)
	}
	w.addVisibleTask(r.visible, "events")
	if f.Actor != "" {
		w.add("(actor_kind = $%[1]d OR actor_id = $%[1]d OR actor_name = $%[1]d)", f.Actor)
	}
	w.addSearch(f.Text)
	w.args = append(w.args, f.Limit)
	order := " ORDER BY seq LIMIT $" + strconv.Itoa(len(w.args))
	if f.Newest {
		order = " ORDER BY seq DESC LIMIT $" + strconv.Itoa(len(w.args))
	}
	rare := f.rareTypes()
	if len(rare) == 0 {
		w.addTypes(f.Types)
		return list(r, r.scanEvent, "SELECT "+eventColumns+" FROM events WHERE "+w.sql()+order, w.args...)
	}
	parts := make([]string, len(rare))
	for i, t := range rare {
		parts[i] = fmt.Sprintf("SELECT * FROM (SELECT %s FROM events WHERE type = '%s' AND %s AND %s%s) AS part_%d",
			eventColumns, t, isRareType, w.sql(), order, i)
	}
	return list(r, r.scanEvent, strings.Join(parts, " UNION ALL ")+order, w.args...)
}

// isRareType is the condition of the index of events by type. The index leaves out the types of which each task and
// question has events.
const isRareType = `type <> 'task.created' AND type <> 'task.claimed' AND type <> 'task.state_changed' AND type <> 'task.ended'
	AND type <> 'run.finished' AND type <> 'question.asked' AND type <> 'question.answered'`

// fewEvents is how many events cost less to read than an index by type.
const fewEvents = 1000

// rareTypes returns the types of the filter if the index by type contains all of them. It returns none if there is a
// shorter way: by the task, or through the few events of a range.
func (f EventFilter) rareTypes() []fermata.EventType {
	if len(f.Types) == 0 || f.TaskID != "" || f.Before > 0 && f.Before-f.After <= fewEvents {
		return nil
	}
	var rare []fermata.EventType
	for _, t := range fermata.EventTypes {
		if !t.IsOneOf(f.Types) {
			continue
		}
		if strings.Contains(isRareType, "'"+string(t)+"'") {
			return nil
		}
		rare = append(rare, t)
	}
	return rare
}

// EventsOfQuestion lists the events about a question in the order of their numbers.
func (r Reader) EventsOfQuestion(q *fermata.Question) ([]*fermata.Event, error) {
	return list(r, r.scanEvent, eventsOfQuestionSQL("$3"), r.workspace, q.ID, q.TaskID)
}

// eventsOfQuestionSQL returns the query for the events about a question. It uses the index of the events by task. The
// expression on workspace_id excludes the other indexes: before the table is analyzed, PostgreSQL would prefer one that
// begins with the workspace, and would read the whole workspace.
func eventsOfQuestionSQL(task string) string {
	return "SELECT " + eventColumns + " FROM events WHERE workspace_id || '' = $1 AND question_id = $2 AND task_id <> '' AND task_id = " + task + " ORDER BY seq"
}

// addTypes keeps the events that match one of the types, as [EventFilter] describes them.
func (w *whereClause) addTypes(types []string) {
	var whole, either []string
	for _, t := range types {
		if strings.Contains(t, ".") {
			whole = append(whole, t)
			continue
		}
		w.args = append(w.args, escapeLike(t)+".%")
		either = append(either, fmt.Sprintf(`type LIKE $%d ESCAPE '\'`, len(w.args)))
	}
	if len(whole) > 0 {
		w.args = append(w.args, columnText(whole))
		either = append(either, fmt.Sprintf(w.d.inList, "type", len(w.args)))
	}
	if len(either) > 0 {
		w.conditions = append(w.conditions, "("+strings.Join(either, " OR ")+")")
	}
}

// addSearch keeps the events that contain the text. The data of an event is JSON, which escapes some characters, so the
// escaped text is searched there.
func (w *whereClause) addSearch(s string) {
	if s == "" {
		return
	}
	quoted := columnText(s)
	w.args = append(w.args, likeAnywhere(s), likeAnywhere(quoted[1:len(quoted)-1]), s)
	n := len(w.args)
	w.conditions = append(w.conditions, fmt.Sprintf(`(data %[1]s $%[2]d ESCAPE '\' OR actor_name %[1]s $%[3]d ESCAPE '\'
		OR task_id = $%[4]d OR question_id = $%[4]d OR run_id = $%[4]d)`, w.d.like, n-1, n-2, n))
}

// SeqAt returns the number of the first event at or after an instant, or the number after the last event if there is
// none. It costs a few look-ups and needs no index, because the numbers follow the clock. If the clock was set back,
// it returns one of the places at which the clock passed the instant.
func (r Reader) SeqAt(t time.Time) (int64, error) {
	head, err := r.Head()
	if err != nil {
		return 0, err
	}
	low, high := int64(1), head.Seq+1
	for low < high {
		middle := low + (high-low)/2
		passed, err := r.isEventAt(middle, t)
		if err != nil {
			return 0, err
		}
		if passed {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low, nil
}

// isEventAt reports whether the first event with this number or a higher one happened at the instant or later. It
// returns true if there is no such event.
func (r Reader) isEventAt(seq int64, t time.Time) (bool, error) {
	found, err := list(r, func(rs rows) (int64, error) {
		var ms int64
		return ms, rs.Scan(&ms)
	}, "SELECT at FROM events WHERE workspace_id = $1 AND seq >= $2 ORDER BY seq LIMIT 1", r.workspace, seq)
	return len(found) == 0 || found[0] >= t.UnixMilli(), err
}

// hashText returns a hash in the form that the API shows: base64 without padding.
func hashText(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// hashBytes returns the bytes of a hash of [fermata.Event.Link], as the column stores it.
func hashBytes(s string) []byte {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		panic("store: the hash of an event is no base64: " + s)
	}
	return b
}

// scanHead reads a counter row, and the further columns that the query returns.
func scanHead(rs rows, more ...any) (fermata.Chain, error) {
	var c fermata.Chain
	var hash []byte
	err := rs.Scan(append([]any{&c.Seq, &hash}, more...)...)
	c.Hash = hashText(hash)
	return c, err
}

// Head returns the number and the hash of the last event.
func (r Reader) Head() (fermata.Chain, error) {
	return scanOne(r, "workspace", r.workspace, func(rs rows) (fermata.Chain, error) { return scanHead(rs) }, "SELECT event_seq, event_hash FROM workspaces WHERE id = $1", r.workspace)
}

// Listen calls wake when it has begun to listen, because nobody announces earlier commits again, and then for every commit of
// another process, until ctx ends. A call is only a hint and may be missing, so the caller must also look from time to time.
func (db *DB) Listen(ctx context.Context, wake func()) error {
	return db.backend.listen(ctx, wake)
}

// Notify tells the other processes about a commit.
func (db *DB) Notify(ctx context.Context) error {
	return db.backend.notify(ctx)
}
