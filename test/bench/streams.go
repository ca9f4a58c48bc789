package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// streams measures many clients that follow the events.
func (b *bench) streams(ctx context.Context) error {
	if err := b.connectedStreams(ctx, b.kinds[0]); err != nil {
		return err
	}
	for _, kind := range b.kinds {
		if err := b.waitingClaims(ctx, kind); err != nil {
			return err
		}
	}
	if slices.Contains(b.kinds, postgres) {
		return b.reconnecting(ctx)
	}
	return nil
}

// waitingClaims measures the cost of claims that wait for a task.
func (b *bench) waitingClaims(ctx context.Context, kind string) error {
	n := 2000
	if b.short {
		n = 500
	}
	return b.runOn(ctx, kind, "parked_"+kind, func(d *database, server *process) error { return b.waitingClaimsOn(ctx, d, server, n) })
}

// waitingClaimBody is a claim that waits longer than the measurement takes.
const waitingClaimBody = `{"worker":"bench-worker","wait_seconds":60}`

func (b *bench) waitingClaimsOn(ctx context.Context, d *database, server *process, n int) error {
	const memoryBar = 40 << 10
	before := server.memory()
	ctx, giveUp := context.WithCancel(ctx)
	var waiting sync.WaitGroup
	var refused atomic.Pointer[error]
	shared := pool()
	for i := range n {
		waiting.Go(func() {
			_, err := newCaller(shared, server.url, d.tokens.agent(i)).post(ctx, "/v1/claims", []byte(waitingClaimBody))
			if err != nil && ctx.Err() == nil {
				refused.Store(&err)
			}
		})
	}
	pause(ctx, 10*time.Second)
	each := (server.memory() - before) / int64(n)
	giveUp()
	waiting.Wait()
	if err := refused.Load(); err != nil {
		return *err
	}
	b.judge("memory of the server per waiting claim", title(d.kind), fmt.Sprintf("%.1f kB, %d claims", float64(each)/1e3, n), "≤ 40 KB", each <= memoryBar)
	return nil
}

// connectedStreams connects clients that stay connected, and sends them events.
func (b *bench) connectedStreams(ctx context.Context, kind string) error {
	n := 5000
	if b.short {
		n = 1000
	}
	return b.runOn(ctx, kind, "streams_"+kind, func(d *database, server *process) error { return b.connectedStreamsOn(ctx, d, server, n) })
}

func (b *bench) connectedStreamsOn(ctx context.Context, d *database, server *process, n int) error {
	const memoryBar, timeBar = 40 << 10, 500 * time.Millisecond
	agent := newClient(pool(), server.url, d.tokens, 0)
	if err := agent.create(ctx); err != nil {
		return err
	}
	before := server.memory()
	c := &crowd{heard: make(chan time.Time, 64)}
	defer c.close()
	if err := c.gather(ctx, server.url, d.tokens, n); err != nil {
		return err
	}
	pause(ctx, 3*time.Second)
	each := (server.memory() - before) / int64(n)
	b.judge("memory of the server per event stream", title(d.kind), fmt.Sprintf("%.1f kB, %d clients", float64(each)/1e3, n), "≤ 40 KB", each <= memoryBar)

	var worst time.Duration
	for range 5 {
		if err := agent.create(ctx); err != nil {
			return err
		}
		acknowledged := time.Now()
		select {
		case last := <-c.heard:
			worst = max(worst, last.Sub(acknowledged))
		case <-time.After(20 * time.Second):
			return fmt.Errorf("an event did not reach all %d clients: %d missed it", n, c.missing())
		}
		pause(ctx, 200*time.Millisecond)
	}
	b.judge("one event to every stream", title(d.kind), fmt.Sprintf("%s, the last of %d clients (worst of 5 events)", ms(worst), n), "≤ 500 ms", worst <= timeBar)
	return nil
}

// crowd is many followers, each of which gets every event.
type crowd struct {
	mu        sync.Mutex
	followers []*follower
	readers   sync.WaitGroup
	count     atomic.Int64
	// heard receives the time at which the last follower got an event.
	heard chan time.Time
}

func (c *crowd) gather(ctx context.Context, url string, k tokens, n int) error {
	err := doConcurrently(32, n, func(_, i int) error {
		f, err := follow(ctx, url, k.agent(i), "", -1)
		if err != nil {
			return err
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.followers = append(c.followers, f)
		return nil
	})
	if err != nil {
		return fmt.Errorf("connect %d clients: %w", n, err)
	}
	for _, f := range c.followers {
		c.readers.Go(func() {
			for {
				if _, err := f.next(); err != nil {
					return
				}
				if c.count.Add(1)%int64(n) == 0 {
					c.heard <- time.Now()
				}
			}
		})
	}
	return nil
}

func (c *crowd) missing() int64 {
	n := int64(len(c.followers))
	return n - c.count.Load()%n
}

func (c *crowd) close() {
	for _, f := range c.followers {
		f.close()
	}
	c.readers.Wait()
}

// pause waits unless the run is interrupted.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
