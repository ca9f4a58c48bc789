package webhook

import (
	"net/http"
	"strconv"
	"time"
)

// Fault is a way in which a request fails.
type Fault string

// These are the faults of receivers.
const (
	// None accepts the request.
	None Fault = ""
	// Drop closes the connection before a response. DropAfter does so after the
	// receiver has accepted the request.
	Drop      Fault = "drop"
	DropAfter Fault = "drop_after"
	// Truncate responds 200 and cuts off the body.
	Truncate Fault = "truncate"
	// Fail responds 500. Busy responds 503 and Limit 429, and both ask to wait
	// for one second.
	Fail  Fault = "fail"
	Busy  Fault = "busy"
	Limit Fault = "limit"
	// Slow accepts the request after half a second. Hang never responds.
	Slow Fault = "slow"
	Hang Fault = "hang"
	// Gone responds 410. Redirect leads to another address.
	Gone     Fault = "gone"
	Redirect Fault = "redirect"
)

// isAccepted reports whether the receiver has accepted the message.
func (f Fault) isAccepted() bool {
	switch f {
	case None, DropAfter, Truncate, Slow:
		return true
	default:
		return false
	}
}

// respond responds in the way of the fault.
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
