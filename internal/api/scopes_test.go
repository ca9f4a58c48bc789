package api_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/access"
	"github.com/fermata-hq/fermata/internal/channel/push"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/test/standin/wall"
)

// writesNothing are the calls other than GET that need no token or change
// nothing.
var writesNothing = []string{
	"POST /v1/sign-in/link", "POST /v1/sign-in/email", "POST /v1/sign-in/passkey/start", "POST /v1/sign-in/passkey/finish",
	"POST /v1/hooks/workflow/{name}", // it needs a signature instead
	"POST /v1/workflows/validate", "POST /v1/workflows/test",
}

// writingBodies are the bodies of the calls that need one. {q}, {task} and
// {run} are replaced by ids.
var writingBodies = map[string]string{
	"DELETE /v1/members/{id}/sessions": "", "PATCH /v1/channels/{name}": `{"enabled":false}`, "PATCH /v1/groups/{name}": `{"description":"d"}`,
	"PATCH /v1/members/{id}": `{"name":"Rob"}`, "PATCH /v1/tasks/{id}": `{"title":"u"}`,
	"POST /v1/answers": `{"items":[{"question_id":"{q}","answer":"yes"}]}`, "POST /v1/attention": `{"runs":[{"run_id":"{run}","token":1}]}`,
	"POST /v1/channels": `{"name":"n","kind":"wall","settings":{}}`, "POST /v1/claims": `{"worker":"w"}`,
	"POST /v1/gate-rules": `{"tool":"x","decision":"allow"}`, "POST /v1/gates": `{"tool":"x","task_id":"{task}"}`,
	"POST /v1/grants/verify": `{"grant":"g","action":{}}`, "POST /v1/groups": `{"name":"h"}`, "POST /v1/invitations": `{"handle":"new"}`,
	"POST /v1/me/devices": `{"subscription":{"endpoint":"https://push.example.com/x","keys":{"p256dh":"x","auth":"x"}}}`,
	"POST /v1/members":    `{"handle":"new"}`, "POST /v1/notifications/read": `{"up_to":1}`, "POST /v1/me/notifications/test": `{"channel":"wall"}`,
	"POST /v1/passkeys/finish": `{"credential":{}}`, "POST /v1/questions": `{"question":"?"}`,
	"POST /v1/questions/{id}/answer": `{"answer":"yes"}`, "POST /v1/questions/{id}/assign": `{"assignees":["rob"]}`,
	"POST /v1/questions/{id}/clarify": `{"body":"c"}`, "POST /v1/questions/{id}/comments": `{"body":"c"}`, "POST /v1/questions/{id}/extend": `{"by":"1h"}`,
	"POST /v1/questions/{id}/decision": `{"answer":"yes"}`, "POST /v1/questions/{id}/snooze": `{"for":"1h"}`, "POST /v1/runs/{id}/finish": `{"token":1,"result":"completed"}`,
	"POST /v1/runs/{id}/heartbeat": `{"token":1}`, "POST /v1/runs/{id}/log": `{"token":1,"text":"t"}`, "POST /v1/runs/{id}/progress": `{"token":1,"message":"m"}`,
	"POST /v1/runs/{id}/release": `{"token":1}`, "POST /v1/tasks": `{"title":"t"}`, "POST /v1/tasks/{id}/finish": `{"result":"completed"}`,
	"POST /v1/tasks/{id}/messages": `{"body":"m"}`, "POST /v1/tasks/{id}/progress": `{"message":"m"}`, "POST /v1/tasks/{id}/questions": `{"question":"?"}`,
	"POST /v1/tasks/{id}/messages/handed": `{"message_ids":["msg_01hzzzzzzzzzzzzzzzzz"]}`,
	"POST /v1/workers/leave":              `{"worker":"w"}`,
	"POST /v1/tokens":                     `{"name":"t","scopes":["read"]}`, "POST /v1/tools": `{"items":[{"name":"t","command":["ls"]}]}`,
	"PUT /v1/mcp-servers/{name}": `{"command":["ls"]}`, "PUT /v1/me/notifications": `{"zone":"","digest":"off"}`,
	"PUT /v1/members/{id}/identities/{kind}": `{"id":"x"}`, "PUT /v1/members/{id}/notifications": `{"zone":"","digest":"off"}`,
	"PUT /v1/policies":        `{"min_timeout":"5m","max_timeout":"24h","allow_never":true,"allow_longer":true,"allow_shorter":true}`,
	"PUT /v1/routes":          `{"blocking":[],"approval":[],"error_recovery":[],"non_blocking":[],"progress":[]}`,
	"POST /v1/workflows/test": `{"source":"name: t\nsteps: [{id: a, tool: wait, input: {for: 1s}}]\n"}`,
	"PUT /v1/tools/{name}":    `{"command":["ls"]}`, "PUT /v1/views/{name}": `{"query":"q"}`,
}

