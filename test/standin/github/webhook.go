package github

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/fermata-hq/fermata/test/patience"
)

// hook sends each event once, and stores what was sent.
type hook struct {
	url  string
	wait sync.WaitGroup

	mu   sync.Mutex
	sent []*Delivery
}

// Delivery is a webhook that was sent.
type Delivery struct {
	GUID, Event string
	Body        []byte
	Status      int
	Response    string
}

// Sign returns the signature of a body.
func Sign(body []byte, secret string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// SetInbound sets the address for webhooks. To the server's own address, it adds
// the path of the channel with the name github. An address of a channel is used
// unchanged.
func (s *Server) SetInbound(url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if url != "" && !strings.Contains(url, "/v1/inbound/") {
		url = strings.TrimRight(url, "/") + "/v1/inbound/" + s.Kind() + "/webhook"
	}
	s.hook.url = url
}

// sendCommentEvent sends the event of a comment, without waiting for the response.
func (s *Server) sendCommentEvent(action string, c *comment, by *user) {
	if by == nil {
		by = c.by
	}
	s.sendEvent("issue_comment", map[string]any{"action": action, "comment": s.wireComment(c), "issue": s.wireIssue(c.number, s.issues[c.number]), "sender": by})
}

// sendEvent sends an event of the repository.
func (s *Server) sendEvent(event string, payload map[string]any) {
	if s.hook.url == "" {
		return
	}
	s.lastID++
	payload["repository"] = map[string]any{"id": 1, "full_name": Repository, "owner": map[string]string{"login": Owner}, "name": Repo, "html_url": "https://github.example/" + Repository}
	payload["installation"] = map[string]int{"id": Installation}
	raw, err := json.Marshal(payload)
	if err != nil {
		panic(err)
	}
	d := &Delivery{GUID: fmt.Sprintf("72d3162e-cc78-11e3-81ab-%012d", s.lastID), Event: event, Body: raw}
	url := s.hook.url
	s.hook.wait.Add(1)
	go func() {
		defer s.hook.wait.Done()
		s.hook.send(url, d)
	}()
}

// send delivers an event once, because GitHub does not retry.
func (h *hook) send(url string, d *Delivery) {
	req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(d.Body)) //nolint:noctx // the client has a limit
	if err != nil {
		panic(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "GitHub-Hookshot/1a2b3c")
	req.Header.Set("X-GitHub-Delivery", d.GUID)
	req.Header.Set("X-GitHub-Event", d.Event)
	req.Header.Set("X-Hub-Signature-256", Sign(d.Body, Secret))
	client := http.Client{Timeout: patience.Limit()}
	resp, err := client.Do(req)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sent = append(h.sent, d)
	if err != nil {
		d.Response = err.Error()
		return
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(resp.Body)
	d.Status, d.Response = resp.StatusCode, string(answer)
}

// Deliveries waits until everything was sent, and returns all deliveries.
func (s *Server) Deliveries() []*Delivery {
	s.hook.wait.Wait()
	s.hook.mu.Lock()
	defer s.hook.mu.Unlock()
	return append([]*Delivery(nil), s.hook.sent...)
}

// Redeliver sends an event again, with the same GUID.
func (s *Server) Redeliver(d *Delivery) *Delivery {
	s.mu.Lock()
	url := s.hook.url
	s.mu.Unlock()
	again := &Delivery{GUID: d.GUID, Event: d.Event, Body: d.Body}
	s.hook.send(url, again)
	return again
}
