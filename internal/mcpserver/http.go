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

// Path is the URL path of the MCP endpoint.
const Path = "/mcp"

// metadataPath is where a client finds out which tokens the server accepts (RFC 9728).
const metadataPath = "/.well-known/oauth-protected-resource"

// MetadataPaths are the paths of the metadata, for the whole server and for [Path]. They need no token.
var MetadataPaths = []string{metadataPath, metadataPath + Path}

// HTTPOptions configure the MCP endpoint over HTTP.
type HTTPOptions struct {
	Engine *engine.Engine
	// Delivery returns which messages are sent for questions; nil if the server sends none.
	Delivery *delivery.Service
	// Caller returns the caller of a request. The HTTP server must have authenticated the request before.
	Caller func(context.Context) fermata.Caller
	// LimitAsk returns an error if a task asks too fast; nil means no limit.
	LimitAsk func(c fermata.Caller, task string) error
	// Stopping is closed when the server is about to stop. Waits then end early.
	Stopping <-chan struct{}
	Version  string
	Log      *slog.Logger
	// ProgressEvery and ApproveWait are the fields of [Options].
	ProgressEvery, ApproveWait time.Duration
	// MaxBody limits the body of a request, in bytes.
	MaxBody int64
}

const (
	// callerKey is the key of the caller in a request's token.
	callerKey = "fermata.caller"
	// renewalKey is the key of the caller's renewal.
	renewalKey = "fermata.renewal"
	// sessionIdleTimeout is how long a session may be idle before it ends.
	sessionIdleTimeout = 30 * time.Minute
	// listenGrace is how long a stream that only listens stays open after the server begins to stop. A client that loses
	// the stream gives up its calls, so the calls must end first. A stream without an end would delay the stop.
	listenGrace = time.Second
)

// Handler returns the handler for [Path]. It uses sessions for clients of older protocol versions, and none for newer
// ones.
func Handler(o HTTPOptions) http.Handler {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.LimitAsk == nil {
		o.LimitAsk = func(fermata.Caller, string) error { return nil }
	}
	s := New(Options{
		Backend: o.backend, Version: o.Version, Log: o.Log, Stopping: o.Stopping,
		ProgressEvery: o.ProgressEvery, ApproveWait: o.ApproveWait,
	})
	return FrontHandler(o, s.mcp)
}

// FrontHandler returns the handler in front of a server of the MCP library. It identifies the caller, refuses requests of
// other sites, and chooses the handler for the protocol version.
func FrontHandler(o HTTPOptions, s *mcp.Server) http.Handler {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	server := func(*http.Request) *mcp.Server { return s }
	// A handler of the library serves either sessions or the protocol without sessions.
	sessions := mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{
		Logger: o.Log, SessionTimeout: sessionIdleTimeout, MaxRequestBodyBytes: o.MaxBody,
	})
	stateless := mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{
		Logger: o.Log, Stateless: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: o.MaxBody,
	})
	return o.identifyCaller(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") >= formsInResultsVersion {
			stateless.ServeHTTP(w, r)
			return
		}
		if r.Method == http.MethodGet {
			ctx, stop := contextUntilStop(r.Context(), o.Stopping, listenGrace)
			defer stop()
			r = r.WithContext(ctx)
		}
		sessions.ServeHTTP(w, r)
	}))
}

// backend returns the backend of the caller of this request. The session may have been opened by another caller.
func (o HTTPOptions) backend(req *mcp.CallToolRequest) (Backend, error) {
	if req.Extra == nil || req.Extra.TokenInfo == nil {
		return nil, fermata.Errorf(fermata.CodeUnauthenticated, "a token is needed")
	}
	caller, ok := req.Extra.TokenInfo.Extra[callerKey].(fermata.Caller)
	if !ok {
		return nil, fermata.Errorf(fermata.CodeUnauthenticated, "a token is needed")
	}
	renew, _ := req.Extra.TokenInfo.Extra[renewalKey].(engine.Renewal)
	return &engineBackend{engine: o.Engine, delivery: o.Delivery, caller: caller, renew: renew, limit: o.LimitAsk}, nil
}

// identifyCaller passes the caller to the library as the user of a token. The library then refuses a session to every caller
// except the one that opened it.
func (o HTTPOptions) identifyCaller(next http.Handler) http.Handler {
	verify := func(ctx context.Context, _ string, _ *http.Request) (*auth.TokenInfo, error) {
		c := o.Caller(ctx)
		if len(c.Scopes) == 0 {
			return nil, fmt.Errorf("%w: a token is needed", auth.ErrInvalidToken)
		}
		return &auth.TokenInfo{UserID: c.TokenID + "/" + c.MemberID, Extra: map[string]any{callerKey: c, renewalKey: engine.RenewalOf(ctx)}}, nil
	}
	identified := auth.RequireBearerToken(verify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isSameOrigin(r) {
			http.Error(w, "Forbidden: requests from other web pages are refused", http.StatusForbidden)
			return
		}
		r = r.Clone(r.Context())
		// The local user of a single-user server sends no token. The library needs one, and must not see the real one.
		r.Header.Set("Authorization", "Bearer known")
		identified.ServeHTTP(w, r)
	})
}

// isSameOrigin reports whether a request does not come from a web page of another site. It applies to every method: a
// page whose host name was made to point at this machine must not read streams either.
func isSameOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, r.Host)
}

// Metadata returns the handler for [MetadataPaths]. publicURL is the URL at which people open the server. No
// authorization server issues tokens; an admin does.
func Metadata(publicURL string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET")
			http.Error(w, "Method Not Allowed", http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		// An error means that the client is gone, so there is nothing to do.
		_ = json.NewEncoder(w).Encode(oauthex.ProtectedResourceMetadata{
			Resource: baseURL(r, publicURL) + Path, ResourceName: "Fermata", BearerMethodsSupported: []string{"header"},
			ScopesSupported: []string{string(fermata.ScopeAsk), string(fermata.ScopeRead), string(fermata.ScopeWork)},
		})
	})
}

// baseURL returns the URL at which the client reached the server. It is https if people open the server by the same host
// name over https. Headers of the request do not count, because anybody can send them.
func baseURL(r *http.Request, publicURL string) string {
	host := "://" + r.Host
	if r.TLS != nil || strings.EqualFold(publicURL, "https"+host) {
		return "https" + host
	}
	return "http" + host
}

// Challenge returns a function that returns the WWW-Authenticate header for a refused request at [Path]. publicURL is
// the URL at which people open the server.
func Challenge(publicURL string) func(*http.Request) string {
	return func(r *http.Request) string {
		return fmt.Sprintf(`Bearer realm="fermata", resource_metadata=%q`, baseURL(r, publicURL)+metadataPath+Path)
	}
}
