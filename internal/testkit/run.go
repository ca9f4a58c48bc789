package testkit

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/fermata-hq/fermata/client"
)

// Run runs services until the test ends or calls stop. Stop returns when all of them have ended, and may be called twice.
func Run(tb testing.TB, services ...func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, service := range services {
		running.Go(func() { service(ctx) })
	}
	stop = sync.OnceFunc(func() { cancel(); running.Wait() })
	tb.Cleanup(stop)
	return stop
}

// Server is the HTTP server of a test. SetDraining ends its long requests.
type Server interface {
	http.Handler
	SetDraining()
}

// Serve serves HTTP until the test ends.
func Serve(tb testing.TB, s Server) *httptest.Server {
	server := httptest.NewServer(s)
	tb.Cleanup(server.Close)
	tb.Cleanup(s.SetDraining) // before the server closes, which waits for its requests
	return server
}

// NewClient returns a client with a token. Its connections end with the test.
func NewClient(tb testing.TB, url, token string) *client.Client {
	tb.Helper()
	c, err := client.New(url, token)
	OK(tb, err)
	tb.Cleanup(c.CloseIdleConnections)
	return c
}
