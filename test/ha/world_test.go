//go:build lab

package ha

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/test/ha/cluster"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/process"
	standin "github.com/fermata-hq/fermata/test/standin/webhook"
	"github.com/fermata-hq/fermata/test/story"
)

func TestMain(m *testing.M) { process.Main(m) }

// pause is how long each client waits before each request. The measured times do not depend on a busy machine then.
const pause = 20 * time.Millisecond

// world is a running deployment and the load on it.
type world struct {
	*testing.T
	*cluster.Cluster
	front    *process.LoadBalancer
	random   *process.Random
	receiver *standin.Receiver
	story    *story.Story
}

// begin starts a deployment that ends with the test. Clients reach it through HAProxy alone. The change may be nil.
func begin(t *testing.T, change func(*cluster.Options)) *world {
	t.Helper()
	w := &world{T: t, random: process.NewRandom(t)}
	folder, err := os.MkdirTemp("", "fermata-ha-") //nolint:usetesting // PostgreSQL reads it as another user
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the logs are in %s", folder)
			return
		}
		_ = os.RemoveAll(folder)
	})
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	templates, err := filepath.Abs("../../deploy/ha")
	if err != nil {
		t.Fatal(err)
	}
	options := cluster.Options{
		Folder: folder, Templates: templates, Binary: process.Binary(t),
		Settings: []string{"FERMATA_LOG_LEVEL=warn"}, Report: func(step string) { t.Log(step) },
	}
	if change != nil {
		change(&options)
	}
	if options.Network == "" {
		options.Network = w.freeNetwork()
	}
	w.Cluster, err = cluster.Start(patience.Context(t), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Destroy)
	w.front = process.NewLoadBalancer(t, &process.Server{URL: w.URL()})
	w.front.Pause = pause
	return w
}

// freeNetwork returns the first three numbers of loopback addresses on which no other deployment runs.
func (w *world) freeNetwork() string {
	w.Helper()
	for {
		network := fmt.Sprintf("127.%d.%d", 80+w.random.N(100), w.random.N(250))
		listener, err := (&net.ListenConfig{}).Listen(w.Context(), "tcp", network+".1:7433")
		if err == nil {
			_ = listener.Close()
			return network
		}
	}
}

// load begins the story, and sends its events to a receiver of webhooks.
func (w *world) load() {
	w.Helper()
	w.receiver = standin.New(w)
	w.receiver.DiscardBodies()
	settings := w.receiver.Settings()
	settings["events"] = []string{string(fermata.EventTaskCreated)}
	w.post("/v1/channels", map[string]any{"name": "lab", "kind": "webhook", "settings": settings})
	w.story = story.Begin(w, w.front, w.random, w.FirstToken)
}

// end ends the load, and compares everything that was acknowledged and sent with what the database has.
func (w *world) end() {
	w.Helper()
	w.story.End()
	admin := w.front.Client(w, w.FirstToken)
	want := map[int64]bool{}
	for _, e := range w.events(admin) {
		if e.Type == fermata.EventTaskCreated {
			want[e.Seq] = true
		}
	}
	patience.Await(w, "every webhook has arrived", func() bool { return len(w.receiver.AcceptedCounts()) >= len(want) })
	ids := map[int64]string{}
	for id, seq := range w.receiver.Seqs() {
		if other, ok := ids[seq]; ok {
			w.Errorf("event %d was sent under two ids: %s and %s", seq, id, other)
		}
		if ids[seq] = id; !want[seq] {
			w.Errorf("event %d was sent, and did not happen", seq)
		}
	}
	for seq := range want {
		if ids[seq] == "" {
			w.Errorf("event %d was not sent", seq)
		}
	}
	w.Logf("%d webhooks for %d events; %d requests", len(ids), len(want), w.receiver.ReceivedCount())
}

func (w *world) events(admin *client.Client) []*fermata.Event {
	w.Helper()
	events, err := story.ReadEvents(admin)
	if err != nil {
		w.Fatal(err)
	}
	return events
}

// post calls the API as the first admin.
func (w *world) post(path string, body any) {
	w.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		w.Fatal(err)
	}
	req, err := http.NewRequestWithContext(w.Context(), http.MethodPost, w.URL()+path, bytes.NewReader(data))
	if err != nil {
		w.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+w.FirstToken)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		w.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode >= http.StatusMultipleChoices {
		w.Fatalf("%s: %s", path, res.Status)
	}
}

// awaitHealthy waits until PostgreSQL has a leader and two standbys, one of them synchronous, and all replicas are ready.
func (w *world) awaitHealthy() {
	w.Helper()
	ctx := patience.Context(w)
	if err := w.AwaitDatabases(ctx); err != nil {
		w.Fatal(err)
	}
	for _, m := range w.Applications {
		patience.Await(w, m.Name+" is ready", func() bool { return m.IsReady(ctx) })
	}
}

// leader returns the machine with the leader of PostgreSQL.
func (w *world) leader() (m *cluster.Machine) {
	w.Helper()
	patience.Await(w, "there is a leader", func() bool { m = w.Leader(w.Context()); return m != nil })
	return m
}

// standby returns the standby for which the leader waits, or another one.
func (w *world) standby(synchronous bool) (found *cluster.Machine) {
	w.Helper()
	patience.Await(w, "there is such a standby", func() bool {
		for _, m := range w.Databases {
			if m.IsStandby(w.Context()) && m.IsSynchronous(w.Context()) == synchronous {
				found = m
			}
		}
		return found != nil
	})
	return found
}

// awaitPromotion waits until another machine than the old one is the leader.
func (w *world) awaitPromotion(old *cluster.Machine) {
	w.Helper()
	patience.Await(w, "another machine is the leader", func() bool {
		return w.hasOtherLeader(w.Context(), old)
	})
}

func (w *world) hasOtherLeader(ctx context.Context, old *cluster.Machine) bool {
	for _, m := range w.Databases {
		if m != old && m.IsLeader(ctx) {
			return true
		}
	}
	return false
}
