// Package wall is a small remote service with a channel for it: a wall that
// shows messages to people, who answer by signed requests. The tests of
// delivery itself use this channel.
package wall

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/test/standin"
)

// Kind is the name of this kind of channel.
const Kind = "wall"

// post is one message as the channel puts it up.
type post struct {
	Delivery string         `json:"delivery"`
	To       string         `json:"to"`
	Text     string         `json:"text"`
	Buttons  []string       `json:"buttons"`
	Question string         `json:"question"`
	Closed   bool           `json:"closed"`
	Notice   *notice.Notice `json:"notice"`
}

// Wall is the remote service. Messages to "" are visible to everybody.
type Wall struct {
	server *httptest.Server
	secret string

	mu      sync.Mutex
	inbound string
	people  []string
	posts   []post
	told    map[string][]string
	serial  int
	// faults are the statuses of the next responses. The status 0 puts the
	// message up, but the response is lost.
	faults []int
	// held is not nil while requests wait. It is closed when they may continue.
	held chan struct{}
	// sent counts the requests that put something up, by method and delivery.
	sent map[string]int
	// changed is closed and replaced when something happens.
	changed chan struct{}
}

// New starts a wall. Close stops it.
func New() *Wall {
	w := &Wall{secret: "wall-secret", told: map[string][]string{}, sent: map[string]int{}, changed: make(chan struct{})}
	w.server = httptest.NewServer(http.HandlerFunc(w.serve))
	return w
}

// Close stops the wall.
func (w *Wall) Close() { w.server.Close() }

// Kind returns the name of the kind.
func (w *Wall) Kind() string { return Kind }

// Settings returns the settings of a channel that uses the wall.
func (w *Wall) Settings() map[string]any {
	return map[string]any{"url": w.server.URL, "secret": w.secret}
}

// AddPerson adds a person.
func (w *Wall) AddPerson(name string) (identityID, email string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.people = append(w.people, "wall-"+name)
	return "wall-" + name, ""
}

// Fail makes the next requests fail with these statuses. The status 0 takes the
// message and breaks the connection.
func (w *Wall) Fail(statuses ...int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = append(w.faults, statuses...)
}

// Hold makes requests wait until release is called, or until their callers give
// up.
func (w *Wall) Hold() (release func()) {
	held := make(chan struct{})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = held
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.held = nil
		close(held)
	}
}

// wait returns when the request may continue. It reports false if the caller
// gave up.
func (w *Wall) wait(r *http.Request) bool {
	w.mu.Lock()
	held := w.held
	w.mu.Unlock()
	if held == nil {
		return true
	}
	select {
	case <-held:
		return true
	case <-r.Context().Done():
		return false
	}
}

// ClearFaults removes all the faults, so the next requests work.
func (w *Wall) ClearFaults() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = nil
}

func (w *Wall) serve(rw http.ResponseWriter, r *http.Request) {
	if !w.wait(r) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	fault := -1
	if len(w.faults) > 0 && r.Method != http.MethodGet {
		fault, w.faults = w.faults[0], w.faults[1:]
	}
	if fault > 0 {
		rw.Header().Set("Retry-After", "1")
		rw.WriteHeader(fault)
		w.notifyChanged()
		return
	}
	if r.Header.Get("Authorization") != "Bearer "+w.secret {
		rw.WriteHeader(http.StatusUnauthorized)
		return
	}
	if r.Method == http.MethodGet {
		return
	}
	var p post
	if err := json.NewDecoder(r.Body).Decode(&p); err != nil {
		http.Error(rw, err.Error(), http.StatusBadRequest)
		return
	}
	w.putUp(r.Method, p)
	if fault == 0 {
		panic(http.ErrAbortHandler)
	}
}

// putUp puts up a message, in place of an earlier one of the same delivery.
func (w *Wall) putUp(method string, p post) {
	w.sent[method+" "+p.Delivery]++
	if i := slices.IndexFunc(w.posts, func(old post) bool { return old.Delivery == p.Delivery }); i >= 0 {
		w.posts[i] = p
	} else {
		w.posts = append(w.posts, p)
	}
	w.notifyChanged()
}

func (w *Wall) notifyChanged() {
	close(w.changed)
	w.changed = make(chan struct{})
}

// Changed returns a channel that is closed when something happens after the
// call.
func (w *Wall) Changed() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changed
}

// Sent counts how often a delivery was put up as a new message.
func (w *Wall) Sent(delivery string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sent[http.MethodPost+" "+delivery]
}

// VisibleMessages lists the messages that the person sees, the newest last.
func (w *Wall) VisibleMessages(person string) []standin.Message {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []standin.Message
	for _, p := range w.posts {
		if p.To == "" || p.To == person {
			all = append(all, standin.Message{ID: p.Delivery, Text: p.Text, Buttons: p.Buttons, Question: p.Question, Closed: p.Closed})
		}
	}
	return all
}

// Notices lists the notices behind the messages that the person sees.
func (w *Wall) Notices(person string) []*notice.Notice {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []*notice.Notice
	for _, p := range w.posts {
		if p.To == "" || p.To == person {
			all = append(all, p.Notice)
		}
	}
	return all
}

// Feedback returns the texts that the person was told.
func (w *Wall) Feedback(person string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.told[person])
}

// SetInbound sets the address at which the server takes requests.
func (w *Wall) SetInbound(url string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.inbound = strings.TrimSuffix(url, "/")
}

// Reply answers as the person.
func (w *Wall) Reply(person string, m standin.Message, r standin.Reply) error {
	w.mu.Lock()
	w.serial++
	id := "click-" + strconv.Itoa(w.serial)
	w.mu.Unlock()
	return w.SendClick(Click{ID: id, From: person, Delivery: m.ID, Answers: r.Answers, Text: r.Text})
}

// Click is an answer that a person sends.
type Click struct {
	ID           string         `json:"id"`
	From         string         `json:"from"`
	Delivery     string         `json:"delivery,omitempty"`
	Question     string         `json:"question,omitempty"`
	Reply        string         `json:"reply,omitempty"`
	Answers      map[string]any `json:"answers,omitempty"`
	Text         string         `json:"text,omitempty"`
	DenialReason string         `json:"denied,omitempty"`
}

// Request returns the signed request of a click.
func (w *Wall) Request(c Click, at time.Time) (*http.Request, error) {
	body, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	url := w.inbound
	w.mu.Unlock()
	req, err := http.NewRequest(http.MethodPost, url+"/clicks", strings.NewReader(string(body))) //nolint:noctx // the caller sets one
	if err != nil {
		return nil, err
	}
	stamp := strconv.FormatInt(at.Unix(), 10)
	req.Header.Set("X-Wall-Time", stamp)
	req.Header.Set("X-Wall-Signature", sign(w.secret, stamp, body))
	return req, nil
}

func sign(secret, stamp string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = fmt.Fprintf(mac, "%s.%s", stamp, body)
	return hex.EncodeToString(mac.Sum(nil))
}

// SendClick sends a click, and stores what the person is told.
func (w *Wall) SendClick(c Click) error {
	req, err := w.Request(c, time.Now())
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	var out struct{ Words string }
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil || res.StatusCode != http.StatusOK {
		return fmt.Errorf("the server replied %d: %w", res.StatusCode, cmp.Or(err, errRefused))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told[c.From] = append(w.told[c.From], out.Words)
	return nil
}
