package slack

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/slack-go/slack/slacktest"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/channel/slack"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/test/patience"
)

// TestAgainstTheLibrarysServer posts to the test server of Slack's client
// library, and answers over its Socket Mode.
func TestAgainstTheLibrarysServer(t *testing.T) {
	t.Parallel()
	// These methods of Slack are missing in the library's server.
	var opened sync.Once
	connected := make(chan struct{})
	server := slacktest.NewTestServer(func(c slacktest.Customize) {
		c.Handle("/conversations.open", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"ok": true, "channel": {"id": "D024BE91L"}}`))
		})
		c.Handle("/apps.connections.open", func(w http.ResponseWriter, r *http.Request) {
			opened.Do(func() { close(connected) })
			_, _ = w.Write([]byte(`{"ok": true, "url": "ws://` + r.Host + `/ws"}`))
		})
	})
	server.Start()
	t.Cleanup(server.Stop)
	settings, err := json.Marshal(map[string]any{
		"bot_token": "xoxb-test", "app_token": "xapp-test", "conversation": "C0ROOM", "api_url": server.GetAPIURL(),
	})
	if err != nil {
		t.Fatal(err)
	}
	channel, err := slack.Open(settings, notice.Env{Name: "slack", HTTP: &http.Client{}})
	if err != nil {
		t.Fatal(err)
	}
	const question, secret = "q_01m8064veqdve1dcbggk", "the-secret-of-one-person"
	sent, err := channel.Send(t.Context(), &notice.Notice{
		Delivery: "dlv_1", Purpose: notice.Asked, Decide: true, Reply: secret, To: notice.Recipient{Member: "mem_1", ID: "W012A3CDE"},
		Question: &fermata.Question{
			ID: question, Type: fermata.Blocking, Status: fermata.Pending, Title: "Go on?",
			Asked: fermata.Asked{
				Items: []fermata.Item{{Key: "ok", Prompt: "Go on?", ResponseType: fermata.ResponseBoolean}},
			},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(sent.Ref), "D024BE91L") {
		t.Errorf("it went to %s", sent.Ref)
	}
	heard := make(chan notice.Inbound, 1)
	hear := func(_ context.Context, in *notice.Inbound) (notice.Verdict, error) {
		heard <- *in
		return notice.Verdict{Counted: true, Words: "It counted."}, nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- channel.Listen(ctx, hear) }()
	defer func() {
		cancel()
		if err := patience.Receive(t, "Listen ends", ended); err != nil {
			t.Errorf("Listen ended with %v", err)
		}
	}()
	patience.Receive(t, "it connects", connected)
	value, err := json.Marshal(map[string]any{"q": question, "r": secret, "k": "ok", "v": true})
	if err != nil {
		t.Fatal(err)
	}
	payload, err := json.Marshal(map[string]any{
		"envelope_id": "e-1", "type": "interactive", "accepts_response_payload": true,
		"payload": map[string]any{
			"type": "block_actions", "trigger_id": "t-1", "user": map[string]any{"id": "W012A3CDE"}, "channel": map[string]any{"id": "D024BE91L"},
			"message": map[string]any{"ts": "1.1"}, "actions": []any{map[string]any{"block_id": "b", "action_id": "answer:yes", "type": "button", "value": string(value)}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	server.SendToWebsocket(string(payload))
	in := patience.Receive(t, "the click is heard", heard)
	if in.Question != question || in.Reply != secret || in.From.ID != "W012A3CDE" || in.Answer == nil || in.Answer.Answer != true {
		t.Errorf("it was heard as %+v", in)
	}
	patience.Await(t, "the envelope is acknowledged", func() bool { return acknowledged(server.GetSeenInboundMessages()) })
}

func acknowledged(messages []string) bool {
	for _, m := range messages {
		if strings.Contains(m, `"envelope_id":"e-1"`) {
			return true
		}
	}
	return false
}
