package worker

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/fermata-hq/fermata"
)

// sink is a server's log whose sending a test can block.
type sink struct {
	mu   sync.Mutex
	sent []string
	// gate lets one chunk through for each value. If it is nil, all chunks pass.
	gate chan struct{}
	err  error
}

func (s *sink) send(ctx context.Context, text string) error {
	if s.gate != nil {
		select {
		case <-s.gate:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		err := s.err
		s.err = nil
		return err
	}
	s.sent = append(s.sent, text)
	return nil
}

func (s *sink) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.sent, "")
}

// write writes output, which never fails.
func write(l *runLog, p []byte) { _, _ = l.Write(p) }

func TestLogGathersOutput(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &sink{}
		l := newRunLog(s.send)
		for range 100 {
			logLine(l, "line")
		}
		time.Sleep(logDelay + time.Millisecond) //nolint:forbidigo // the clock is the test's
		synctest.Wait()
		if n := len(s.sent); n != 1 {
			t.Errorf("100 lines were sent in %d chunks, want 1", n)
		}
		l.close(t.Context())
	})
}

func TestLogIsValidTextInChunks(t *testing.T) {
	t.Parallel()
	s := &sink{}
	l := newRunLog(s.send)
	want := strings.Repeat("a€😀", 40_000)
	for piece := range slicesOf([]byte(want), 1000) {
		write(l, piece)
	}
	write(l, []byte("\x00\xff\xe2\x82"))
	l.close(t.Context())
	if got := s.text(); got != want+strings.Repeat("\uFFFD", 4) {
		t.Errorf("got %d bytes that end with %q", len(got), got[len(got)-20:])
	}
	for _, text := range s.sent {
		if len(text) > maxLogChunk+100 || !utf8.ValidString(text) {
			t.Errorf("a chunk has %d bytes, valid: %t", len(text), utf8.ValidString(text))
		}
	}
}

func TestLogOfASlowServerKeepsTheTail(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &sink{gate: make(chan struct{})}
		l := newRunLog(s.send)
		began := time.Now()
		for range 100 {
			write(l, bytes.Repeat([]byte("x"), 100_000))
		}
		write(l, []byte("the end"))
		if held := time.Since(began); held > 2*maxLogStall {
			t.Errorf("the agent was held up for %s", held)
		}
		close(s.gate)
		l.close(t.Context())
		got := s.text()
		if !strings.HasSuffix(got, "the end") || !strings.Contains(got, "left out here") {
			t.Errorf("the log ends with %q", got[max(0, len(got)-50):])
		}
		if len(got) > 2*maxLogPending {
			t.Errorf("%d bytes were kept", len(got))
		}
	})
}

func TestLogIsSentAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &sink{err: fermata.Errorf(fermata.CodeUnavailable, "later")}
		l := newRunLog(s.send)
		write(l, []byte("hello"))
		l.close(t.Context())
		if s.text() != "hello" {
			t.Errorf("got %q", s.text())
		}
	})
}

func TestLogEndsWithADeadServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newRunLog(func(context.Context, string) error { return errors.New("dead") })
		write(l, []byte("hello"))
		began := time.Now()
		l.close(context.Background())
		if took := time.Since(began); took > logCloseTimeout+time.Second {
			t.Errorf("it took %s", took)
		}
		write(l, []byte("more"))
	})
}
