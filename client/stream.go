package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
)

// StreamQuery filters a stream of events. An empty field does not filter.
type StreamQuery struct {
	TaskID string
	Types  []fermata.EventType
	// After is the number of the last event that the caller has. If it is 0,
	// the stream begins with the next event.
	After int64
	// FromStart makes the stream begin with the first event.
	FromStart bool
	// OnOpen is called each time a connection was opened. The stream delivers
	// every later event, so state that you read from then on misses nothing.
	OnOpen func()
	// OnReset is called when the server cannot replay the missed events. These
	// events are lost; reload everything that you built from events. It is also
	// called when an event that you got was replaced: it was not acknowledged
	// yet, and the database lost it in a failover.
	OnReset func()
	// OnDrop is called each time a connection broke, before the client
	// reconnects.
	OnDrop func(error)
}

// handlerError marks an error of the caller's function, so that Stream does not
// take it for a broken connection.
type handlerError struct{ error }

// Stream calls handle for every event in order, without gaps or repeats, until
// ctx ends or handle returns an error. Stream returns that error. It reopens a
// broken connection without limit; only a first connection that cannot be
// opened is an error.
func (c *Client) Stream(ctx context.Context, q StreamQuery, handle func(*fermata.Event) error) error {
	s := &stream{c: c, q: q, onEvent: handle}
	if q.After > 0 || q.FromStart {
		s.last = strconv.FormatInt(q.After, 10)
	}
	waits := c.newBackOff()
	for n := 0; ; {
		err := s.connect(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if h, ok := errors.AsType[handlerError](err); ok {
			return h.error
		}
		broke := s.connected
		if broke {
			n, s.connected = 0, false
			waits.Reset()
		}
		n++
		wait, retryable := retryDelay(err, waits)
		if !retryable || (!s.opened && n >= c.maxTries) {
			return err
		}
		if broke && q.OnDrop != nil {
			q.OnDrop(err)
		}
		if err := sleep(ctx, max(wait, s.retry)); err != nil {
			return err
		}
	}
}

// stream is one call of Stream over all its connections.
type stream struct {
	c       *Client
	q       StreamQuery
	onEvent func(*fermata.Event) error
	// last is the id after which the next connection continues.
	last string
	// opened reports whether any connection was opened, and connected whether
	// the current one was.
	opened, connected bool
	retry             time.Duration
	// newest is the newest event that the caller got, or nil.
	newest *fermata.Event
}

// connect opens one connection and reads it to the end. It never returns nil.
func (s *stream) connect(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	req, err := s.request(ctx)
	if err != nil {
		return err
	}
	silenceTimer := time.AfterFunc(s.c.idleTimeout, func() { cancel(errors.New("the stream is silent")) })
	defer silenceTimer.Stop()
	res, err := s.c.http.Do(req)
	if err != nil {
		return s.brokenError(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		data, _ := io.ReadAll(io.LimitReader(res.Body, maxReply))
		return s.c.readProblem(res, data)
	}
	if kind := res.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/event-stream") {
		return fermata.Errorf(fermata.CodeInternal, "%s sends %q instead of a stream of events", s.c.base.Host, kind).
			WithHint("is %s the address of a Fermata server?", s.c.URL())
	}
	s.opened, s.connected = true, true
	if s.q.OnOpen != nil {
		s.q.OnOpen()
	}
	return s.read(newSSEReader(res.Body, func() { silenceTimer.Reset(s.c.idleTimeout) }))
}

func (s *stream) request(ctx context.Context) (*http.Request, error) {
	v := values{}
	v.setText("task", s.q.TaskID)
	v.setList("type", toStrings(s.q.Types))
	v.setText("after", s.last)
	req, err := s.c.request(ctx, call{method: http.MethodGet, path: path("events"), query: url.Values(v)}, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Cache-Control", "no-store")
	if s.last != "" {
		req.Header.Set("Last-Event-ID", s.last)
	}
	return req, nil
}

// read handles every frame of a connection.
func (s *stream) read(r *sseReader) error {
	r.id, r.retry = s.last, s.retry
	for {
		f, err := r.nextFrame()
		s.retry = r.retry
		if err != nil {
			s.last = r.id
			return s.brokenError(err)
		}
		if f.name == "reset" && r.id == s.last {
			// After a reset, the numbers of events have no relation to the
			// known ones.
			r.id = ""
		}
		if err := s.handle(f); err != nil {
			return err
		}
		s.last = r.id
	}
}

// handle handles one frame. It ignores a name that it does not know, which
// comes from a newer server.
func (s *stream) handle(f frame) error {
	if f.name == "reset" {
		s.reset()
		return nil
	}
	if e, ok := f.event(); ok && !s.isKnown(e.Seq) {
		if s.newest != nil && e.Seq == s.newest.Seq+1 && e.PrevHash != s.newest.Hash {
			s.reset()
		}
		s.newest = e
		if err := s.onEvent(e); err != nil {
			return handlerError{err}
		}
	}
	return nil
}

func (s *stream) reset() {
	s.newest = nil
	if s.q.OnReset != nil {
		s.q.OnReset()
	}
}

// event returns the frame's event, or false if it holds none.
func (f frame) event() (*fermata.Event, bool) {
	var e fermata.Event
	if err := json.Unmarshal([]byte(f.data), &e); err != nil || e.Seq == 0 {
		return nil, false
	}
	return &e, true
}

// isKnown reports whether the caller already got the event.
func (s *stream) isKnown(seq int64) bool {
	last, err := strconv.ParseInt(s.last, 10, 64)
	return err == nil && seq <= last
}

func (s *stream) brokenError(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return s.c.connectionError(err)
}
