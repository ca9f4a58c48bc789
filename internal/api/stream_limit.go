package api

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
)

// maxStreams is the largest number of event streams that one token or browser session may have open.
const maxStreams = 500

// openStreams counts the event streams of each token and browser session.
type openStreams struct {
	mu   sync.Mutex
	open map[string]int
}

// add counts one more stream, and returns the function that ends it. It refuses a stream above the limit.
func (o *openStreams) add(c fermata.Caller, most int) (end func(), err error) {
	key := c.TokenID + "/" + c.SessionID + "/" + c.MemberID
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.open == nil {
		o.open = map[string]int{}
	}
	if o.open[key] >= most {
		return nil, limitError(fmt.Sprintf("%d event streams are open with this token", most), 10*time.Second)
	}
	o.open[key]++
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.open[key]--; o.open[key] == 0 {
			delete(o.open, key)
		}
	}, nil
}

// limitStreams counts each GET of another protocol as an event stream of the caller.
func (s *Server) limitStreams(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			end, err := s.limits.streams.add(callerOf(r.Context()), s.limits.maxStreams)
			if err != nil {
				s.writeProblem(w, r, err)
				return
			}
			defer end()
		}
		next.ServeHTTP(w, r)
	})
}
