package webhooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/testkit"
	"github.com/fermata-hq/fermata/test/process"
)

func TestMain(m *testing.M) { process.Main(m) }

// world is a real server that may be killed, and its admin.
type world struct {
	testkit.Test
	binary   string
	database []string
	server   *process.Server
	front    *process.LoadBalancer
	token    string
	admin    *client.Client
}

func begin(t *testing.T, database []string) *world {
	t.Helper()
	w := &world{Test: testkit.Test{T: t}, binary: process.Binary(t), database: database}
	w.server = process.Serve(t, w.binary, database)
	w.front = process.NewLoadBalancer(t, w.server)
	w.front.RetriesUntilReply = true
	w.token = w.server.FirstToken
	w.admin = w.front.Client(t, w.token)
	return w
}

// kill kills the server with SIGKILL and starts a new one on the same database.
func (w *world) kill() {
	w.Helper()
	w.server.Kill()
	w.server = process.Serve(w, w.binary, w.database)
	w.front.SetServers(w.server)
}

// call calls the API and decodes the reply into out.
func (w *world) call(method, path string, in, out any) {
	w.Helper()
	var body io.Reader = http.NoBody
	if in != nil {
		data, err := json.Marshal(in)
		w.OK(err)
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequest(method, w.admin.URL()+path, body)
	w.OK(err)
	req.Header.Set("Authorization", "Bearer "+w.token)
	req.Header.Set("Content-Type", "application/json")
	res, err := w.front.RoundTrip(req)
	w.OK(err)
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	w.OK(err)
	if res.StatusCode >= http.StatusMultipleChoices {
		w.Fatalf("%s %s: %s: %s", method, path, res.Status, data)
	}
	if out != nil {
		if err := json.Unmarshal(data, out); err != nil {
			w.Fatalf("%s %s: %v: %s", method, path, err, data)
		}
	}
}

// channel is a channel as the API returns it.
type channel struct {
	Name      string         `json:"name"`
	Settings  map[string]any `json:"settings"`
	Enabled   bool           `json:"enabled"`
	LastError string         `json:"last_error"`
}

// addChannel adds a webhook channel for the settings.
func (w *world) addChannel(name string, settings map[string]any) channel {
	w.Helper()
	var c channel
	w.call(http.MethodPost, "/v1/channels", map[string]any{"name": name, "kind": "webhook", "settings": settings}, &c)
	return c
}

func (w *world) channel(name string) channel {
	w.Helper()
	var c channel
	w.call(http.MethodGet, "/v1/channels/"+name, nil, &c)
	return c
}

// delivery is a delivery as the API returns it.
type delivery struct {
	ID        string `json:"id"`
	State     string `json:"state"`
	Attempts  int    `json:"attempts"`
	LastError string `json:"last_error"`
}

// deliveries returns the deliveries of a channel that are in a state.
func (w *world) deliveries(channel, state string) []delivery {
	w.Helper()
	var all []delivery
	cursor := ""
	for {
		var page struct {
			Items      []delivery `json:"items"`
			Deliveries []delivery `json:"deliveries"`
			Next       string     `json:"next_cursor"`
		}
		w.call(http.MethodGet, fmt.Sprintf("/v1/deliveries?channel=%s&state=%s&limit=100&cursor=%s", channel, state, cursor), nil, &page)
		all = append(append(all, page.Items...), page.Deliveries...)
		if cursor = page.Next; cursor == "" {
			return all
		}
	}
}

// createTasks creates tasks with many clients at once.
func (w *world) createTasks(n int) {
	w.Helper()
	var wg sync.WaitGroup
	var next atomic.Int64
	for range 16 {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				if _, err := w.admin.CreateTask(w.Context(), fermata.NewTask{Title: fmt.Sprintf("Task %d", i)}); err != nil {
					w.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// created returns the numbers of the events of created tasks.
func (w *world) created() map[int64]bool {
	w.Helper()
	seqs := map[int64]bool{}
	var after int64
	for {
		events, _, err := w.admin.Events(w.Context(), client.EventQuery{After: after, Types: []fermata.EventType{fermata.EventTaskCreated}, Limit: 500})
		w.OK(err)
		for _, e := range events {
			seqs[e.Seq], after = true, e.Seq
		}
		if len(events) == 0 {
			return seqs
		}
	}
}

func secretOf(c channel) string {
	secret, _ := c.Settings["secret"].(string)
	if !strings.HasPrefix(secret, "whsec_") {
		return ""
	}
	return secret
}
