package api

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"sync/atomic"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/fermata-hq/fermata/internal/access"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/workflow"
)

// DefaultMaxBody is the largest body of a request in bytes.
const DefaultMaxBody = 1 << 20

// Config is what a server needs. Only Engine is required.
type Config struct {
	Engine *engine.Engine
	// Log gets internal errors with their cause, and requests at level debug.
	Log     *slog.Logger
	Version string
	// SingleUser lets requests from this machine without a token act as the
	// one local user.
	SingleUser bool
	// PublicURL is where people open the server, such as
	// https://fermata.example.com: what links in mails and replies begin with.
	PublicURL string
	// Mail sends links to people; nil where no mail is set up.
	Mail Mailer
	// Delivery brings questions to people; nil delivers nothing.
	Delivery *delivery.Service
	// Workflows keeps and runs workflows; nil runs none.
	Workflows *workflow.Service
	// OIDC signs people in by an identity provider; nil without one.
	OIDC *access.OIDC
	// Passkeys sign people in; nil where the address has none.
	Passkeys *access.Passkeys
	// AllowedHosts are host names, without a port, by which a single-user
	// server may be addressed beside the loopback ones.
	AllowedHosts []string
	// TrustedProxies are the networks of proxies in front. What they say of where a request came from counts for limits.
	TrustedProxies []netip.Prefix
	Limits         Limits
	// MaxBody bounds a request's body in bytes; 0 takes DefaultMaxBody.
	MaxBody int64
	// Registry is served at /metrics and gets the metrics of HTTP; nil makes
	// one with nothing else in it.
	Registry *prometheus.Registry
	// Web serves the pages that people see; nil serves none.
	Web http.Handler
}

// Mount is another protocol at an address of the server. Its requests pass the
// same guards as those of the API; [CallerOf] tells the handler who calls.
type Mount struct {
	Path    string
	Handler http.Handler
	// Open lets everybody in: what is there tells nothing of anybody.
	Open bool
	// Challenge is the header WWW-Authenticate of a request without a valid
	// token; nil takes that of the API.
	Challenge func(*http.Request) string
}

// Mount adds another protocol. It must not be called while the server serves.
func (s *Server) Mount(m Mount) {
	s.mounts[m.Path] = m
	if m.Open {
		s.mux.Handle(m.Path, m.Handler)
	} else {
		s.mux.Handle(m.Path, s.limitStreams(m.Handler))
	}
}

// Server is the HTTP side of Fermata. It is a handler for the whole address.
type Server struct {
	Config

	mux     *http.ServeMux
	api     huma.API
	origin  *http.CrossOriginProtection
	limits  limits
	metrics *metrics
	hosts   map[string]bool
	// public is the parsed public address; empty without one.
	public *url.URL
	mounts map[string]Mount

	// refused counts requests that the server could not serve.
	refused refusals

	draining atomic.Bool
	// drained is over as soon as the server drains: streams and waits end.
	drained context.Context
	drain   context.CancelFunc
}

// prepare sets the switches of huma that belong to the process.
var prepare = sync.OnceFunc(func() {
	huma.ValidateStrictCasing = true
	huma.DefaultArrayNullable = false
	huma.NewError = newHumaError
})

// New returns a server with every route.
func New(c Config) *Server {
	prepare()
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.MaxBody <= 0 {
		c.MaxBody = DefaultMaxBody
	}
	if c.Registry == nil {
		c.Registry = prometheus.NewRegistry()
	}
	s := &Server{
		Config: c, mux: http.NewServeMux(), origin: http.NewCrossOriginProtection(),
		limits: newLimits(c.Limits), metrics: newMetrics(c.Registry), hosts: map[string]bool{}, public: &url.URL{}, mounts: map[string]Mount{},
		refused: refusals{log: c.Log, interval: refusalInterval},
	}
	for _, host := range c.AllowedHosts {
		s.hosts[host] = true
	}
	if u, err := url.Parse(c.PublicURL); err == nil && u.Host != "" {
		s.public = u
		s.hosts[hostname(u.Host)] = true
	}
	s.drained, s.drain = context.WithCancel(context.Background())
	s.api = humago.New(s.mux, describe(c.Version))
	s.api.UseMiddleware(s.withoutBody)
	s.routes()
	describeAsk(s.api.OpenAPI().Components.Schemas)
	return s
}

func (s *Server) routes() {
	s.taskRoutes()
	s.messageRoutes()
	s.questionRoutes()
	s.claimRoutes()
	s.runRoutes()
	s.eventRoutes()
	s.peopleRoutes()
	s.memberRoutes()
	s.groupRoutes()
	s.signInRoutes()
	s.oidcRoutes()
	s.passkeyRoutes()
	s.sessionRoutes()
	s.policyRoutes()
	s.auditRoutes()
	s.analyticsRoutes()
	s.gateRoutes()
	s.channelRoutes()
	s.deliveryRoutes()
	s.answerRoutes()
	s.workflowRoutes()
	s.healthRoutes()
	s.mux.HandleFunc("/", s.pageOrNothing)
}

// SetDraining announces that the server will stop: it is not ready any more,
// streams end and long polls return what they have. It cannot be taken back.
func (s *Server) SetDraining() {
	s.draining.Store(true)
	s.drain()
}

// Draining is closed as soon as the server drains.
func (s *Server) Draining() <-chan struct{} { return s.drained.Done() }

// OpenAPI returns the document that is served at /openapi.json.
func (s *Server) OpenAPI() *huma.OpenAPI { return s.api.OpenAPI() }

// waitContext returns a context for a call that waits: it ends with the request,
// and when the server drains.
func (s *Server) waitContext(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.drained, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}
