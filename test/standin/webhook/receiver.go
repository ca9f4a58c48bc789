// Package webhook is a receiver of webhooks as users write it. It verifies the
// signature with the reference library, counts repetitions by their id, and
// fails in the ways in which receivers fail.
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

// Secret is the default secret that the receiver verifies with.
const Secret = "whsec_" + "c3RhbmQtaW4gcmVjZWl2ZXIgb2Ygd2ViaG9va3M="

// Attempt is one received request.
type Attempt struct {
	ID, Type  string
	Body      []byte
	Header    http.Header
	Signature string
	// Number counts all requests. Try counts the requests with this id. Both
	// start at 1.
	Number, Try int
	// Fault is the fault of the response. It is empty if the request was
	// accepted.
	Fault Fault
	// Invalid is the reason why the request is not valid, or nil.
	Invalid error
}

// Receiver accepts webhooks.
type Receiver struct {
	URL string

	server *httptest.Server
	mu     sync.Mutex
	// secrets are all the secrets that the receiver accepts.
	secrets    []string
	public     ed25519.PublicKey
	faultFor   func(a *Attempt) Fault
	attempts   []Attempt
	keepBodies bool
	// accepted counts the requests with a 2xx response, by id.
	accepted map[string]int
	received int
	forged   int
	// tries counts the requests by id. firstHash is the hash of the first body
	// with that id.
	tries     map[string]int
	firstHash map[string][sha256.Size]byte
	changed   int
	seqs      map[string]int64
	events    []event
	arrivals  chan struct{}
}

// event is the part of the payload that the receiver reads.
type event struct {
	id   string
	Type string `json:"type"`
	Data struct {
		Seq        int64           `json:"seq"`
		QuestionID string          `json:"question_id"`
		Question   json.RawMessage `json:"question"`
	} `json:"data"`
}

// New starts a receiver that stops when the test ends.
func New(tb testing.TB) *Receiver {
	tb.Helper()
	r := Start("127.0.0.1:0")
	tb.Cleanup(r.Close)
	return r
}

// Start starts a receiver at an address of this machine.
func Start(address string) *Receiver {
	r := &Receiver{
		secrets: []string{Secret}, accepted: map[string]int{}, keepBodies: true, arrivals: make(chan struct{}, 1),
		tries: map[string]int{}, firstHash: map[string][sha256.Size]byte{}, seqs: map[string]int64{},
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

// Close stops the receiver, and closes connections that wait.
func (r *Receiver) Close() {
	r.server.CloseClientConnections()
	r.server.Close()
}

// SetFaults sets the function that decides the fault of a validly signed request.
// With nil, all of them are accepted.
func (r *Receiver) SetFaults(fault func(a *Attempt) Fault) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faultFor = fault
}

// SetSecrets sets the secrets that the receiver verifies with.
func (r *Receiver) SetSecrets(secrets ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secrets = secrets
}

// SetPublicKey makes the receiver verify with a key, whpk_…, and with no secret.
func (r *Receiver) SetPublicKey(key string) error {
	raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(key, "whpk_"))
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.public, r.secrets = raw, nil
	return nil
}

// DiscardBodies makes the receiver only count requests, and store no bodies.
func (r *Receiver) DiscardBodies() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keepBodies = false
}

// Attempts returns the received requests.
func (r *Receiver) Attempts() []Attempt {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Attempt(nil), r.attempts...)
}

// AcceptedCounts counts the requests with a 2xx response, by id.
func (r *Receiver) AcceptedCounts() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.accepted)
}

// Seqs returns the sequence numbers of the accepted events, by id.
func (r *Receiver) Seqs() map[string]int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.seqs)
}

// ChangedCount counts the requests whose body differs from the first body with the
// same id.
func (r *Receiver) ChangedCount() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed
}

// ReceivedCount counts the received requests.
func (r *Receiver) ReceivedCount() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.received
}

// ForgedCount counts the requests without a valid signature.
func (r *Receiver) ForgedCount() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.forged
}

// Arrivals returns a channel that gets a value when a request arrives.
func (r *Receiver) Arrivals() <-chan struct{} { return r.arrivals }

func (r *Receiver) serve(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(bufio.NewReader(req.Body))
	if err != nil {
		return
	}
	a := Attempt{ID: req.Header.Get(standardwebhooks.HeaderWebhookID), Body: body, Header: req.Header.Clone(), Signature: req.Header.Get(standardwebhooks.HeaderWebhookSignature)}
	a.Invalid = r.verify(&a)
	fault := r.record(&a)
	defer func() {
		select {
		case r.arrivals <- struct{}{}:
		default:
		}
	}()
	if a.Invalid != nil {
		http.Error(w, a.Invalid.Error(), http.StatusUnauthorized)
		return
	}
	fault.respond(w, req)
}

// record stores the request, and returns the fault for its response.
func (r *Receiver) record(a *Attempt) Fault {
	var e event
	if err := json.Unmarshal(a.Body, &e); err != nil && a.Invalid == nil {
		a.Invalid = err
	}
	e.id, a.Type = a.ID, e.Type
	r.mu.Lock()
	defer r.mu.Unlock()
	r.received++
	r.tries[a.ID]++
	a.Number, a.Try = r.received, r.tries[a.ID]
	sum := sha256.Sum256(a.Body)
	if first, ok := r.firstHash[a.ID]; ok && first != sum {
		r.changed++
	}
	r.firstHash[a.ID] = sum
	if a.Invalid == nil && r.faultFor != nil {
		a.Fault = r.faultFor(a)
	}
	if r.keepBodies {
		r.attempts = append(r.attempts, *a)
	}
	switch {
	case a.Invalid != nil:
		r.forged++
	case a.Fault.isAccepted():
		r.accepted[a.ID]++
		r.seqs[a.ID] = e.Data.Seq
		if r.accepted[a.ID] == 1 && r.keepBodies {
			r.events = append(r.events, e)
		}
	}
	return a.Fault
}

// verify verifies the signature with the reference library. Any of the secrets
// may match.
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

// verifyKey verifies a v1a signature, which the reference library for Go does
// not support.
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
