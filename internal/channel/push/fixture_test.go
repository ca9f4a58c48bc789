package push_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/channel/push"
	"github.com/fermata-hq/fermata/internal/notice"
	standin "github.com/fermata-hq/fermata/test/standin/push"
)

// fixture is a channel and a push service, with Ada's device.
type fixture struct {
	*push.Channel
	service *standin.Service
	device  json.RawMessage
	env     notice.Env
}

// memoryStore stores the channel's data.
type memoryStore struct{ kept sync.Map }

func (s *memoryStore) Load(_ context.Context, key string) (string, error) {
	value, _ := s.kept.Load(key)
	text, _ := value.(string)
	return text, nil
}

func (s *memoryStore) LoadOrStore(_ context.Context, key, value string) (string, error) {
	kept, _ := s.kept.LoadOrStore(key, value)
	return kept.(string), nil
}

func (s *memoryStore) Store(_ context.Context, key, value string) error {
	s.kept.Store(key, value)
	return nil
}

func newEnv() notice.Env {
	kept := &memoryStore{}
	return notice.Env{
		Name: "push", PublicURL: "https://fermata.example.com", HTTP: &http.Client{Timeout: 10 * time.Second},
		Load: kept.Load, Store: kept.Store, LoadOrStore: kept.LoadOrStore, Log: slog.New(slog.DiscardHandler),
	}
}

func newFixture(t *testing.T, settings string) *fixture {
	t.Helper()
	service, err := standin.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(service.Stop)
	w := &fixture{service: service, env: newEnv()}
	w.Channel = open(t, settings, w.env)
	key, err := w.PublicKey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if w.device, err = service.Subscribe("ada", key); err != nil {
		t.Fatal(err)
	}
	return w
}

func open(t *testing.T, settings string, env notice.Env) *push.Channel {
	t.Helper()
	c, err := push.Open(json.RawMessage(settings), env)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (w *fixture) shown(t *testing.T) []standin.Notification {
	t.Helper()
	for _, request := range w.service.Requests() {
		if request.Reason != "" {
			t.Logf("%d: %s", request.Status, request.Reason)
		}
	}
	return w.service.Shown("ada")
}

// onlyNotification returns the notification of the device, and checks that there is exactly
// one.
func (w *fixture) onlyNotification(t *testing.T) standin.Notification {
	t.Helper()
	shown := w.shown(t)
	if len(shown) != 1 {
		t.Fatalf("the device shows %d notifications: %+v", len(shown), shown)
	}
	return shown[0]
}

func (w *fixture) mustSend(t *testing.T, n *notice.Notice) notice.SentMessage {
	t.Helper()
	message, err := w.Send(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	return message
}

var now = time.Date(2026, 11, 21, 13, 5, 0, 0, time.UTC)

// approvalQuestion asks to run an action of low risk.
func approvalQuestion(action string) *fermata.Question {
	q := &fermata.Question{
		ID: "q_01", Type: fermata.Approval, Status: fermata.Pending, Title: "Clear the cache?", Project: "shop",
		Asked: fermata.Asked{
			Risk:  fermata.RiskLow,
			Items: []fermata.Item{{Key: "it", Prompt: "Clear the cache?", ResponseType: fermata.ResponseApproval}},
		},
	}
	if action != "" {
		sum := sha256.Sum256([]byte(action))
		q.Action, q.ActionHash = json.RawMessage(action), hex.EncodeToString(sum[:])
	}
	return q
}

func (w *fixture) notice(q *fermata.Question) *notice.Notice {
	return &notice.Notice{
		Delivery: "dlv_01", Purpose: notice.Asked, Question: q, Project: q.Project, TaskTitle: "Tidy up", Decide: true, At: now,
		To:   notice.Recipient{Member: "mem_1", Handle: "ada", Name: "Ada", Language: "en", Zone: "Europe/Berlin", Device: w.device},
		Open: "https://fermata.example.com/questions/" + q.ID, Answer: "https://fermata.example.com/a/link-of-ada", Reply: "reply-secret-of-ada",
	}
}
