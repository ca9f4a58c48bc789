package slack

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fermata-hq/fermata/internal/notice"
)

// silentTransport is a network that never responds.
type silentTransport struct{}

func (silentTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, context.Cause(r.Context())
}

// Slack gets its acknowledgement within three seconds, however long the outcome of a click takes.
func TestAcknowledgesWithinThreeSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		settings, err := json.Marshal(map[string]any{"bot_token": "xoxb-1", "conversation": "C1"})
		if err != nil {
			t.Fatal(err)
		}
		c, err := Open(settings, notice.Env{HTTP: &http.Client{Transport: silentTransport{}}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		began := time.Now()
		got, _ := (&interaction{c: c, user: "U1", in: &notice.Inbound{}}).run(ctx, nil)
		if took := time.Since(began); !got.isAcknowledgement() || took > 2500*time.Millisecond {
			t.Errorf("the click was answered with %d after %s", got.status, took)
		}
	})
}
