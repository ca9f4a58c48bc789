package app_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"testing"

	"github.com/fermata-hq/fermata/internal/app"
	"github.com/fermata-hq/fermata/test/patience"
)

// The first request after the first start finds the channels that come with the server.
func TestTheFirstRequestFindsItsChannel(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	ready, ended := make(chan int, 1), make(chan error, 1)
	go func() {
		ended <- app.Serve(ctx, app.ServeOptions{
			Listen: "127.0.0.1:0", Data: t.TempDir(), Version: "test", SingleUser: true, Log: slog.New(slog.DiscardHandler), Out: io.Discard,
			Ready: func(s app.Served) { go func() { ready <- statusOf(ctx, s.URL+"/v1/push/key") }() },
		})
	}()
	if status := patience.Receive(t, "the server answers", ready); status != http.StatusOK {
		t.Errorf("the key for push messages: status %d", status)
	}
	stop()
	if err := patience.Receive(t, "the server ends", ended); err != nil {
		t.Error(err)
	}
}

// statusOf returns the status of the answer, and 0 when there is none.
func statusOf(ctx context.Context, address string) int {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	_ = res.Body.Close()
	return res.StatusCode
}
