package slack

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/fermata-hq/fermata/test/patience"
)

// Request is a request that Slack sends over HTTP.
type Request struct {
	Header http.Header
	Body   []byte
}

// Sign signs a request as Slack does.
func Sign(secret string, at time.Time, contentType string, body []byte) Request {
	stamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "v0:%s:%s", stamp, body)
	return Request{Body: body, Header: http.Header{
		"Content-Type":              {contentType},
		"X-Slack-Request-Timestamp": {stamp},
		"X-Slack-Signature":         {"v0=" + hex.EncodeToString(mac.Sum(nil))},
	}}
}

// Form and JSON are the content types of Slack's requests.
const (
	Form = "application/x-www-form-urlencoded"
	JSON = "application/json"
)

// errNotAcknowledged means that the app did not acknowledge the request in time.
var errNotAcknowledged = errors.New("the app did not acknowledge")

// send sends a request of a kind, and returns the app's response.
func (s *Server) send(kind string, payload object) (json.RawMessage, error) {
	s.mu.Lock()
	address := s.inbound
	s.mu.Unlock()
	if address == "" {
		return s.sendSocket(kind, payload, 0)
	}
	return s.sendHTTP(address, kind, payload, nil)
}

func (s *Server) sendHTTP(address, kind string, payload object, more http.Header) (json.RawMessage, error) {
	contentType, body, err := encode(kind, payload)
	if err != nil {
		return nil, err
	}
	r := Sign(Signature, time.Now(), contentType, body)
	for key, values := range more {
		r.Header[key] = values
	}
	s.mu.Lock()
	s.requests = append(s.requests, r)
	s.mu.Unlock()
	return r.Send(address + "/" + kind)
}

// Send sends the request and returns the response. Slack waits three seconds. The stand-in waits up to the limit of all
// tests. A test of the app, with its own clock, shows that the app answers in time.
func (r Request) Send(address string) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience.Limit())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(r.Body))
	if err != nil {
		return nil, err
	}
	req.Header = r.Header.Clone()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, errors.Join(errNotAcknowledged, err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, errors.Join(errNotAcknowledged, err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%w: %s", errNotAcknowledged, resp.Status)
	}
	return answer, nil
}

func encode(kind string, payload object) (contentType string, body []byte, err error) {
	if kind == "slash_commands" {
		form := url.Values{}
		for key, v := range payload {
			form.Set(key, fmt.Sprint(v))
		}
		return Form, []byte(form.Encode()), nil
	}
	raw, err := json.Marshal(payload)
	if err != nil {
		return "", nil, err
	}
	if kind == "interactive" {
		return Form, []byte(url.Values{"payload": {string(raw)}}.Encode()), nil
	}
	return JSON, raw, nil
}

// sendEvent sends an event. If that fails, it repeats the event up to three times, as Slack does, but without the minutes
// in between.
func (s *Server) sendEvent(payload object) error {
	var err error
	for try := range 4 {
		s.mu.Lock()
		address := s.inbound
		s.mu.Unlock()
		if address == "" {
			_, err = s.sendSocket("events_api", payload, try)
		} else {
			var more http.Header
			if try > 0 {
				more = http.Header{"X-Slack-Retry-Num": {strconv.Itoa(try)}, "X-Slack-Retry-Reason": {"http_error"}}
			}
			_, err = s.sendHTTP(address, "events_api", payload, more)
		}
		if err == nil {
			return nil
		}
	}
	return err
}
