// Package webhook is a receiver of webhooks as its users write them: it
// verifies the signature with the reference library, counts what it has seen
// before by its id, and has the faults that receivers have.
package webhook

import (
	"bufio"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// Secret is the one that the receiver verifies by, unless it is given others.
const Secret = "whsec_" + "c3RhbmQtaW4gcmVjZWl2ZXIgb2Ygd2ViaG9va3M="

// Attempt is one request that came.
type Attempt struct {
	ID, Type  string
	Body      []byte
	Header    http.Header
	Signature string
	// Number counts the requests, Try those with this id; both from 1.
	Number, Try int
	// Fault is the one that it met; empty where it was taken.
	Fault Fault
	// Invalid says why its signature is none.
	Invalid error
}

// Receiver takes webhooks.
type Receiver struct {
	URL string

	server *httptest.Server
	mu     sync.Mutex
	// secrets are all that the receiver takes.
	secrets  []string
	public   ed25519.PublicKey
	fault    func(a *Attempt) Fault
	attempts []Attempt
	keep     bool
	// taken counts by id what was responded 2xx to, types what of which type.
	taken  map[string]int
	came   int
	forged int
	// tries counts the requests by id, first is the body of the first of them.
	tries   map[string]int
	first   map[string][sha256.Size]byte
	changed int
	seqs    map[string]int64
	events  []event
	heard   chan struct{}
}

// event is the payload as far as the receiver reads it.
type event struct {
	id   string
	Type string `json:"type"`
	Data struct {
		Seq        int64           `json:"seq"`
		QuestionID string          `json:"question_id"`
		Question   json.RawMessage `json:"question"`
	} `json:"data"`
}

// New starts a receiver that ends with the test.
func New(tb testing.TB) *Receiver {
	tb.Helper()
	r := Start("127.0.0.1:0")
	tb.Cleanup(r.Close)
	return r
}

// Start starts a receiver at an address of this machine.
func Start(address string) *Receiver {
	r := &Receiver{
		secrets: []string{Secret}, taken: map[string]int{}, keep: true, heard: make(chan struct{}, 1),
		tries: map[string]int{}, first: map[string][sha256.Size]byte{}, seqs: map[string]int64{},
	}
	r.server = httptest.NewUnstartedServer(http.HandlerFunc(r.serve))
	if listener, err := net.Listen("tcp", address); err == nil { //nolint:noctx // it lasts as long as the receiver
		_ = r.server.Listener.Close()
		r.server.Listener = listener
	}
	r.server.Start()
	r.URL = r.server.URL + "/hook"
	return r
}

// Close ends the receiver, and cuts what waits.
func (r *Receiver) Close() {
	r.server.CloseClientConnections()
	r.server.Close()
}

// Faults sets what becomes of a request that is signed well; nil takes all.
func (r *Receiver) Faults(fault func(a *Attempt) Fault) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fault = fault
}

// Secrets sets what the receiver verifies by.
func (r *Receiver) Secrets(secrets ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secrets = secrets
}

// PublicKey has the receiver verify by a key, whpk_…, and no secret.
func (r *Receiver) PublicKey(key string) error {
	raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(key, "whpk_"))
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.public, r.secrets = raw, nil
	return nil
}

// Forget has the receiver count only, and keep no bodies.
func (r *Receiver) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keep = false
}

// Attempts are the requests that came.
func (r *Receiver) Attempts() []Attempt {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Attempt(nil), r.attempts...)
}

// Taken counts by id what was responded 2xx to.
func (r *Receiver) Taken() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.taken)
}

// Seqs are the numbers of the events that were taken, by id.
func (r *Receiver) Seqs() map[string]int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.seqs)
}

// Changed counts the requests whose body differs from the first with its id.
func (r *Receiver) Changed() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed
}

// Came counts the requests.
func (r *Receiver) Came() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.came
}

// Forged counts the requests without a valid signature.
func (r *Receiver) Forged() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.forged
}

// Heard gets a value when something came.
func (r *Receiver) Heard() <-chan struct{} { return r.heard }

func (r *Receiver) serve(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(bufio.NewReader(req.Body))
	if err != nil {
		return
	}
	a := Attempt{ID: req.Header.Get(standardwebhooks.HeaderWebhookID), Body: body, Header: req.Header.Clone(), Signature: req.Header.Get(standardwebhooks.HeaderWebhookSignature)}
	a.Invalid = r.verify(&a)
	fault := r.note(&a)
	defer func() {
		select {
		case r.heard <- struct{}{}:
		default:
		}
	}()
	if a.Invalid != nil {
		http.Error(w, a.Invalid.Error(), http.StatusUnauthorized)
		return
	}
	fault.respond(w, req)
}

// note keeps the request and returns what becomes of it.
func (r *Receiver) note(a *Attempt) Fault {
	var e event
	if err := json.Unmarshal(a.Body, &e); err != nil && a.Invalid == nil {
		a.Invalid = err
	}
	e.id, a.Type = a.ID, e.Type
	r.mu.Lock()
	defer r.mu.Unlock()
	r.came++
	r.tries[a.ID]++
	a.Number, a.Try = r.came, r.tries[a.ID]
	sum := sha256.Sum256(a.Body)
	if first, ok := r.first[a.ID]; ok && first != sum {
		r.changed++
	}
	r.first[a.ID] = sum
	if a.Invalid == nil && r.fault != nil {
		a.Fault = r.fault(a)
	}
	if r.keep {
		r.attempts = append(r.attempts, *a)
	}
	switch {
	case a.Invalid != nil:
		r.forged++
	case a.Fault.takes():
		r.taken[a.ID]++
		r.seqs[a.ID] = e.Data.Seq
		if r.taken[a.ID] == 1 && r.keep {
			r.events = append(r.events, e)
		}
	}
	return a.Fault
}

// verify does what the reference library says: any secret that fits will do.
func (r *Receiver) verify(a *Attempt) error {
	r.mu.Lock()
	secrets, public := r.secrets, r.public
	r.mu.Unlock()
	if public != nil {
		return verifyKey(public, a)
	}
	err := standardwebhooks.ErrNoMatchingSignature
	for _, secret := range secrets {
		var hook *standardwebhooks.Webhook
		if hook, err = standardwebhooks.NewWebhook(secret); err == nil {
			if err = hook.Verify(a.Body, a.Header); err == nil {
				return nil
			}
		}
	}
	return err
}

// verifyKey verifies v1a, which the reference library for Go does not know.
func verifyKey(public ed25519.PublicKey, a *Attempt) error {
	signed := append([]byte(a.ID+"."+a.Header.Get(standardwebhooks.HeaderWebhookTimestamp)+"."), a.Body...)
	for signature := range strings.SplitSeq(a.Signature, " ") {
		raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(signature, "v1a,"))
		if err == nil && ed25519.Verify(public, signed, raw) {
			return nil
		}
	}
	return standardwebhooks.ErrNoMatchingSignature
}
