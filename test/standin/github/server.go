// Package github is a stand-in for GitHub: its API for issues, comments,
// reactions, labels and permissions, and its webhooks. It is strict where
// GitHub is: tokens, permissions, primary and secondary limits, conditional
// requests, pages, signatures.
package github

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// These are the names that every stand-in uses.
const (
	Owner        = "octo"
	Repo         = "hello"
	Repository   = Owner + "/" + Repo
	Issue        = 7
	Secret       = "a secret of the webhook, long enough"
	Token        = "github_pat_of_the_machine" //nolint:gosec // the token works only for the stand-in
	Machine      = "fermata-machine"
	AppSlug      = "fermata-app"
	AppID        = 4711
	Installation = 815
)

// Server is a stand-in for GitHub.
type Server struct {
	*httptest.Server

	mu          sync.Mutex
	now         func() time.Time
	key         *rsa.PrivateKey
	lastID      int64
	users       map[string]*user
	tokens      map[string]*access
	rights      map[string]string // permission by login
	issues      map[int]*issue
	comments    []*comment
	labelEvents []labelEvent
	reviews     []*review
	// deployments are the deployments that wait or have waited.
	deployments []*deployment
	lagReads    int
	code        code
	hook        hook

	// These are the limits: requests left in this hour, and new content left in
	// a minute.
	requestsLeft int
	reset        time.Time
	contentLeft  int
	contentWait  time.Duration
	// faults are responses that replace the regular ones, one after the other.
	faults []fault
	// requests lists the requests, by method and path.
	requests []string
	// rejectedRequests counts the requests that were refused because the hourly limit
	// was reached.
	rejectedRequests int

	archived, suspended bool
	permissions         map[string]string
	events              []string
	scopes              string
}

type user struct {
	ID    int64  `json:"id"`
	Login string `json:"login"`
	Type  string `json:"type"`
	email string
}

// access is what a token allows: to act as a person, or as the App's
// installation.
type access struct {
	*user
	app     bool
	expires time.Time
}

type issue struct {
	labels    []string
	assignees []*user
	locked    bool
	pull      bool
	changed   time.Time
	// title, body and state replace the defaults if they are set.
	title, body, state, reason string
}

type comment struct {
	id               int64
	number           int
	by               *user
	viaApp           int64 // the App through which a person wrote it
	body             string
	created, updated time.Time
	reactions        []reaction
}

type reaction struct {
	by      *user
	content string
}

type fault struct {
	// status is the status of the response. If it is 0, the request is
	// processed and the connection is closed without a response.
	status int
	path   string
	header http.Header
	body   string
}

// appKey returns one key for the whole process, because it takes a while to
// generate a key.
var appKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

// New starts a stand-in with one repository, one issue, a machine's account and
// an App. Close stops it.
func New() *Server {
	s := &Server{
		now: time.Now, key: appKey(), lastID: 1000,
		users: map[string]*user{}, tokens: map[string]*access{}, rights: map[string]string{},
		issues: map[int]*issue{Issue: {}}, requestsLeft: 5000, contentLeft: 1000, contentWait: time.Minute,
		permissions: map[string]string{"issues": "write", "pull_requests": "write", "metadata": "read"},
		events:      []string{"issue_comment", "issues"}, code: newCode(),
	}
	s.reset = time.Now().Add(time.Hour)
	machine := s.ensureUser(Machine, "User")
	s.rights[Machine] = "write"
	s.tokens[Token] = &access{user: machine}
	s.ensureUser(AppSlug+"[bot]", "Bot")
	s.Server = httptest.NewServer(s.routes())
	return s
}

// PrivateKey returns the App's private key in PEM form.
func (s *Server) PrivateKey() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(s.key)}))
}

// API returns the address of the API.
func (s *Server) API() string { return s.URL + "/" }

// AddUser adds an account, or updates its permission, and returns its id.
func (s *Server) AddUser(login, permission string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.ensureUser(login, "User")
	s.rights[login] = permission
	return u.ID
}

func (s *Server) ensureUser(login, kind string) *user {
	if u := s.users[login]; u != nil {
		return u
	}
	s.lastID++
	s.users[login] = &user{ID: s.lastID, Login: login, Type: kind, email: login + "@example.com"}
	return s.users[login]
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, h func(*call) (int, any)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, h) })
	}
	handle("GET /user", s.getSelf)
	handle("GET /user/{id}", s.getByID)
	handle("GET /users/{login}", s.getUser)
	handle("GET /app", s.getApp)
	handle("GET /app/installations/{installation}", s.getInstallation)
	handle("POST /app/installations/{installation}/access_tokens", s.postToken)
	const repo = "/repos/{owner}/{repo}"
	handle("GET "+repo, s.getRepository)
	handle("GET "+repo+"/collaborators/{login}/permission", s.getPermission)
	handle("GET "+repo+"/issues/{number}", s.getIssue)
	handle("GET "+repo+"/issues/{number}/comments", s.getComments)
	handle("POST "+repo+"/issues/{number}/comments", s.postComment)
	handle("GET "+repo+"/issues/comments", s.getComments)
	handle("GET "+repo+"/issues/events", s.getEvents)
	handle("PATCH "+repo+"/issues/comments/{id}", s.patchComment)
	handle("GET "+repo+"/issues/comments/{id}/reactions", s.getReactions)
	handle("POST "+repo+"/issues/comments/{id}/reactions", s.postReaction)
	handle("POST "+repo+"/issues/{number}/labels", s.postLabels)
	handle("DELETE "+repo+"/issues/{number}/labels/{label}", s.deleteLabel)
	handle("POST "+repo+"/issues/{number}/assignees", s.postAssignees)
	handle("DELETE "+repo+"/issues/{number}/assignees", s.deleteAssignees)
	s.codeRoutes(handle)
	s.reviewRoutes(handle)
	s.searchRoutes(handle)
	s.deploymentRoutes(handle)
	return mux
}

