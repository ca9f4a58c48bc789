package process

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata/test/patience"
)

// Server is a running server.
type Server struct {
	*Child
	// URL is its address.
	URL string
	// FirstToken is the token of the first admin, which the first start on an empty database prints.
	FirstToken string
}

// Serve starts a server on a port of its own and returns when it is ready.
func Serve(tb testing.TB, binary string, database []string, args ...string) *Server {
	tb.Helper()
	s := Launch(tb, binary, database, args...)
	s.AwaitReady()
	return s
}

// Launch starts a server without waiting until it is ready.
func Launch(tb testing.TB, binary string, database []string, args ...string) *Server {
	tb.Helper()
	return LaunchWithEnv(tb, binary, nil, database, args...)
}

// LaunchWithEnv is like Launch, with additional environment variables, each as NAME=value.
func LaunchWithEnv(tb testing.TB, binary string, env, database []string, args ...string) *Server {
	tb.Helper()
	all := append([]string{"serve", "--listen", "127.0.0.1:0", "--log-level", "warn"}, database...)
	return &Server{Child: Start(tb, binary, env, append(all, args...)...)}
}

// AwaitReady waits until the server is ready, and reads what it printed.
func (s *Server) AwaitReady() {
	s.tb.Helper()
	patience.Await(s.tb, "the server is ready", func() bool {
		select {
		case <-s.ended:
			s.tb.Fatalf("the server ended instead of serving: %v\n%s", s.err, s.tail(20))
		default:
		}
		return s.isReady()
	})
	if token, ok := s.findLine("fmt_"); ok {
		s.FirstToken = "fmt_" + token
	}
}

func (s *Server) isReady() bool {
	announced, ok := s.findLine("fermata serves on ")
	if !ok {
		return false
	}
	s.URL, _, _ = strings.Cut(announced, " ")
	ctx, cancel := context.WithTimeout(context.Background(), patience.Limit())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/readyz", nil)
	if err != nil {
		s.tb.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return res.StatusCode == http.StatusOK
}
