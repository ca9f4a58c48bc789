package webhook

import (
	"net/http"
	"strconv"
	"time"
)

// Fault is what goes wrong with a request.
type Fault string

// Faults of receivers.
const (
	// None takes the request.
	None Fault = ""
	// Drop cuts the connection before anything is said, DropAfter when the
	// receiver has taken the request already.
	Drop      Fault = "drop"
	DropAfter Fault = "drop_after"
	// Truncate responds 200 and cuts the body off.
	Truncate Fault = "truncate"
	// Fail is a 500, Busy a 503 and Limit a 429 that ask for a second.
	Fail  Fault = "fail"
	Busy  Fault = "busy"
	Limit Fault = "limit"
	// Slow takes the request after half a second, Hang never responds.
	Slow Fault = "slow"
	Hang Fault = "hang"
	// Gone is a 410, Redirect leads elsewhere.
	Gone     Fault = "gone"
	Redirect Fault = "redirect"
)

// takes reports whether the receiver has what was sent.
func (f Fault) takes() bool {
	switch f {
	case None, DropAfter, Truncate, Slow:
		return true
	default:
		return false
	}
}

// respond behaves like the fault.
func (f Fault) respond(w http.ResponseWriter, req *http.Request) {
	switch f {
	case Drop, DropAfter:
		panic(http.ErrAbortHandler)
	case Truncate:
		w.Header().Set("Content-Length", strconv.Itoa(1<<20))
		_, _ = w.Write([]byte(`{"ok":`))
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case Fail:
		http.Error(w, "the receiver has failed", http.StatusInternalServerError)
	case Busy, Limit:
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(map[Fault]int{Busy: http.StatusServiceUnavailable, Limit: http.StatusTooManyRequests}[f])
	case Slow, Hang:
		wait := 500 * time.Millisecond
		if f == Hang {
			wait = time.Hour
		}
		select {
		case <-time.After(wait):
			w.WriteHeader(http.StatusNoContent)
		case <-req.Context().Done():
		}
	case Gone:
		w.WriteHeader(http.StatusGone)
	case Redirect:
		http.Redirect(w, req, "/elsewhere", http.StatusTemporaryRedirect)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}
