package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// rawCommand starts the raw limit: a bare handler that writes the same rows as the server, without any rules.
const rawCommand = "raw-server"

// rawServer serves until it is terminated. Its arguments are what it writes, the kind of the database and its location.
func rawServer(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("%s takes 3 arguments", rawCommand)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	open := openRawSQLite
	if args[1] == postgres {
		open = openRawPostgres
	}
	sink, err := open(ctx, args[2])
	if err != nil {
		return err
	}
	c := &committer{sink: sink, queue: make(chan *rawCall, 1024), steps: rawStep, numbersEvents: true}
	if args[0] == bareRows {
		c.steps, c.numbersEvents = bareStep, false
	}
	go c.run(ctx)
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "raw serves on http://%s\n", listener.Addr())
	server := &http.Server{Handler: c, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// sink is a database that takes the writes of many requests at once.
type sink interface {
	// commit writes everything in one transaction and returns after its fsync.
	commit(ctx context.Context, writes []rawWrite) error
}

// committer groups requests as the store does, with no work between the requests and the commit.
type committer struct {
	sink  sink
	queue chan *rawCall
	seq   int64
	// steps returns the writes of one request of a cycle. numbersEvents reports whether the events among them get numbers.
	steps         func(step byte, key string, now int64, body []byte) []rawWrite
	numbersEvents bool
}

type rawCall struct {
	writes []rawWrite
	done   chan error
}

// ServeHTTP takes POST /STEP/KEY. STEP is one of the requests of a cycle, and KEY names the cycle.
func (c *committer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || len(r.URL.Path) < 3 {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	call := &rawCall{writes: c.steps(r.URL.Path[1], r.URL.Path[3:], time.Now().UnixMilli(), body), done: make(chan error, 1)}
	c.queue <- call
	if err := <-call.done; err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, "{}")
}

// maxGroup is the size of the largest group, as in the store.
const maxGroup = 256

func (c *committer) run(ctx context.Context) {
	for {
		var group []*rawCall
		select {
		case call := <-c.queue:
			group = append(group, call)
		case <-ctx.Done():
			return
		}
		for more := true; more && len(group) < maxGroup; {
			select {
			case call := <-c.queue:
				group = append(group, call)
			default:
				more = false
			}
		}
		err := c.commit(ctx, group)
		for _, call := range group {
			call.done <- err
		}
	}
}

// commit writes a group. It numbers the events and moves the counter once, if they are to be numbered.
func (c *committer) commit(ctx context.Context, group []*rawCall) error {
	before := c.seq
	var writes []rawWrite
	for _, call := range group {
		for _, w := range call.writes {
			if w.sql == rawInsertEvent {
				c.seq++
				w.args[1] = c.seq
			}
			writes = append(writes, w)
		}
	}
	if !c.numbersEvents {
		return c.sink.commit(ctx, writes)
	}
	writes = append(writes, rawWrite{rawMoveCounter, []any{c.seq, rawHashBytes, rawWorkspace, before}})
	return c.sink.commit(ctx, writes)
}
