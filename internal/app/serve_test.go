package app

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"testing"
)

// The server has its built-in channels before it answers the first request.
func TestTheFirstRequestFindsItsChannel(t *testing.T) {
	t.Parallel()
	options := ServeOptions{Listen: "127.0.0.1:0", Data: t.TempDir(), Version: "test", SingleUser: true, Log: slog.New(slog.DiscardHandler), Out: io.Discard}
	err := serveDuring(t.Context(), options, func(ctx context.Context, s RunningServer) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/v1/push/key", nil)
		if err != nil {
			return err
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		if res.StatusCode != http.StatusOK {
			t.Errorf("the key for push messages: %s", res.Status)
		}
		return res.Body.Close()
	})
	if err != nil {
		t.Error(err)
	}
}