// addDelivery gives the world a delivery service and passkeys.
func (w *world) addDelivery() {
	w.Helper()
	w.api.Delivery = delivery.New(delivery.Options{
		DB: w.DB, Engine: w.Engine,
		Kinds: []delivery.Kind{wall.NewKind(delivery.ToPeople), {
			Name: push.Kind, Audience: delivery.ToPeople, BuiltIn: true, Settings: push.Schema,
			Open: func(settings json.RawMessage, env notice.Env) (delivery.Channel, error) {
				return push.Open(settings, env)
			},
		}},
	})
	var err error
	if w.api.Passkeys, err = access.NewPasskeys(w.Engine, "localhost", "http://localhost"); err != nil {
		w.Fatal(err)
	}
}

// realIDs creates one object of every kind that a path can name, most of them
// rob's. It returns a replacer that fills their ids into paths.
func (w *world) realIDs() *strings.Replacer {
	w.Helper()
	rob := w.member("rob").ID
	q := w.ask(say)
	var run struct{ Run struct{ ID string } }
	work := w.task(`{"title":"work"}`)
	w.must(http.StatusOK, w.agent, "POST /v1/claims", `{"worker":"w"}`, &run)
	var rule, token, invitation, channel struct{ ID string }
	w.must(http.StatusCreated, w.admin, "POST /v1/gate-rules", `{"tool":"x","decision":"ask"}`, &rule)
	w.must(http.StatusCreated, w.admin, "POST /v1/tokens", `{"name":"more","kind":"human","member":"rob","scopes":["read"]}`, &token)
	w.must(http.StatusCreated, w.admin, "POST /v1/invitations", `{"handle":"guest"}`, &invitation)
	w.must(http.StatusCreated, w.admin, "POST /v1/groups", `{"name":"g"}`, nil)
	w.must(http.StatusOK, w.admin, "PUT /v1/tools/mcp", `{"server":{"command":["ls"]}}`, nil)
	w.put(deploy)
	var workflowRun struct{ ID string }
	w.must(http.StatusCreated, w.admin, "POST /v1/workflows/deploy/runs", `{"inputs":{"version":"1"}}`, &workflowRun)
	there := wall.New()
	w.Cleanup(there.Close)
	w.must(http.StatusCreated, w.admin, "POST /v1/channels", quoted(map[string]any{"name": "wall", "kind": "wall", "settings": there.Settings()}), &channel)
	w.must(http.StatusOK, w.admin, "PUT /v1/members/rob/identities/wall", `{"id":"wall-rob"}`, nil)
	w.signIn("rob")
	var sessions struct{ Items []struct{ ID string } }
	w.must(http.StatusOK, w.admin, "GET /v1/members/rob/sessions", "", &sessions)
	now := time.Now().UTC()
	passkey, device, sent := fermata.NewID(fermata.PrefixPasskey, now), fermata.NewID(fermata.PrefixDevice, now), fermata.NewID(fermata.PrefixDelivery, now)
	if err := w.DB.Write(w.Context(), store.DefaultWorkspace, func(tx *store.Tx) error {
		tx.InsertPasskey(&fermata.Passkey{ID: passkey, MemberID: rob, Name: "k", CreatedAt: now, CredentialID: "c", Credential: "{}"})
		tx.InsertDevice(&fermata.Device{ID: device, MemberID: rob, Name: "d", AddedAt: now})
		tx.SaveView(fermata.SavedView{Name: "v", Query: "q", OwnerID: rob, UpdatedAt: now})
		d := &fermata.Delivery{ID: sent, ChannelID: channel.ID, Kind: "wall", MemberID: rob, Purpose: "test", State: fermata.DeliverySent, CreatedAt: now}
		d.UniqueKey, d.QuestionID, d.TaskID = "test", q.ID, q.TaskID
		tx.PlanDelivery(d)
		return nil
	}); err != nil {
		w.Fatal(err)
	}
	return strings.NewReplacer("{q}", q.ID, "{run}", run.Run.ID, "{task}", work.ID, "{kind}", "wall",
		"/channels/{name}", "/channels/wall", "/groups/{name}", "/groups/g", "/tools/{name}", "/tools/mcp", "/mcp-servers/{name}", "/mcp-servers/mcp",
		"/workflows/{name}", "/workflows/deploy", "/views/{name}", "/views/v", "/deliveries/{id}", "/deliveries/"+sent, "/gate-rules/{id}", "/gate-rules/"+rule.ID,
		"/invitations/{id}", "/invitations/"+invitation.ID, "/me/devices/{id}", "/me/devices/"+device, "/members/{id}", "/members/rob",
		"/passkeys/{id}", "/passkeys/"+passkey, "/questions/{id}", "/questions/"+q.ID, "/runs/{id}", "/runs/"+run.Run.ID, "/sessions/{id}", "/sessions/"+sessions.Items[0].ID,
		"/tasks/{id}", "/tasks/"+work.ID, "/tokens/{id}", "/tokens/"+token.ID, "/workflow-runs/{id}", "/workflow-runs/"+workflowRun.ID)
}

