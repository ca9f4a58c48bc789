package slack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/process"
	standinslack "github.com/fermata-hq/fermata/test/standin/slack"
)

func TestMain(m *testing.M) { process.Main(m) }

const (
	// underWay is how many messages Slack is processing when the server is killed.
	// afterwards is how many more are sent after the restart.
	underWay, afterwards = 8, 40
)

// killed is a real server with a stand-in for Slack, and a client of its admin.
type killed struct {
	*testing.T
	slack  *standinslack.Server
	server *process.Server
	front  *process.LoadBalancer
	admin  *client.Client
	token  string
	ada    string
}

func newKilled(t *testing.T, database []string) *killed {
	t.Helper()
	k := &killed{T: t, slack: standinslack.New()}
	t.Cleanup(k.slack.Close)
	k.server = process.Serve(t, process.Binary(t), database, "--allow-networks", "127.0.0.0/8")
	k.front = process.NewLoadBalancer(t, k.server)
	k.front.RetriesUntilReply = true
	k.token = k.server.FirstToken
	k.admin = k.front.Client(t, k.token)
	if _, err := k.admin.AddMember(t.Context(), client.NewMember{Handle: "ada", Role: fermata.RoleResponder}); err != nil {
		t.Fatal(err)
	}
	k.ada, _ = k.slack.AddPerson("Ada")
	k.call(http.MethodPut, "/v1/members/ada/identities/slack", map[string]any{"id": k.ada})
	k.call(http.MethodPost, "/v1/channels", map[string]any{"name": "slack", "kind": "slack", "settings": k.slack.Settings()})
	return k
}

func (k *killed) call(method, path string, in any) {
	k.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		k.Fatal(err)
	}
	req, err := http.NewRequestWithContext(k.Context(), method, k.admin.URL()+path, bytes.NewReader(body))
	if err != nil {
		k.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+k.token)
	req.Header.Set("Content-Type", "application/json")
	res, err := k.front.RoundTrip(req)
	if err != nil {
		k.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if text, err := io.ReadAll(res.Body); err != nil || res.StatusCode >= http.StatusMultipleChoices {
		k.Fatalf("%s %s: %s: %s (%v)", method, path, res.Status, text, err)
	}
}

// ask asks Ada n questions over Slack, and returns their ids.
func (k *killed) ask(n int) []string {
	k.Helper()
	task, err := k.admin.CreateTask(k.Context(), fermata.NewTask{Title: "Settle it", Runner: fermata.RunnerExternal})
	if err != nil {
		k.Fatal(err)
	}
	ids := make([]string, n)
	for i := range ids {
		title := fmt.Sprintf("Go on with %d?", i)

		q, err := k.admin.Ask(k.Context(), task.ID, fermata.Ask{
			Type: fermata.NonBlocking, Title: title, Channels: []string{"slack"}, Assignees: []string{"ada"},
			Items: []fermata.Item{{Key: "go", Prompt: title, ResponseType: fermata.ResponseBoolean, Default: true}},
		})
		if err != nil {
			k.Fatal(err)
		}
		ids[i] = q.ID
	}
	return ids
}

// seen counts the messages about each question, and those that are open.
func (k *killed) seen() (messages map[string]int, open int) {
	messages = map[string]int{}
	for _, m := range k.slack.VisibleMessages(k.ada) {
		messages[m.Question]++
		if !m.Closed {
			open++
		}
	}
	return messages, open
}

// Messages that Slack was processing when the server was killed arrive. The
// restarted server finds them instead of sending them twice, and at last every
// message shows how its question ended.
func TestServerIsKilledWhileMessagesAreUnderWay(t *testing.T) {
	t.Parallel()
	process.RunOnEachDatabase(t, func(t *testing.T, database []string) {
		t.Parallel()
		k := newKilled(t, database)
		hold := make(chan struct{})
		for range underWay {
			k.slack.Fail("chat.postMessage", standinslack.Fault{Wait: hold})
		}
		ids := k.ask(underWay)
		patience.Await(t, "the messages are under way", func() bool { return k.slack.Calls("chat.postMessage") >= underWay })
		k.server.Kill()
		// Slack posts the messages, but the killed server gets no reply.
		close(hold)
		patience.Await(t, "Slack has done it", func() bool { messages, _ := k.seen(); return len(messages) == underWay })
		k.server = process.Serve(t, process.Binary(t), database, "--allow-networks", "127.0.0.0/8")
		k.front.SetServers(k.server)
		ids = append(ids, k.ask(afterwards)...)
		k.rest()
		messages, _ := k.seen()
		for _, id := range ids {
			if messages[id] != 1 {
				t.Errorf("there are %d messages about %s", messages[id], id)
			}
		}
		for _, id := range ids {
			if _, err := k.admin.CancelQuestion(t.Context(), id, "enough"); err != nil {
				t.Fatal(err)
			}
		}
		patience.Await(t, "no message has a button left", func() bool { _, open := k.seen(); return open == 0 })
	})
}

// rest waits until everything is sent.
func (k *killed) rest() {
	k.Helper()
	patience.Await(k, "everything is sent", func() bool {
		for _, state := range []fermata.DeliveryState{fermata.DeliveryWaiting, fermata.DeliveryFailed} {
			rows, _, err := k.admin.Deliveries(k.Context(), client.DeliveryQuery{State: state, Limit: 1})
			if err != nil || len(rows) > 0 {
				return false
			}
		}
		return true
	})
}
