package api

import (
	"log/slog"
	"sync"
	"time"
)

// refusalInterval is how often the log reports requests that could not be served.
const refusalInterval = time.Minute

// refusals counts replies with status 503. The first one is logged at once, and the following ones once in each
// interval, with their count.
type refusals struct {
	log      *slog.Logger
	interval time.Duration

	mu    sync.Mutex
	count int
	last  error
	// isScheduled reports whether a line will be logged at the end of the interval.
	isScheduled bool
}

func (r *refusals) add(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count++
	r.last = err
	if r.isScheduled {
		return
	}
	r.logLocked()
	r.isScheduled = true
	time.AfterFunc(r.interval, r.flush)
}

// flush logs the replies of the interval, and starts the next interval. After an interval without any, it starts no
// other.
func (r *refusals) flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.count == 0 {
		r.isScheduled = false
		return
	}
	r.logLocked()
	time.AfterFunc(r.interval, r.flush)
}

func (r *refusals) logLocked() {
	r.log.Warn("requests were refused with 503", "count", r.count, "last", r.last)
	r.count = 0
}
