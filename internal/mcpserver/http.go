package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/internal/engine"
)

// Path is where the protocol is spoken.
const Path = "/mcp"

// metadataPath is where a client learns which tokens are taken (RFC 9728).
const metadataPath = "/.well-known/oauth-protected-resource"

// MetadataPaths are the open addresses of the metadata: of the whole server
// and of [Path].
var MetadataPaths = []string{metadataPath, metadataPath + Path}

// HTTPOptions say how agents are served over HTTP.
type HTTPOptions struct {
	Engine *engine.Engine
	// Delivery tells what is sent for questions; nil where nothing is.
	Delivery *delivery.Service
	// Caller returns who makes a request; whoever serves it has found that out
	// before.
	Caller func(context.Context) fermata.Caller
	// LimitAsk bounds how fast one task asks; nil does not.
	LimitAsk func(c fermata.Caller, task string) error
	// Stopping ends waits early, when the server is about to stop.
	Stopping <-chan struct{}
	Version  string
	Log      *slog.Logger
	// ProgressEvery and ApproveWait are those of [Options].
	ProgressEvery, ApproveWait time.Duration
	// MaxBody bounds a request's body in bytes.
	MaxBody int64
}

const (
	// callerKey is where a request keeps its caller.
	callerKey = "fermata.caller"
	// renewalKey is where it keeps the renewal of its caller.
	renewalKey = "fermata.renewal"
	// idleSession is how long a session may be silent.
	idleSession = 30 * time.Minute
	// listensOn is how long a stream that only listens outlives the beginning
	// of a stop. A client that loses it gives its calls up, so they end first;
	// one that stayed would hold the stop up.
	listensOn = time.Second
)

// Handler returns what answers at [Path]: with sessions for clients of the
// older versions of the protocol, without for those of the newer.
func Handler(o HTTPOptions) http.Handler {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.LimitAsk == nil {
		o.LimitAsk = func(fermata.Caller, string) error { return nil }
	}
	s := New(Options{
		Desk: o.desk, Version: o.Version, Log: o.Log, Stopping: o.Stopping,
		ProgressEvery: o.ProgressEvery, ApproveWait: o.ApproveWait,
	})
	return Front(o, s.mcp)
}

// Front is what stands before a server of the library: who calls, whom it
// refuses, and which handler takes the request.
func Front(o HTTPOptions, s *mcp.Server) http.Handler {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	server := func(*http.Request) *mcp.Server { return s }
	// One handler of the library serves either sessions or the protocol that
	// has none.
	sessions := mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{
		Logger: o.Log, SessionTimeout: idleSession, MaxRequestBodyBytes: o.MaxBody,
	})
	stateless := mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{
		Logger: o.Log, Stateless: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: o.MaxBody,
	})
	return o.identify(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") >= formsInResults {
			stateless.ServeHTTP(w, r)
			return
		}
		if r.Method == http.MethodGet {
			ctx, stop := untilStopping(r.Context(), o.Stopping, listensOn)
			defer stop()
			r = r.WithContext(ctx)
		}
		sessions.ServeHTTP(w, r)
	}))
}

// desk returns the desk of the caller of this very request, not of the one
// that opened the session.
func (o HTTPOptions) desk(req *mcp.CallToolRequest) (Desk, error) {
	if req.Extra == nil || req.Extra.TokenInfo == nil {
		return nil, fermata.Errorf(fermata.CodeUnauthenticated, "a token is needed")
	}
	caller, ok := req.Extra.TokenInfo.Extra[callerKey].(fermata.Caller)
	if !ok {
		return nil, fermata.Errorf(fermata.CodeUnauthenticated, "a token is needed")
	}
	renew, _ := req.Extra.TokenInfo.Extra[renewalKey].(engine.Renewal)
	return &engineDesk{engine: o.Engine, delivery: o.Delivery, caller: caller, renew: renew, limit: o.LimitAsk}, nil
}

// identify hands the caller to the library in the form that it knows, so that
// it refuses a session to everybody but the one who opened it.
func (o HTTPOptions) identify(next http.Handler) http.Handler {
	verify := func(ctx context.Context, _ string, _ *http.Request) (*auth.TokenInfo, error) {
		c := o.Caller(ctx)
		if len(c.Scopes) == 0 {
			return nil, fmt.Errorf("%w: a token is needed", auth.ErrInvalidToken)
		}
		return &auth.TokenInfo{UserID: c.TokenID + "/" + c.MemberID, Extra: map[string]any{callerKey: c, renewalKey: engine.RenewalOf(ctx)}}, nil
	}
	identified := auth.RequireBearerToken(verify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !sameOrigin(r) {
			http.Error(w, "Forbidden: requests from other web pages are refused", http.StatusForbidden)
			return
		}
		r = r.Clone(r.Context())
		// The local user of a single-user server shows no token; and nobody
		// further in needs to see one.
		r.Header.Set("Authorization", "Bearer known")
		identified.ServeHTTP(w, r)
	})
}

// sameOrigin refuses web pages of other sites for every method: a page whose
// name was made to point at this machine must not read streams either.
func sameOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, r.Host)
}

// Metadata answers at [MetadataPaths]. People open the server at publicURL. There is no server that gives tokens
// out by itself; an admin does.
func Metadata(publicURL string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET")
			http.Error(w, "Method Not Allowed", http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		// The client may be gone; there is nobody to tell.
		_ = json.NewEncoder(w).Encode(oauthex.ProtectedResourceMetadata{
			Resource: base(r, publicURL) + Path, ResourceName: "Fermata", BearerMethodsSupported: []string{"header"},
			ScopesSupported: []string{string(fermata.ScopeAsk), string(fermata.ScopeRead), string(fermata.ScopeWork)},
		})
	})
}

// base is the address by which the client reached the server: it is https where people open the server so by the same name.
// Headers of a request say nothing about it, for anybody can send them.
func base(r *http.Request, publicURL string) string {
	host := "://" + r.Host
	if r.TLS != nil || strings.EqualFold(publicURL, "https"+host) {
		return "https" + host
	}
	return "http" + host
}

// Challenge makes the header WWW-Authenticate of a refused request at [Path]. People open the server at publicURL.
func Challenge(publicURL string) func(*http.Request) string {
	return func(r *http.Request) string {
		return fmt.Sprintf(`Bearer realm="fermata", resource_metadata=%q`, base(r, publicURL)+metadataPath+Path)
	}
}
