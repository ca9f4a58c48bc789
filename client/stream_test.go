package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fermata-hq/fermata"
)

func TestSSEReader(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100_000)
	tests := []struct {
		name, in string
		want     []frame
		id       string
	}{
		{"one", "id: 7\nevent: a\ndata: b\n\n", []frame{{"a", "b"}}, "7"},
		{"CR LF", "id: 7\r\ndata: b\r\n\r\n", []frame{{"", "b"}}, "7"},
		{"several lines of data", "data: a\ndata: b\n\n", []frame{{"", "a\nb"}}, ""},
		{"comments", ": hello\n\n:\n\ndata:a\n\n", []frame{{"", "a"}}, ""},
		{"an id alone", "id: 9\n\n", nil, "9"},
		{"cut off", "id: 1\ndata: a\n\nid: 2\ndata: b\n", []frame{{"", "a"}}, "1"},
		{"a long line", "data: " + long + "\n\n", []frame{{"", long}}, ""},
		{"a name alone", "event: reset\n\n", []frame{{"reset", ""}}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newSSEReader(strings.NewReader(tt.in), func() {})
			var got []frame
			for {
				f, err := r.nextFrame()
				if err != nil {
					break
				}
				got = append(got, f)
			}
			if !slices.Equal(got, tt.want) || r.id != tt.id {
				t.Errorf("got %d frames and id %q, want %d and %q", len(got), r.id, len(tt.want), tt.id)
			}
		})
	}
}

var errEnough = errors.New("enough")

func writeEvent(w http.ResponseWriter, seq int) {
	fmt.Fprintf(w, "id: %d\nevent: task.created\ndata: {\"seq\":%d,\"type\":\"task.created\"}\n\n", seq, seq)
}

// collect streams until it has n events.
func collect(ctx context.Context, c *Client, q StreamQuery, n int) ([]int64, error) {
	var got []int64
	err := c.Stream(ctx, q, func(e *fermata.Event) error {
		got = append(got, e.Seq)
		if len(got) == n {
			return errEnough
		}
		return nil
	})
	return got, err
}

func TestStreamGoesOnWhereItBroke(t *testing.T) {
	t.Parallel()
	var connections atomic.Int32
	c := newTest(t, func(w http.ResponseWriter, r *http.Request) {
		n := connections.Add(1)
		if want := map[int32]string{1: "4", 2: "6", 3: "6"}[n]; r.Header.Get("Last-Event-ID") != want {
			t.Errorf("connection %d: Last-Event-ID %q, want %q", n, r.Header.Get("Last-Event-ID"), want)
		}
		if n == 2 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		if n == 1 {
			writeEvent(w, 5)
			writeEvent(w, 6)
			fmt.Fprint(w, "id: 7\ndata: {\"seq\":7")
			return
		}
		writeEvent(w, 6) // a repeat, which the caller must not get
		writeEvent(w, 7)
	})
	drops := 0
	got, err := collect(t.Context(), c, StreamQuery{After: 4, OnDrop: func(error) { drops++ }}, 3)
	if !errors.Is(err, errEnough) || !slices.Equal(got, []int64{5, 6, 7}) || drops != 1 {
		t.Errorf("got %v, %v, %d drops", got, err, drops)
	}
}

func TestStreamReset(t *testing.T) {
	t.Parallel()
	c := newTest(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "event: reset\ndata: {}\n\n")
		writeEvent(w, 3)
	})
	resets := 0
	got, err := collect(t.Context(), c, StreamQuery{After: 900, OnReset: func() { resets++ }}, 1)
	if !errors.Is(err, errEnough) || !slices.Equal(got, []int64{3}) || resets != 1 {
		t.Errorf("got %v, %v, %d resets", got, err, resets)
	}
}

// A failover breaks the connection and loses the last event. The server that the client connects to next has another event
// with the number of the lost one.
func TestStreamNoticesAReplacedEvent(t *testing.T) {
	t.Parallel()
	for prev, want := range map[string]int{"kept": 0, "another": 1} {
		c := newTest(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			if r.Header.Get("Last-Event-ID") != "3" {
				fmt.Fprint(w, "id: 3\nevent: x\ndata: {\"seq\":3,\"hash\":\"kept\"}\n\n")
				return
			}
			fmt.Fprintf(w, "id: 4\nevent: x\ndata: {\"seq\":4,\"prev_hash\":%q,\"hash\":\"b\"}\n\n", prev)
		})
		resets := 0
		got, err := collect(t.Context(), c, StreamQuery{FromStart: true, OnReset: func() { resets++ }}, 2)
		if !errors.Is(err, errEnough) || !slices.Equal(got, []int64{3, 4}) || resets != want {
			t.Errorf("%s: got %v, %v, %d resets, not %d", prev, got, err, resets, want)
		}
	}
}

func TestStreamThatCannotOpenIsAnError(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]fermata.Code{
		http.StatusUnauthorized:       fermata.CodeUnauthenticated,
		http.StatusServiceUnavailable: fermata.CodeUnavailable,
	} {
		c := newTest(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		if _, err := collect(t.Context(), c, StreamQuery{}, 1); fermata.CodeOf(err) != want {
			t.Errorf("status %d: got %v, want %s", status, err, want)
		}
	}
}

func TestStreamEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	c := newTest(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		writeEvent(w, 1)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	err := c.Stream(ctx, StreamQuery{}, func(*fermata.Event) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}
