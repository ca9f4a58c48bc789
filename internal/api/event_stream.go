package api

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

const (
	// heartbeatEvery is how often a stream without new events sends a heartbeat.
	heartbeatEvery = 15 * time.Second
	// maxStreamAge is how long a stream may be open. Then the client connects again, if its token has not expired.
	maxStreamAge = 15 * time.Minute
	// maxAuthenticationAge is the longest time between the authentication of a caller and the beginning of the stream.
	maxAuthenticationAge = time.Minute
	// writeTimeout is how long a client may take to read one write.
	writeTimeout = 10 * time.Second
)

var frameEnd = []byte("\n\n")

// followRequest is a parsed request for events.
type followRequest struct {
	after int64
	// resumed reports whether after was given.
	resumed bool
	task    string
	types   []string
	limit   int
}

// parseFollow reads the parameters of GET /v1/events.
func parseFollow(r *http.Request) (followRequest, error) {
	f := followRequest{limit: 100}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return f, fermata.Invalid(fermata.Problem{Field: "query", Message: "is malformed"})
	}
	for name := range query {
		if !slices.Contains([]string{"after", "task", "type", "limit"}, name) {
			return f, fermata.Invalid(fermata.Problem{Field: name, Message: "is no known parameter"})
		}
	}
	field, after := "after", query.Get("after")
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		field, after = "Last-Event-ID", last
	}
	if after != "" {
		f.resumed = true
		if f.after, err = strconv.ParseInt(after, 10, 64); err != nil || f.after < 0 {
			return f, fermata.Invalid(fermata.Problem{Field: field, Message: "must be the number of an event"})
		}
	}
	if limit := query.Get("limit"); limit != "" {
		if f.limit, err = strconv.Atoi(limit); err != nil || f.limit < 1 || f.limit > 1000 {
			return f, fermata.Invalid(fermata.Problem{Field: "limit", Message: "must be a number from 1 to 1000"})
		}
	}
	f.task = query.Get("task")
	if types := query.Get("type"); types != "" {
		f.types = strings.Split(types, ",")
	}
	return f, nil
}

// events serves GET /v1/events: a stream, or a part of the list for a caller that accepts only JSON.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	f, err := parseFollow(r)
	if err == nil {
		err = refuseBody(r)
	}
	if err != nil {
		s.writeProblem(w, r, err)
		return
	}
	accept := r.Header.Get("Accept")
	if strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/event-stream") {
		s.listEvents(w, r, f)
		return
	}
	end, err := s.limits.streams.add(callerOf(r.Context()), s.limits.maxStreams)
	if err != nil {
		s.writeProblem(w, r, err)
		return
	}
	defer end()
	st, err := s.openStream(w, r, f)
	if err != nil {
		s.writeProblem(w, r, err)
		return
	}
	if r.Method == http.MethodHead {
		return
	}
	ctx, done := s.waitContext(r.Context())
	defer done()
	if c := callerOf(r.Context()); s.Delivery != nil && c.Kind == fermata.ActorHuman && c.TokenID == "" {
		// While a person has a page open, new questions appear there, and push messages are not needed.
		defer s.Delivery.TrackPage(c.WorkspaceID, c.MemberID)()
	}
	st.run(ctx)
}

