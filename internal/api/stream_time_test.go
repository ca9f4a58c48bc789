package api_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/api"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store/storetest"
)

// pipe is a listener with one connection in memory. The deadlines of the
// connection follow the clock of the test's bubble.
type pipe struct {
	conn   chan net.Conn
	closed chan struct{}
}

func (p *pipe) Accept() (net.Conn, error) {
	select {
	case c := <-p.conn:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipe) Close() error   { close(p.closed); return nil }
func (p *pipe) Addr() net.Addr { return &net.TCPAddr{} }

// engineAlone returns an engine on a database of its own.
func engineAlone(t *testing.T) *engine.Engine {
	t.Helper()
	return engine.New(storetest.Open(t, storetest.SQLite(t)), engine.Options{})
}

// connectTo returns the client's end of an in-memory connection to the handler.
func connectTo(t *testing.T, handler http.Handler) net.Conn {
	t.Helper()
	l := &pipe{make(chan net.Conn, 1), make(chan struct{})}
	server := &http.Server{Handler: handler}
	go server.Serve(l) //nolint:errcheck // it ends with the listener
	near, far := net.Pipe()
	l.conn <- far
	t.Cleanup(func() {
		for _, c := range []io.Closer{near, server} {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return near
}

// quiet opens a stream on a server of its own, with a clock that jumps. It
// returns the client's end, and a function that creates a task.
func quiet(t *testing.T) (net.Conn, func()) {
	t.Helper()
	return quietFor(t, "")
}

// quietFor is quiet with a token that expires after the time, unless the time
// is empty.
func quietFor(t *testing.T, lasts fermata.Timeout) (net.Conn, func()) {
	t.Helper()
	e := engineAlone(t)
	secret, err := e.CreateFirstToken(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	caller, err := e.Authenticate(t.Context(), secret)
	if err != nil {
		t.Fatal(err)
	}
	if lasts != "" {
		made, err := e.CreateToken(t.Context(), caller, fermata.NewToken{Name: "short", Scopes: []fermata.Scope{fermata.ScopeRead}, ExpiresIn: lasts})
		if err != nil {
			t.Fatal(err)
		}
		secret = made.Secret
	}
	near := connectTo(t, api.New(api.Config{Engine: e}))
	if _, err := fmt.Fprintf(near, "GET /v1/events HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer %s\r\n\r\n", secret); err != nil {
		t.Fatal(err)
	}
	return near, func() {
		if _, err := e.CreateTask(t.Context(), caller, fermata.NewTask{Title: "t", Body: strings.Repeat("x", 10_000)}); err != nil {
			t.Error(err)
		}
	}
}

func TestQuietStreamShowsThatItLives(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		conn, _ := quiet(t)
		lines, start := bufio.NewScanner(conn), time.Now()
		for lines.Scan() {
			if lines.Text() == ":" {
				break
			}
		}
		if got := time.Since(start); got != 15*time.Second {
			t.Errorf("the first sign of life came after %s", got)
		}
	})
}

// TestStreamEndsWithItsToken checks that a stream ends when its token expires.
func TestStreamEndsWithItsToken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		conn, _ := quietFor(t, "1m")
		start := time.Now()
		if _, err := io.Copy(io.Discard, conn); err != nil {
			t.Errorf("reading the closed stream: %v", err)
		}
		if got := time.Since(start); got != time.Minute {
			t.Errorf("the stream was still open after %s", got)
		}
	})
}

func TestReaderThatDoesNotReadIsCutOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		conn, makeTask := quiet(t)
		start := time.Now()
		synctest.Wait()
		makeTask()
		time.Sleep(time.Minute) //nolint:forbidigo // the bubble's clock jumps
		if _, err := io.Copy(io.Discard, conn); err != nil {
			t.Errorf("reading the closed stream: %v", err)
		}
		if got := time.Since(start); got != time.Minute {
			t.Errorf("the stream was still open after %s", got)
		}
	})
}
