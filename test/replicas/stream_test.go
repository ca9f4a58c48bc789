package replicas

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/process"
)

// Both replicas stream the same events in the same order while both are
// written to, and so does a reader that changes from one to the other.
func TestStreamsAgree(t *testing.T) {
	_, servers := pair(t)
	const writers, each = 8, 40
	both := process.NewFront(t, servers...)
	admin := both.Client(t, servers[0].FirstToken)

	ctx, cancel := context.WithTimeout(t.Context(), patience.Limit())
	defer cancel()
	head := make(chan int64, 1)
	streams := []*stream{{name: "the first replica"}, {name: "the second replica"}, {name: "the one that changes"}}
	var reading sync.WaitGroup
	readers := []*client.Client{
		process.NewFront(t, servers[0]).Client(t, servers[0].FirstToken),
		process.NewFront(t, servers[1]).Client(t, servers[0].FirstToken),
		admin,
	}
	for i, s := range streams {
		reading.Go(func() { s.read(ctx, t, readers[i], i == 2, head) })
	}
	var writing sync.WaitGroup
	for range writers {
		writing.Go(func() {
			for n := range each {
				if _, err := admin.CreateTask(ctx, fermata.NewTask{Title: fmt.Sprintf("Task %d", n)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writing.Wait()
	report, err := admin.VerifyAudit(ctx)
	if err != nil || !report.OK {
		t.Fatalf("the audit chain: %+v, %v", report, err)
	}
	head <- report.Events
	reading.Wait()
	check(t, streams)
	for _, s := range streams {
		if len(s.seen) != int(report.Events) {
			t.Errorf("%s sent %d of %d events", s.name, len(s.seen), report.Events)
		}
	}
	t.Logf("%d readers got %d events each", len(streams), report.Events)
}

// read takes events until the head, which is told when all is written. One that
// changes is cut off after every 25 events and goes on at the other replica.
func (s *stream) read(ctx context.Context, t *testing.T, c *client.Client, changes bool, head chan int64) {
	cut := fmt.Errorf("cut off")
	last, until := int64(0), int64(0)
	done := fmt.Errorf("done")
	for ctx.Err() == nil {
		// A reader that has come to the end must look up whether it is one.
		wait, stop := context.WithTimeout(ctx, 200*time.Millisecond)
		err := c.Stream(wait, client.StreamQuery{After: last, FromStart: true}, func(e *fermata.Event) error {
			s.seen = append(s.seen, fmt.Sprintf("%d %s", e.Seq, e.Hash))
			last = e.Seq
			switch {
			case until > 0 && last >= until:
				return done
			case changes && last%25 == 0:
				return cut
			}
			return nil
		})
		stop()
		select {
		case until = <-head:
			head <- until
		default:
		}
		if err == done || until > 0 && last >= until { //nolint:errorlint // the very value
			return
		}
	}
	t.Errorf("%s came to event %d only", s.name, last)
}
