package api

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"github.com/jellydator/ttlcache/v3"
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

// buckets holds a bucket for each key.
type buckets struct {
	rate   Rate
	byName *ttlcache.Cache[string, *rate.Limiter]
}

func newBuckets(r Rate) *buckets {
	return &buckets{r, ttlcache.New(ttlcache.WithCapacity[string, *rate.Limiter](maxBuckets))}
}

// get returns the bucket of a key. It is full at its first use.
func (b *buckets) get(key string) *rate.Limiter {
	item, _ := b.byName.GetOrSetFunc(key, b.rate.bucket)
	return item.Value()
}

// limits holds the buckets.
type limits struct {
	token        *buckets
	ask          *buckets
	wrongSecrets *buckets
	signIns      *buckets
	// loggedRefusals limits the log lines about refused calls.
	loggedRefusals *buckets

	streams *openStreams
	// maxStreams is the largest number of streams of one caller.
	maxStreams int
}

func newLimits(l Limits) limits {
	applyPreset(&l.Token, Rate{5000, 10_000})
	applyPreset(&l.Ask, Rate{50, 200})
	applyPreset(&l.Failed, Rate{1, 20})
	applyPreset(&l.SignIn, Rate{1, 30})
	l.Streams = cmp.Or(l.Streams, maxStreams)
	return limits{
		streams: &openStreams{}, maxStreams: l.Streams,
		token: newBuckets(l.Token), ask: newBuckets(l.Ask), signIns: newBuckets(l.SignIn), wrongSecrets: newBuckets(l.Failed),
		loggedRefusals: newBuckets(l.Failed),
	}
}

func applyPreset(r *Rate, preset Rate) {
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

// limitToken takes one request from the caller's bucket.
func (l *limits) limitToken(c *fermata.Caller) error {
	key := c.TokenID
	if key == "" {
		key = c.MemberID
	}
	return takeToken(l.token.get(key), "too many requests with this token")
}

// Each caller has buckets of their own for tasks, questions and sessions. So an agent cannot use up the rates of the
// people who answer.

// limitTask takes one question from the caller's bucket of a task. Every spelling of the task's id shares this bucket.
func (l *limits) limitTask(c fermata.Caller, id string) error {
	return l.limitKey(c, "task/"+ending(id), "too many questions on this task")
}

// limitQuestion takes one answer from the caller's bucket of a question.
func (l *limits) limitQuestion(c fermata.Caller, id string) error {
	return l.limitKey(c, "answer/"+ending(id), "too many answers to this question")
}

// limitSession takes one question from the caller's bucket of an external session.
func (l *limits) limitSession(c fermata.Caller, key string) error {
	return l.limitKey(c, "session/"+key, "too many questions in this session")
}

func (l *limits) limitKey(c fermata.Caller, thing, message string) error {
	return takeToken(l.ask.get(c.WorkspaceID+"/"+cmp.Or(c.TokenID, c.SessionID, c.MemberID)+"/"+thing), message)
}

// ending returns the part of an id that all its spellings share. A spelling may be a shorter ending, may be in upper
// case, and may have spaces around it.
func ending(id string) string {
	id = strings.ToLower(strings.TrimSpace(id))
	return id[max(0, len(id)-fermata.MinIDSuffix):]
}

// LimitAsk takes one question from the caller's bucket of a task. It is for a [Mount] through which agents ask.
func (s *Server) LimitAsk(c fermata.Caller, task string) error { return s.limits.limitTask(c, task) }

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
	bucket := s.limits.wrongSecrets.get(clientAddress(r, s.TrustedProxies))
	if limited := takeToken(bucket, message); limited != nil {
		return limited
	}
	return err
}

// limitSignIn takes one sign-in from the bucket of an address.
func (s *Server) limitSignIn(r *http.Request) error {
	bucket := s.limits.signIns.get(clientAddress(r, s.TrustedProxies))
	return takeToken(bucket, "too many sign-ins were begun from this address")
}