func (s *Server) listEvents(w http.ResponseWriter, r *http.Request, f followRequest) {
	page, err := s.eventPage(r.Context(), callerOf(r.Context()), engine.EventFilter{
		After: f.after, TaskID: f.task, Types: f.types, Limit: f.limit,
	})
	if err != nil {
		s.writeProblem(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	// An error means that the client is gone, so there is nothing to do.
	_ = writeJSON(w, page.Body)
}

// stream is one client that follows events. It holds only a cursor: the next events are read from the shared tail.
type stream struct {
	w      http.ResponseWriter
	conn   *http.ResponseController
	tail   *engine.Tail
	caller fermata.Caller
	task   string
	types  []string
	// seen is the number of the last event that was sent or filtered out. hash is its hash, or empty if it was never read.
	seen int64
	hash string
	// since is the instant after which a change of the caller's rights ends the stream. Earlier changes were known
	// when the caller was authenticated.
	since time.Time
	// maxAge is how long the stream may last: until its caller's token or session ends, and never longer than
	// [maxStreamAge].
	maxAge time.Duration
	// clientSeq is the last number that the client knows.
	clientSeq int64
	// lastWrite is when data was last sent to the client.
	lastWrite time.Time
	// reset reports whether the client named a number after the last event. Such a number belongs to a database that
	// was replaced.
	reset bool
}

// openStream checks the caller and the filters and finds where the stream begins.
func (s *Server) openStream(w http.ResponseWriter, r *http.Request, f followRequest) (*stream, error) {
	ctx := r.Context()
	c := callerOf(ctx)
	if err := c.CheckPermission(fermata.ToReadEvents, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	types, err := fermata.VisibleEventTypes(c, "type", f.types)
	if err != nil {
		return nil, err
	}
	st := &stream{
		w: w, conn: http.NewResponseController(w), tail: s.Engine.Tail(), caller: c, types: types,
	}
	if f.task != "" {
		t, err := s.Engine.Task(ctx, c, f.task)
		if err != nil {
			return nil, err
		}
		st.task = t.ID
	}
	now, err := s.Engine.Now(ctx)
	if err != nil {
		return nil, err
	}
	st.since, st.maxAge = now.Add(-maxAuthenticationAge), maxStreamAge
	if !c.EndsAt.IsZero() {
		st.maxAge = min(st.maxAge, c.EndsAt.Sub(now))
	}
	head, err := st.tail.Head(ctx, c.WorkspaceID)
	if err != nil {
		return nil, err
	}
	st.seen = head
	if f.resumed {
		st.seen, st.reset = min(f.after, head), f.after > head
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	return st, nil
}

// run sends events until the client leaves or reads too slowly, its token or session ends, or the server drains.
func (st *stream) run(ctx context.Context) {
	ctx, end := context.WithTimeout(ctx, st.maxAge)
	defer end()
	if !st.writeStart() {
		return
	}
	for {
		wait, cancel := context.WithDeadline(ctx, st.lastWrite.Add(heartbeatEvery))
		events, err := st.tail.Next(wait, st.caller.WorkspaceID, st.seen)
		failed := err != nil && wait.Err() == nil
		cancel()
		if failed || ctx.Err() != nil {
			// The client reconnects and continues where it was.
			return
		}
		isVisible, err := st.tail.VisibilityFilter(ctx, st.caller, events)
		if err != nil || !st.send(events, isVisible) {
			return
		}
		// Events that the filters leave out send nothing, so a heartbeat may be due.
		if time.Since(st.lastWrite) >= heartbeatEvery && !st.heartbeat() {
			return
		}
	}
}

// writeStart sends the client the reconnect delay and the number at which the stream begins. With that number, a client
// that loses the connection before the first event misses no event.
func (st *stream) writeStart() bool {
	st.extendDeadline()
	st.clientSeq = st.seen
	out := "id: " + strconv.FormatInt(st.seen, 10) + "\n"
	if st.reset {
		out = resetFrame(st.seen)
	}
	out = "retry: 1000\n" + out
	return st.write([]byte(out+"\n")) && st.conn.Flush() == nil
}

// send writes the events that the caller may see and asked for. It returns false if the stream must end. A stream
// ends when the rights of its caller change; the client then connects again.
func (st *stream) send(events []*engine.TailEvent, isVisible func(*engine.TailEvent) bool) bool {
	sent := false
	if len(events) > 0 && st.hash != "" && events[0].PrevHash != st.hash && !st.writeReset() {
		return false
	}
	for _, e := range events {
		if st.caller.IsEnded(e.At) {
			return false
		}
		st.seen, st.hash = e.Seq, e.Hash
		if e.At.After(st.since) && e.ChangesRights(st.caller) {
			// The next stream of this client begins after this event.
			_ = st.heartbeat()
			return false
		}
		if !isVisible(e) || !st.matches(e) {
			continue
		}
		if !sent {
			st.extendDeadline()
		}
		sent = true
		if !st.writeFrame(e) {
			return false
		}
		st.clientSeq = e.Seq
	}
	return !sent || st.conn.Flush() == nil
}

// writeReset tells the client that an event which it got was replaced: the database lost it in a failover, before it was
// acknowledged to the caller who made it.
func (st *stream) writeReset() bool {
	st.extendDeadline()
	st.clientSeq = st.seen
	return st.write([]byte(resetFrame(st.seen) + "\n"))
}

// resetFrame returns the lines of a reset, which names the number after which the stream goes on.
func resetFrame(seq int64) string {
	n := strconv.FormatInt(seq, 10)
	return "id: " + n + "\nevent: reset\ndata: {\"seq\":" + n + "}\n"
}

// writeFrame writes one event. The tail has encoded the JSON once for all streams.
func (st *stream) writeFrame(e *engine.TailEvent) bool {
	head := make([]byte, 0, 96)
	head = append(head, "id: "...)
	head = strconv.AppendInt(head, e.Seq, 10)
	head = append(head, "\nevent: "...)
	head = append(head, e.Type...)
	head = append(head, "\ndata: "...)
	return st.write(head, e.JSON, frameEnd)
}

// heartbeat keeps the connection open. It also moves the client's cursor past events that its filters left out.
func (st *stream) heartbeat() bool {
	st.extendDeadline()
	out := ":\n\n"
	if st.clientSeq < st.seen {
		st.clientSeq = st.seen
		out = ":\nid: " + strconv.FormatInt(st.seen, 10) + "\n\n"
	}
	return st.write([]byte(out)) && st.conn.Flush() == nil
}

func (st *stream) matches(e *engine.TailEvent) bool {
	return (st.task == "" || e.TaskID == st.task) &&
		(len(st.types) == 0 || e.Type.IsOneOf(st.types))
}

// extendDeadline gives the client [writeTimeout] to read the next write. A slower client is disconnected, so that no
// data is buffered for it.
func (st *stream) extendDeadline() {
	// An error means that the connection supports no deadlines, as in a test.
	st.lastWrite = time.Now()
	_ = st.conn.SetWriteDeadline(st.lastWrite.Add(writeTimeout))
}

func (st *stream) write(parts ...[]byte) bool {
	for _, part := range parts {
		if _, err := st.w.Write(part); err != nil { //nolint:gosec // a stream of events is no page that a browser renders
			return false
		}
	}
	return true
}
