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

// Config configures a server. Only Engine is required.
type Config struct {
	Engine *engine.Engine
	// Log records internal errors with their cause, and requests at level debug.
	Log     *slog.Logger
	Version string
	// SingleUser lets requests from this machine without a token act as the one local user.
	SingleUser bool
	// PublicURL is the address at which people open the server, such as https://fermata.example.com. Links in mails
	// and replies begin with it.
	PublicURL string
	// Mail sends sign-in links and invitations to people. It is nil if no mail is set up.
	Mail Mailer
	// Delivery brings questions to people. If it is nil, no messages are sent.
	Delivery *delivery.Service
	// Workflows stores and runs workflows. If it is nil, there are no workflows.
	Workflows *workflow.Service
	// OIDC signs people in with an identity provider. It is nil if there is none.
	OIDC *access.OIDC
	// Passkeys sign people in. It is nil if the server's address does not allow passkeys.
	Passkeys *access.Passkeys
	// AllowedHosts are further host names, without a port, by which a single-user server may be addressed. Loopback
	// names are always allowed.
	AllowedHosts []string
	// TrustedProxies are the networks of proxies in front of the server. For rate limits, the server believes their
	// headers about the origin of a request.
	TrustedProxies []netip.Prefix
	Limits         Limits
	// MaxBody is the largest body of a request in bytes; 0 means DefaultMaxBody.
	MaxBody int64
	// Registry is served at /metrics, and the server adds its HTTP metrics to it. nil means a new registry.
	Registry *prometheus.Registry
	// Web serves the pages for people. If it is nil, there are no pages.
	Web http.Handler
}

// Mount is another protocol at an address of the server. Its requests pass the same checks as those of the API. The
// handler gets the caller from [CallerOf].
type Mount struct {
	Path    string
	Handler http.Handler
	// Open accepts requests without a caller. The handler must show nothing about people or their work.
	Open bool
	// Challenge returns the header WWW-Authenticate for a request without a valid token; nil uses the header of the
	// API.
	Challenge func(*http.Request) string
}

// Mount adds another protocol. It must be called before the server serves requests.
func (s *Server) Mount(m Mount) {
	s.mounts[m.Path] = m
	if m.Open {
		s.mux.Handle(m.Path, m.Handler)
	} else {
		s.mux.Handle(m.Path, s.limitStreams(m.Handler))
	}
}

// Server is the HTTP side of Fermata. It handles every path of the address.
type Server struct {
	Config

	mux     *http.ServeMux
	api     huma.API
	origin  *http.CrossOriginProtection
	limits  limits
	metrics *metrics
	hosts   map[string]bool
	// public is the parsed public address. It is empty if there is none.
	public *url.URL
	mounts map[string]Mount

	// refused counts requests that the server could not serve.
	refused refusals

	draining atomic.Bool
	// drained ends as soon as the server drains; then streams and waits end.
	drained context.Context
	drain   context.CancelFunc
}

// configureHuma sets the options of huma that are global to the process.
var configureHuma = sync.OnceFunc(func() {
	huma.ValidateStrictCasing = true
	huma.DefaultArrayNullable = false
	huma.NewError = newHumaError
})

// New returns a server with every route.
func New(c Config) *Server {
	s := Prepare(c.Engine, c.Version)
	s.Configure(c)
	return s
}

// Prepare returns a server with every route that is not configured yet. It takes long beside the rest of a start, and
// uses no database, so a program can call it while it migrates one.
func Prepare(e *engine.Engine, version string) *Server {
	configureHuma()
	s := &Server{Config: Config{Engine: e}, mux: http.NewServeMux(), origin: http.NewCrossOriginProtection(),
		hosts: map[string]bool{}, public: &url.URL{}, mounts: map[string]Mount{}}
	s.drained, s.drain = context.WithCancel(context.Background())
	s.api = humago.New(s.mux, openAPIConfig(version))
	s.api.UseMiddleware(s.refuseUnreadBody)
	s.registerAll()
	describeAsk(s.api.OpenAPI().Components.Schemas)
	describeNotification(s.api.OpenAPI().Components.Schemas)
	return s
}

// Configure gives a prepared server the rest of its configuration. Its engine must be that of [Prepare]. Call it once,
// before the server serves requests.
func (s *Server) Configure(c Config) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.MaxBody <= 0 {
		c.MaxBody = DefaultMaxBody
	}
	if c.Registry == nil {
		c.Registry = prometheus.NewRegistry()
	}
	s.Config, s.limits, s.metrics = c, newLimits(c.Limits), newMetrics(c.Registry)
	s.refused.log, s.refused.interval = c.Log, refusalInterval
	for _, host := range c.AllowedHosts {
		s.hosts[host] = true
	}
	if u, err := url.Parse(c.PublicURL); err == nil && u.Host != "" {
		s.public = u
		s.hosts[hostname(u.Host)] = true
	}
	s.serveMetrics()
}

func (s *Server) registerAll() {
	s.registerTasks()
	s.registerMessages()
	s.registerQuestions()
	s.registerClaims()
	s.registerRuns()
	s.registerEvents()
	s.registerTokensAndProjects()
	s.registerMembers()
	s.registerGroups()
	s.registerSignIn()
	s.registerOIDC()
	s.registerPasskeys()
	s.registerSessions()
	s.registerPolicy()
	s.registerAudit()
	s.registerAnalytics()
	s.registerGates()
	s.registerChannels()
	s.registerDeliveries()
	s.registerAnswerPages()
	s.registerWorkflows()
	s.registerHealth()
	s.mux.HandleFunc("/", s.servePage)
}

// SetDraining announces that the server will stop. The server stops being ready, streams end, and long polls return
// what they have. It cannot be undone.
func (s *Server) SetDraining() {
	s.draining.Store(true)
	s.drain()
}

// Draining returns a channel that is closed as soon as the server drains.
func (s *Server) Draining() <-chan struct{} { return s.drained.Done() }

// OpenAPI returns the document that is served at /openapi.json.
func (s *Server) OpenAPI() *huma.OpenAPI { return s.api.OpenAPI() }

// waitContext returns a context for a call that waits. It ends with the request, or when the server drains.
func (s *Server) waitContext(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.drained, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}
