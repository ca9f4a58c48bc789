package engine

import (
	"context"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// auditBounds limits how many events a search reads.
type auditBounds struct {
	// window is the number of events for one query, maxEvents for one request. A
	// search that finds little returns what it has found, and a cursor to
	// continue.
	window, maxEvents int64
}

const (
	// clockStep is the largest step back of the clock at which a search by time
	// still finds every event.
	clockStep = time.Hour
)

// AuditFilter narrows a list of audit events.
type AuditFilter struct {
	TaskID string
	// Types are full types such as question.asked, or nouns such as question.
	Types []string
	// Actor is a kind of actor, an id or a name.
	Actor string
	// Q is searched for in names, ids and the data of events.
	Q        string
	From, To *time.Time

	Limit  int
	Cursor string
}

// Audit lists events, the newest first. One call reads a limited number of
// events; see [fermata.AuditPage].
func (e *Engine) Audit(ctx context.Context, c fermata.Caller, f AuditFilter) (fermata.AuditPage, error) {
	var page fermata.AuditPage
	if err := c.CheckPermission(fermata.ToReadAudit, fermata.UnloadedResource); err != nil {
		return page, err
	}
	if err := fermata.CheckEventFilter("type", f.Types); err != nil {
		return page, err
	}
	if f.TaskID != "" {
		id, err := e.taskID(ctx, c, f.TaskID)
		if err != nil {
			return page, err
		}
		f.TaskID = id
	}
	r := e.listReader(ctx, c)
	s, err := newAuditSearch(r, f)
	if err != nil {
		return page, err
	}
	list := cursorOf("audit", f.Cursor, f)
	if err := list.read(&s.before); err != nil {
		return page, err
	}
	if err := s.run(r, e.auditBounds); err != nil {
		return page, err
	}
	page.Items = s.found
	if s.before > s.after+1 {
		page.NextCursor = list.write(s.before)
		page.SearchedTo, err = s.searchedTo(r)
	}
	return page, err
}

// auditSearch reads the events backward, one window at a time.
type auditSearch struct {
	filter store.EventFilter
	// after and before bound the numbers that are still to be read. Both are
	// exclusive.
	after, before int64
	limit         int
	found         []*fermata.Event
}

func newAuditSearch(r store.Reader, f AuditFilter) (*auditSearch, error) {
	head, err := r.Head()
	if err != nil {
		return nil, err
	}
	s := &auditSearch{
		filter: store.EventFilter{
			TaskID: f.TaskID, Types: f.Types, Actor: f.Actor, Text: f.Q, From: f.From, To: f.To, Newest: true,
		},
		before: head.Seq + 1, limit: pageSize(f.Limit),
	}
	if f.From != nil {
		first, err := r.SeqAt(f.From.Add(-clockStep))
		if err != nil {
			return nil, err
		}
		s.after = first - 1
	}
	if f.To != nil {
		if s.before, err = r.SeqAt(f.To.Add(clockStep)); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// run reads windows until the page is full, no event is left, or the limit of
// the request is reached.
func (s *auditSearch) run(r store.Reader, bounds auditBounds) error {
	window := bounds.window
	if s.filter.TaskID != "" {
		// The events of a task have an index, so one query reads them all.
		window = s.before
	}
	for seen := int64(0); s.before > s.after+1 && seen < bounds.maxEvents; seen += window {
		f := s.filter
		f.After, f.Before, f.Limit = max(s.after, s.before-window-1), s.before, s.limit-len(s.found)
		events, err := r.Events(f)
		if err != nil {
			return err
		}
		s.found = append(s.found, events...)
		if len(events) == f.Limit {
			s.before = events[len(events)-1].Seq
			return nil
		}
		s.before = f.After + 1
	}
	return nil
}

// searchedTo returns the instant back to which all events were read. It returns
// nil if the page is full, because the time of the last event is then that
// instant.
func (s *auditSearch) searchedTo(r store.Reader) (*time.Time, error) {
	if len(s.found) >= s.limit {
		return nil, nil //nolint:nilnil // nil is a result here
	}
	last, err := r.Events(store.EventFilter{After: s.before - 1, Limit: 1})
	if err != nil || len(last) == 0 {
		return nil, err
	}
	return &last[0].At, nil
}
