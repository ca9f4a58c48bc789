// Package push is a stand-in for the push services of browsers and for the
// devices behind them. It checks requests as such a service does, stores
// messages for devices that sleep, and lists the notifications on a device.
package push

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"
)

const (
	maxMessageBytes = 4096
	maxTTL          = 28 * 24 * time.Hour
)

var topics = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)

// Service is a push service on loopback.
type Service struct {
	*httptest.Server

	mu      sync.Mutex
	decrypt *decrypter
	devices map[string]*device
	// refusals are the refusals for the next requests.
	refusals []refusal
	limit    int
	requests []Request
}

type refusal struct {
	status     int
	retryAfter string
}

// Request describes a received message and its response.
type Request struct {
	Status                int
	TTL                   int
	Urgency, Topic        string
	Length                int
	Text, Reason, Contact string
}

// Start starts a service. Stop stops it.
func Start() (*Service, error) {
	decrypt, err := startDecrypter()
	if err != nil {
		return nil, err
	}
	s := &Service{decrypt: decrypt, devices: map[string]*device{}, limit: maxMessageBytes}
	s.Server = httptest.NewServer(http.HandlerFunc(s.receive))
	return s, nil
}

// Stop stops the service.
func (s *Service) Stop() {
	s.Close()
	s.decrypt.stop()
}

// Refuse refuses the next request with this status and Retry-After header.
func (s *Service) Refuse(status int, retryAfter string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusals = append(s.refusals, refusal{status, retryAfter})
}

// Limit sets how many bytes a message may have.
func (s *Service) Limit(bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = bytes
}

// Requests returns the received requests, the newest last.
func (s *Service) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

func (s *Service) receive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 4*maxMessageBytes))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := Request{Urgency: r.Header.Get("Urgency"), Topic: r.Header.Get("Topic"), Length: len(body)}
	seen.Status, seen.Reason = s.checkRequest(w, r, body, &seen)
	s.requests = append(s.requests, seen)
	if seen.Status >= 300 {
		http.Error(w, seen.Reason, seen.Status)
		return
	}
	w.Header().Set("Location", s.URL+"/message/"+strconv.Itoa(len(s.requests)))
	w.WriteHeader(seen.Status)
}

// checkRequest makes the checks of RFC 8030 and RFC 8292.
func (s *Service) checkRequest(w http.ResponseWriter, r *http.Request, body []byte, seen *Request) (status int, why string) {
	if len(s.refusals) > 0 {
		now := s.refusals[0]
		s.refusals = s.refusals[1:]
		if now.retryAfter != "" {
			w.Header().Set("Retry-After", now.retryAfter)
		}
		return now.status, "not now"
	}
	d := s.devices[r.URL.Path]
	ttl, err := strconv.Atoi(r.Header.Get("TTL"))
	seen.TTL = ttl
	switch {
	case r.Method != http.MethodPost:
		return http.StatusMethodNotAllowed, "POST"
	case d == nil:
		return http.StatusNotFound, "no such subscription"
	case d.unsubscribed:
		return http.StatusGone, "unsubscribed"
	case err != nil || ttl < 0:
		return http.StatusBadRequest, "TTL"
	case time.Duration(ttl)*time.Second > maxTTL:
		return http.StatusBadRequest, "TTL is longer than anything is kept"
	case r.Header.Get("Content-Encoding") != "aes128gcm":
		return http.StatusUnsupportedMediaType, "Content-Encoding"
	case seen.Topic != "" && !topics.MatchString(seen.Topic):
		return http.StatusBadRequest, "Topic"
	case seen.Urgency != "" && !slices.Contains([]string{"very-low", "low", "normal", "high"}, seen.Urgency):
		return http.StatusBadRequest, "Urgency"
	case len(body) > s.limit:
		return http.StatusRequestEntityTooLarge, "too large"
	}
	if err := checkVAPID(r.Header.Get("Authorization"), s.URL, d.key, time.Now()); err != nil {
		return http.StatusForbidden, err.Error()
	}
	text, err := s.decrypt.decrypt(body, d)
	if err != nil {
		return http.StatusBadRequest, err.Error()
	}
	seen.Text = string(text)
	d.receive(waitingMessage{topic: seen.Topic, ttl: ttl, text: text})
	return http.StatusCreated, ""
}
