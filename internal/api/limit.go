package api

import (
	"cmp"
	"container/list"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/fermata-hq/fermata"
)

// Rate is the rate of a token bucket. A zero Rate means the default of its field, and a negative PerSecond switches
// the limit off.
type Rate struct {
	PerSecond float64
	Burst     int
}

// Limits limits how fast callers may send requests.
type Limits struct {
	// Token limits all requests of one token; default 5,000/s, burst 10,000.
	Token Rate
	// Ask limits how often one token or browser session asks on one task, and answers one question; default 50/s,
	// burst 200.
	Ask Rate
	// Failed limits wrong tokens from one address; default 1/s, burst 20.
	Failed Rate
	// SignIn limits the sign-ins that are begun from one address: by mail, with an identity provider or with a
	// passkey; default 1/s, burst 30.
	SignIn Rate
	// Streams limits the event streams that one token or browser session has open; default 500.
	Streams int
}

// maxBuckets is the largest number of buckets of each limit. If there are more, the least recently used one is dropped.
// It is full again at its next use.
const maxBuckets = 10_000

// limits holds the buckets.
type limits struct {
	rates        Limits
	token        *lruMap[*rate.Limiter]
	ask          *lruMap[*rate.Limiter]
	wrongSecrets *lruMap[*rate.Limiter]
	signIns      *lruMap[*rate.Limiter]
	// loggedRefusals limits the log lines about refused calls.
	loggedRefusals *lruMap[*rate.Limiter]

	streams *openStreams
}

func newLimits(l Limits) limits {
	fill(&l.Token, Rate{5000, 10_000})
	fill(&l.Ask, Rate{50, 200})
	fill(&l.Failed, Rate{1, 20})
	fill(&l.SignIn, Rate{1, 30})
	l.Streams = cmp.Or(l.Streams, maxStreams)
	return limits{
		streams: &openStreams{}, rates: l,
		token: newLRUMap[*rate.Limiter](maxBuckets), ask: newLRUMap[*rate.Limiter](maxBuckets),
		signIns: newLRUMap[*rate.Limiter](maxBuckets), wrongSecrets: newLRUMap[*rate.Limiter](maxBuckets),
		loggedRefusals: newLRUMap[*rate.Limiter](maxBuckets),
	}
}

func fill(r *Rate, preset Rate) {
	if *r == (Rate{}) {
		*r = preset
	}
}

// bucket returns a full bucket.
func (r Rate) bucket() *rate.Limiter {
	if r.PerSecond < 0 {
		return rate.NewLimiter(rate.Inf, 0)
	}
	return rate.NewLimiter(rate.Limit(r.PerSecond), r.Burst)
}

// perToken takes one request from the caller's bucket.
func (l *limits) perToken(c *fermata.Caller) error {
	key := c.TokenID
	if key == "" {
		key = c.MemberID
	}
	return takeToken(l.token.get(key, l.rates.Token.bucket), "too many requests with this token")
}

// Each caller has buckets of their own for tasks, questions and sessions. So an agent cannot use up the rates of the
// people who answer.

// perTask takes one question from the caller's bucket of a task. Every spelling of the task's id shares this bucket.
func (l *limits) perTask(c fermata.Caller, id string) error {
	return l.perKey(c, "task/"+ending(id), "too many questions on this task")
}

// perQuestion takes one answer from the caller's bucket of a question.
func (l *limits) perQuestion(c fermata.Caller, id string) error {
	return l.perKey(c, "answer/"+ending(id), "too many answers to this question")
}

// perSession takes one question from the caller's bucket of an external session.
func (l *limits) perSession(c fermata.Caller, key string) error {
	return l.perKey(c, "session/"+key, "too many questions in this session")
}

func (l *limits) perKey(c fermata.Caller, thing, message string) error {
	return takeToken(l.ask.get(c.WorkspaceID+"/"+cmp.Or(c.TokenID, c.SessionID, c.MemberID)+"/"+thing, l.rates.Ask.bucket), message)
}

// ending returns the part of an id that all its spellings share. A spelling may be a shorter ending, may be in upper
// case, and may have spaces around it.
func ending(id string) string {
	id = strings.ToLower(strings.TrimSpace(id))
	return id[max(0, len(id)-fermata.MinIDSuffix):]
}

// LimitAsk takes one question from the caller's bucket of a task. It is for a [Mount] through which agents ask.
func (s *Server) LimitAsk(c fermata.Caller, task string) error { return s.limits.perTask(c, task) }

func takeToken(bucket *rate.Limiter, message string) error {
	r := bucket.Reserve()
	if !r.OK() {
		return limitError(message, time.Second)
	}
	if wait := r.Delay(); wait > 0 {
		r.Cancel()
		return limitError(message, wait)
	}
	return nil
}

func limitError(message string, wait time.Duration) error {
	e := fermata.Errorf(fermata.CodeRateLimited, "%s", message)
	e.RetryAfter = wait
	return e
}

// limitWrongSecrets counts a wrong secret from an address. It returns err, or a rate-limit error if there are too many from
// this address. A correct secret is never refused, whatever came from its address before.
func (s *Server) limitWrongSecrets(r *http.Request, err error, message string) error {
	if fermata.CodeOf(err) != fermata.CodeUnauthenticated {
		return err
	}
	bucket := s.limits.wrongSecrets.get(clientAddress(r, s.TrustedProxies), s.limits.rates.Failed.bucket)
	if limited := takeToken(bucket, message); limited != nil {
		return limited
	}
	return err
}

// limitSignIn takes one sign-in from the bucket of an address.
func (s *Server) limitSignIn(r *http.Request) error {
	bucket := s.limits.signIns.get(clientAddress(r, s.TrustedProxies), s.limits.rates.SignIn.bucket)
	return takeToken(bucket, "too many sign-ins were begun from this address")
}

// lruMap is a map of limited size that drops the least recently used entry.
type lruMap[V any] struct {
	mu       sync.Mutex
	capacity int
	items    map[string]*list.Element
	order    *list.List
}

type entry[V any] struct {
	key   string
	value V
}

func newLRUMap[V any](most int) *lruMap[V] {
	return &lruMap[V]{capacity: most, items: map[string]*list.Element{}, order: list.New()}
}

// get returns the value of a key. It creates the value if there is none.
func (m *lruMap[V]) get(key string, create func() V) V {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e, ok := m.items[key]; ok {
		m.order.MoveToFront(e)
		return e.Value.(*entry[V]).value
	}
	v := create()
	m.items[key] = m.order.PushFront(&entry[V]{key, v})
	if m.order.Len() > m.capacity {
		m.remove(m.order.Back())
	}
	return v
}

func (m *lruMap[V]) remove(e *list.Element) {
	m.order.Remove(e)
	delete(m.items, e.Value.(*entry[V]).key)
}
