package client

import (
	"context"
	"net/url"
	"strconv"

	"github.com/fermata-hq/fermata"
)

// EventQuery filters a page of events. An empty field does not filter.
type EventQuery struct {
	// After is the number of the last event that the caller has.
	After  int64
	TaskID string
	Types  []fermata.EventType
	// Limit is the size of the page. The server chooses it if it is 0.
	Limit int
}

// Events returns a page of events, oldest first, and the After of the next
// page, which is 0 at the end.
func (c *Client) Events(ctx context.Context, q EventQuery) ([]*fermata.Event, int64, error) {
	v := values{}
	v.setNumber("after", q.After)
	v.setNumber("limit", int64(q.Limit))
	v.setList("type", toStrings(q.Types))
	at := path("events")
	if q.TaskID != "" {
		// The events of one task have an address of their own. It never
		// streams, and it accepts an ending of the id.
		at = path("tasks", q.TaskID, "events")
	}
	p, err := get[page[*fermata.Event]](ctx, c, at, url.Values(v))
	if err != nil || p.NextCursor == "" {
		return p.Items, 0, err
	}
	next, err := strconv.ParseInt(p.NextCursor, 10, 64)
	if err != nil {
		return nil, 0, fermata.Errorf(fermata.CodeInternal, "the cursor %q is no number of an event", p.NextCursor)
	}
	return p.Items, next, nil
}
