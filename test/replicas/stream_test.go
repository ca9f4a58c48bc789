package replicas

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/process"
)

// While clients write to both replicas, both stream the same events in the same
// order. A reader that changes between the replicas gets them too.
func TestStreamsAgree(t *testing.T) {
	_, servers := pair(t)
	const writers, each = 8, 40
	both := process.NewLoadBalancer(t, servers...)
	admin := both.Client(t, servers[0].FirstToken)

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	streams := []*stream{{name: "the first replica"}, {name: "the second replica"}, {name: "the one that changes"}}
	var reading sync.WaitGroup
	readers := []*client.Client{
		process.NewLoadBalancer(t, servers[0]).Client(t, servers[0].FirstToken),
		process.NewLoadBalancer(t, servers[1]).Client(t, servers[0].FirstToken),
		admin,
	}
	for i, s := range streams {
		reading.Go(func() { s.read(ctx, t, readers[i], i == 2) })
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
	for _, s := range streams {
		patience.Await(t, s.name+" sends every event", func() bool { return s.last.Load() >= report.Events })
	}
	cancel()
	reading.Wait()
	check(t, streams)
	for _, s := range streams {
		if len(s.seen) != int(report.Events) {
			t.Errorf("%s sent %d of %d events", s.name, len(s.seen), report.Events)
		}
	}
	t.Logf("%d readers got %d events each", len(streams), report.Events)
}

// read reads events until the context ends. If changes is true, it disconnects after every 25 events and continues at the
// other replica.
func (s *stream) read(ctx context.Context, t *testing.T, c *client.Client, changes bool) {
	cut := errors.New("cut off")
	for ctx.Err() == nil {
		err := c.Stream(ctx, client.StreamQuery{After: s.last.Load(), FromStart: true}, func(e *fermata.Event) error {
			s.seen = append(s.seen, fmt.Sprintf("%d %s", e.Seq, e.Hash))
			s.last.Store(e.Seq)
			if changes && e.Seq%25 == 0 {
				return cut
			}
			return nil
		})
		if ctx.Err() == nil && !errors.Is(err, cut) {
			t.Errorf("%s ended at event %d: %v", s.name, s.last.Load(), err)
			return
		}
	}
}
