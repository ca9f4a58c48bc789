//go:build lab

package ha

import (
	"sync"
	"time"

	"github.com/fermata-hq/fermata/test/patience"
)

// pulse measures how long no change is acknowledged.
type pulse struct {
	w    *world
	stop chan struct{}
	done sync.WaitGroup

	mu      sync.Mutex
	last    time.Time
	longest time.Duration
}

// beat is how exact the pulse is.
const beat = 10 * time.Millisecond

func (w *world) startPulse() *pulse {
	p := &pulse{w: w, stop: make(chan struct{}), last: time.Now()}
	p.done.Go(func() {
		tick := time.NewTicker(beat)
		defer tick.Stop()
		before := w.story.Acknowledged.Load()
		for {
			select {
			case <-p.stop:
				return
			case now := <-tick.C:
				if count := w.story.Acknowledged.Load(); count != before {
					before = count
					p.mark(now)
				}
			}
		}
	})
	return p
}

func (p *pulse) mark(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.longest = max(p.longest, now.Sub(p.last))
	p.last = now
}

// awaitNext waits until a change is acknowledged after this call, and returns how long that took.
func (p *pulse) awaitNext() time.Duration {
	p.w.Helper()
	began := time.Now()
	patience.Await(p.w, "writes go on", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.last.After(began)
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last.Sub(began)
}

// end stops the measurement, and returns the longest time without an acknowledgement.
func (p *pulse) end() time.Duration {
	close(p.stop)
	p.done.Wait()
	return p.longest
}