// call is one request of a caller who is signed in.
type call struct {
	*http.Request
	by     *access
	jwt    bool
	header http.Header
}

// message returns GitHub's error body.
func message(text string) map[string]string {
	return map[string]string{"message": text, "documentation_url": "https://docs.github.com/rest"}
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, h func(*call) (int, any)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r.Method+" "+r.URL.Path)
	s.code.mirror()
	c := &call{Request: r, header: w.Header()}
	if r.UserAgent() == "" {
		reply(w, http.StatusForbidden, message("Request forbidden by administrative rules. Please make sure your request has a User-Agent header"))
		return
	}
	if !s.authenticate(c) {
		reply(w, http.StatusUnauthorized, message("Bad credentials"))
		return
	}
	if s.enforceLimits(w, r) {
		return
	}
	result := s.applyFault(w, r)
	if result == faultAnswered {
		return
	}
	status, body := h(c)
	if result == faultHang {
		panic(http.ErrAbortHandler)
	}
	raw, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	if r.Method == http.MethodGet && status == http.StatusOK {
		sum := sha256.Sum256(append(raw, []byte(w.Header().Get("Link"))...))
		etag := `W/"` + hex.EncodeToString(sum[:]) + `"`
		w.Header().Set("ETag", etag)
		if r.Header.Get("If-None-Match") == etag {
			s.requestsLeft++ // a conditional request for unchanged data is free
			s.rateHeaders(w)
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	if status == http.StatusNoContent {
		w.WriteHeader(status)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if text, ok := body.(plainText); ok {
		w.Header().Set("Content-Type", "application/vnd.github.sha; charset=utf-8")
		raw = []byte(text)
	}
	w.WriteHeader(status)
	_, _ = w.Write(raw)
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// authenticate reports whether the token of the call is valid. For paths below
// /app, it accepts tokens that the App itself signed. Elsewhere it accepts
// personal tokens, and tokens of installations until they expire.
func (s *Server) authenticate(c *call) bool {
	token, ok := strings.CutPrefix(c.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return false
	}
	if strings.HasPrefix(c.URL.Path, "/app") {
		c.jwt = s.isSignedByApp(token)
		return c.jwt
	}
	c.by = s.tokens[token]
	return c.by != nil && (c.by.expires.IsZero() || s.now().Before(c.by.expires))
}

// enforceLimits enforces the limits. It reports whether it has refused the request.
func (s *Server) enforceLimits(w http.ResponseWriter, r *http.Request) bool {
	if s.now().After(s.reset) {
		s.requestsLeft, s.reset = 5000, s.now().Add(time.Hour)
	}
	if s.requestsLeft <= 0 {
		s.rejectedRequests++
		s.rateHeaders(w)
		reply(w, http.StatusForbidden, message("API rate limit exceeded for user ID 1."))
		return true
	}
	s.requestsLeft--
	s.rateHeaders(w)
	creates := r.Method == http.MethodPost && (strings.HasSuffix(r.URL.Path, "/comments") || strings.HasSuffix(r.URL.Path, "/reactions"))
	if !creates {
		return false
	}
	if s.contentLeft <= 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(s.contentWait.Seconds())))
		reply(w, http.StatusForbidden, map[string]string{
			"message":           "You have exceeded a secondary rate limit and have been temporarily blocked from content creation. Please retry your request again later.",
			"documentation_url": "https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits",
		})
		return true
	}
	s.contentLeft--
	return false
}

func (s *Server) rateHeaders(w http.ResponseWriter) {
	w.Header().Set("X-RateLimit-Limit", "5000")
	w.Header().Set("X-RateLimit-Remaining", strconv.Itoa(max(s.requestsLeft, 0)))
	w.Header().Set("X-RateLimit-Reset", strconv.FormatInt(s.reset.Unix(), 10))
	w.Header().Set("X-RateLimit-Resource", "core")
}

type faultResult int

const (
	noFault faultResult = iota
	faultAnswered
	faultHang
)

func (s *Server) applyFault(w http.ResponseWriter, r *http.Request) faultResult {
	i := slices.IndexFunc(s.faults, func(f fault) bool { return strings.HasPrefix(r.Method+" "+r.URL.Path, f.path) })
	if i < 0 {
		return noFault
	}
	f := s.faults[i]
	s.faults = slices.Delete(s.faults, i, i+1)
	if f.status == 0 {
		return faultHang
	}
	for k, v := range f.header {
		w.Header()[k] = v
	}
	if f.body != "" {
		w.WriteHeader(f.status)
		_, _ = w.Write([]byte(f.body))
		return faultAnswered
	}
	reply(w, f.status, message(http.StatusText(f.status)))
	return faultAnswered
}

func (s *Server) setNextLink(c *call, page, per, total int) {
	if page*per >= total {
		return
	}
	next := *c.URL
	query := next.Query()
	query.Set("page", strconv.Itoa(page+1))
	next.RawQuery = query.Encode()
	c.header.Set("Link", fmt.Sprintf(`<%s%s>; rel="next"`, s.URL, next.RequestURI()))
}