// A token that may only read changes nothing, for any kind of caller: no
// setting of the person, no device for messages, no session.
func TestAReadTokenWritesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addDelivery()
	readers := map[string]string{
		"admin": w.token(`{"name":"r","kind":"human","member":"rob","role":"admin","scopes":["read"]}`),
		"agent": w.token(`{"name":"a","scopes":["read"]}`),
	}
	ids := w.realIDs()
	writingBodies := mapOf(writingBodies, "PUT /v1/workflows/{name}", quoted(map[string]any{"source": deploy}))
	head := w.Head()
	for path, calls := range readDocument(t, w).Paths {
		for method := range calls {
			call := strings.ToUpper(method) + " " + path
			if strings.HasPrefix(call, "GET ") || slices.Contains(writesNothing, call) {
				continue
			}
			address := ids.Replace(call)
			if strings.Contains(address, "{") {
				t.Errorf("the test has no id for %s", call)
			}
			for name, token := range readers {
				r := w.call(token, address, ids.Replace(writingBodies[call]))
				var p struct{ Code string }
				if err := json.Unmarshal(r.body, &p); r.status != http.StatusForbidden || err != nil || p.Code != "forbidden" && p.Code != "not_eligible" {
					t.Errorf("%s with a token of the %s that reads: %d %s", call, name, r.status, r.body)
				}
			}
		}
	}
	if now := w.Head(); now != head {
		t.Errorf("%d events were written", now-head)
	}
}

func mapOf(m map[string]string, key, value string) map[string]string {
	out := map[string]string{key: value}
	for k, v := range m {
		out[k] = v
	}
	return out
}

// A token cannot make a link to a session with more rights than it has.
func TestATokenMakesNoStrongerSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, tt := range map[string]struct {
		token  string
		status int
	}{
		"asks":    {w.token(`{"name":"t","kind":"human","member":"ann","scopes":["ask"]}`), http.StatusForbidden},
		"answers": {w.token(`{"name":"t","kind":"human","member":"ann","scopes":["answer"]}`), http.StatusForbidden},
		"all":     {w.token(`{"name":"t","kind":"human","member":"ann","scopes":["answer","ask","read"]}`), http.StatusCreated},
	} {
		if r := w.call(tt.token, "POST /v1/members/ann/links", ""); r.status != tt.status {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
	}
}

// A device must be what a browser provides: an address of a push service, and
// keys.
func TestADeviceIsABrowsers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addDelivery()
	const point = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
	add := func(endpoint, p256dh, auth string) int {
		return w.call(w.human, "POST /v1/me/devices", quoted(map[string]any{
			"subscription": map[string]any{"endpoint": endpoint, "keys": map[string]string{"p256dh": p256dh, "auth": auth}},
		})).status
	}
	const secret, good = "BTBZMqHH6r4Tts7J_aSIgg", "https://updates.push.services.mozilla.com/wpush/v2/x"
	for name, tt := range map[string][3]string{
		"plain http": {"http://push.example.com/x", point, secret}, "a number for a host": {"https://93.184.216.34/x", point, secret},
		"a private address": {"https://10.0.0.1/x", point, secret}, "metadata": {"http://169.254.169.254/x", point, secret},
		"a short name": {"https://intranet/x", point, secret}, "a password": {"https://a:b@push.example.com/x", point, secret},
		"no host": {"https:///x", point, secret}, "another scheme": {"file:///etc/passwd", point, secret},
		"no point": {good, "garbage", secret}, "an empty point": {good, "AAAA", secret}, "a short secret": {good, point, "x"}, "a long secret": {good, point, point},
	} {
		if got := add(tt[0], tt[1], tt[2]); got != http.StatusBadRequest {
			t.Errorf("%s: %d", name, got)
		}
	}
	if got := add(good, point, secret); got != http.StatusCreated {
		t.Errorf("a browser's: %d", got)
	}
}
