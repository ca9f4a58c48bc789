package store_test

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
)

// serverLink is a connection to a server that can go dead: then no data arrives, and
// nothing is refused.
type serverLink struct {
	net.Listener
	target string

	mu   sync.Mutex
	dead bool
	// ends are the open connections.
	ends []net.Conn
}

func newServerLink(t *testing.T, to string) *serverLink {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	l := &serverLink{Listener: listener, target: to}
	var busy sync.WaitGroup
	busy.Go(func() { l.serve(&busy) })
	t.Cleanup(func() {
		_ = l.Close()
		l.cut()
		busy.Wait()
	})
	return l
}

func (l *serverLink) serve(busy *sync.WaitGroup) {
	for {
		from, err := l.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("tcp", l.target)
		if err != nil {
			_ = from.Close()
			continue
		}
		l.mu.Lock()
		l.ends = append(l.ends, from, to)
		l.mu.Unlock()
		busy.Go(func() { l.pass(to, from) })
		busy.Go(func() { l.pass(from, to) })
	}
}

// pass copies data. While the link is dead, it drops the data.
func (l *serverLink) pass(to io.WriteCloser, from io.Reader) {
	defer func() { _ = to.Close() }()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		l.mu.Lock()
		dead := l.dead
		l.mu.Unlock()
		if dead {
			continue
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func (l *serverLink) setDead(dead bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dead = dead
}

func (l *serverLink) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, end := range l.ends {
		_ = end.Close()
	}
}

// A server that stops answering does not hold callers forever. Writes continue
// when the server is back.
func TestPostgresThatIsSilentIsUnavailable(t *testing.T) {
	t.Parallel()
	opts := storetest.Postgres(t)
	u, err := url.Parse(opts.URL)
	must(t, err)
	l := newServerLink(t, u.Host)
	u.Host = l.Addr().String()
	opts.URL = u.String()
	db := storetest.Open(t, opts)
	must(t, writeEvent(t, db))
	store.SetReplyTimeout(db, 100*time.Millisecond)
	l.setDead(true)
	for range 3 {
		code(t, writeEvent(t, db), fermata.CodeUnavailable)
	}
	l.setDead(false)
	store.SetReplyTimeout(db, time.Minute)
	l.cut()
	for err = writeEvent(t, db); err != nil; err = writeEvent(t, db) {
		code(t, err, fermata.CodeUnavailable)
	}
}
