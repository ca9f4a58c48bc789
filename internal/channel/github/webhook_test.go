package github_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata/internal/channel/github"
	standin "github.com/fermata-hq/fermata/test/standin/github"
)

// genuineDelivery returns a valid webhook, as GitHub sends it.
func genuineDelivery(w *fixture) *standin.Delivery {
	w.t.Helper()
	w.hub.AddUser("ada", "write")
	w.hub.SetInbound("http://127.0.0.1:1/v1/inbound/github/webhook") // no server listens there
	w.hub.Comment("ada", standin.Issue, "B")
	sent := w.hub.Deliveries()
	return sent[len(sent)-1]
}

func request(d *standin.Delivery, body []byte, signature string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/v1/inbound/github/webhook", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-GitHub-Event", d.Event)
	r.Header.Set("X-GitHub-Delivery", d.GUID)
	if signature != "" {
		r.Header.Set("X-Hub-Signature-256", signature)
	}
	return r
}

func status(h http.Handler, r *http.Request) int {
	code, _ := responseOf(h, r)
	return code
}

func responseOf(h http.Handler, r *http.Request) (int, string) {
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, r)
	return answer.Code, answer.Body.String()
}

func TestForgedWebhooksAreNeverHeard(t *testing.T) {
	t.Parallel()
	w := newFixture(t, map[string]any{"poll": "off"})
	w.send(w.question(firstID, choice()))
	d := genuineDelivery(w)
	h := w.channel.Handler(w.server.hear)
	good := standin.Sign(d.Body, standin.Secret)
	random := rand.New(rand.NewPCG(1, 2))
	some := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		return b
	}
	flip := func(b []byte) []byte {
		c := bytes.Clone(b)
		c[random.IntN(len(c))] ^= 1 << random.IntN(8)
		return c
	}
	forgeries := []struct {
		name string
		make func() *http.Request
	}{
		{"a changed bit of the body", func() *http.Request { return request(d, flip(d.Body), good) }},
		{"a changed bit of the signature", func() *http.Request {
			mac, _ := hex.DecodeString(good[len("sha256="):])
			return request(d, d.Body, "sha256="+hex.EncodeToString(flip(mac)))
		}},
		{"another secret", func() *http.Request { return request(d, d.Body, standin.Sign(d.Body, string(some(24)))) }},
		{"no secret", func() *http.Request { return request(d, d.Body, standin.Sign(d.Body, "")) }},
		{"an invented signature", func() *http.Request { return request(d, d.Body, "sha256="+hex.EncodeToString(some(32))) }},
		{"a cut signature", func() *http.Request { return request(d, d.Body, good[:len(good)-1-random.IntN(len(good)-1)]) }},
		{"no signature", func() *http.Request { return request(d, d.Body, "") }},
		{"a byte more", func() *http.Request { return request(d, append(bytes.Clone(d.Body), some(1)...), good) }},
		{"a byte less", func() *http.Request { return request(d, d.Body[:len(d.Body)-1], good) }},
		{"the weak signature alone", func() *http.Request {
			mac := hmac.New(sha1.New, []byte(standin.Secret))
			_, _ = mac.Write(d.Body)
			r := request(d, d.Body, "")
			r.Header.Set("X-Hub-Signature", "sha1="+hex.EncodeToString(mac.Sum(nil)))
			return r
		}},
		{"the weak signature in the place of the strong", func() *http.Request {
			mac := hmac.New(sha1.New, []byte(standin.Secret))
			_, _ = mac.Write(d.Body)
			return request(d, d.Body, "sha1="+hex.EncodeToString(mac.Sum(nil)))
		}},
		{"two signatures", func() *http.Request {
			r := request(d, flip(d.Body), good)
			r.Header.Add("X-Hub-Signature-256", good)
			return r
		}},
	}
	const each = 4_000
	for _, f := range forgeries {
		for range each {
			if got := status(h, f.make()); got != http.StatusUnauthorized {
				t.Fatalf("%s is answered %d", f.name, got)
			}
		}
	}
	if heard := w.server.heardMessages(); len(heard) != 0 {
		t.Fatalf("%d of %d forgeries are heard", len(heard), each*len(forgeries))
	}
	if got := status(h, request(d, d.Body, good)); got != http.StatusOK || len(w.server.heardMessages()) != 1 {
		t.Errorf("the genuine one is answered %d and heard %d times", got, len(w.server.heardMessages()))
	}
}

// These webhooks are signed, but are not a new comment of a person in our
// repository.
func TestSignedWebhooksThatAreNotHeard(t *testing.T) {
	t.Parallel()
	w := newFixture(t, map[string]any{"app_id": standin.AppID, "poll": "off"})
	w.send(w.question(firstID, choice()))
	d := genuineDelivery(w)
	h := w.channel.Handler(w.server.hear)
	tests := map[string]struct {
		change func(map[string]any)
		event  string
		status int
	}{
		"edited":                  {func(e map[string]any) { e["action"] = "edited" }, "", http.StatusOK},
		"deleted":                 {func(e map[string]any) { e["action"] = "deleted" }, "", http.StatusOK},
		"another event":           {func(map[string]any) {}, "pull_request_review_comment", http.StatusOK},
		"no event":                {func(map[string]any) {}, " ", http.StatusOK},
		"another repository":      {func(e map[string]any) { e["repository"] = map[string]any{"full_name": "octo/other"} }, "", http.StatusOK},
		"no repository":           {func(e map[string]any) { delete(e, "repository") }, "", http.StatusOK},
		"a path for a repository": {func(e map[string]any) { e["repository"] = map[string]any{"full_name": "octo/hello/../../x"} }, "", http.StatusOK},
		"another installation":    {func(e map[string]any) { e["installation"] = map[string]any{"id": 1} }, "", http.StatusOK},
		"no installation":         {func(e map[string]any) { delete(e, "installation") }, "", http.StatusOK},
		"another sender":          {func(e map[string]any) { e["sender"] = map[string]any{"id": 1, "login": "x"} }, "", http.StatusOK},
		"an old comment": {func(e map[string]any) {
			comment(e)["created_at"] = time.Now().Add(-73 * time.Hour).Format(time.RFC3339)
		}, "", http.StatusOK},
		"a comment without time":   {func(e map[string]any) { delete(comment(e), "created_at") }, "", http.StatusOK},
		"a comment without number": {func(e map[string]any) { delete(comment(e), "id") }, "", http.StatusOK},
		"no comment":               {func(e map[string]any) { delete(e, "comment") }, "", http.StatusOK},
		"no person":                {func(e map[string]any) { delete(comment(e), "user"); delete(e, "sender") }, "", http.StatusOK},
		"wrong types":              {func(e map[string]any) { e["comment"] = "B" }, "", http.StatusBadRequest},
	}
	for name, test := range tests {
		var e map[string]any
		if err := json.Unmarshal(d.Body, &e); err != nil {
			t.Fatal(err)
		}
		test.change(e)
		body := mustEncode(t, e)
		r := request(d, body, standin.Sign(body, standin.Secret))
		if test.event != "" {
			r.Header.Set("X-GitHub-Event", test.event)
		}
		if got := status(h, r); got != test.status || len(w.server.heardMessages()) != 0 {
			t.Errorf("%s is answered %d and heard %d times", name, got, len(w.server.heardMessages()))
		}
	}
}

func comment(e map[string]any) map[string]any { return e["comment"].(map[string]any) }

func TestRequestsThatAreNoWebhooks(t *testing.T) {
	t.Parallel()
	w := newFixture(t, map[string]any{"poll": "off"})
	w.send(w.question(firstID, choice()))
	d := genuineDelivery(w)
	h := w.channel.Handler(w.server.hear)
	signed := func(body []byte) *http.Request { return request(d, body, standin.Sign(body, standin.Secret)) }
	with := func(r *http.Request, name, value string) *http.Request { r.Header.Set(name, value); return r }
	large := []byte(`{"padding":"` + strings.Repeat("x", 1<<20) + `"}`)
	tests := map[string]struct {
		request *http.Request
		status  int
	}{
		"GET":         {httptest.NewRequest(http.MethodGet, "/v1/inbound/github/webhook", nil), http.StatusMethodNotAllowed},
		"a form":      {with(signed(d.Body), "Content-Type", "application/x-www-form-urlencoded"), http.StatusUnsupportedMediaType},
		"no type":     {with(signed(d.Body), "Content-Type", ""), http.StatusUnsupportedMediaType},
		"too large":   {signed(large), http.StatusRequestEntityTooLarge},
		"no number":   {with(signed(d.Body), "X-GitHub-Delivery", ""), http.StatusBadRequest},
		"a bad one":   {with(signed(d.Body), "X-GitHub-Delivery", "<script>"), http.StatusBadRequest},
		"no JSON":     {signed([]byte("{")), http.StatusBadRequest},
		"empty":       {signed(nil), http.StatusBadRequest},
		"a ping":      {with(signed([]byte(`{"zen":"Keep it logically awesome."}`)), "X-GitHub-Event", "ping"), http.StatusOK},
		"a JSON list": {signed([]byte(`[]`)), http.StatusBadRequest},
	}
	for name, test := range tests {
		if got := status(h, test.request); got != test.status {
			t.Errorf("%s is answered %d, want %d", name, got, test.status)
		}
	}
	if len(w.server.heardMessages()) != 0 {
		t.Errorf("heard %+v", w.server.heardMessages())
	}
	without := w.open(map[string]any{"webhook_secret": nil}).Handler(w.server.hear)
	if got := status(without, request(d, d.Body, standin.Sign(d.Body, ""))); got != http.StatusNotFound {
		t.Errorf("without a secret it is answered %d", got)
	}
}

// FuzzWebhook sends any signed body. The handler must not panic, and must not
// pass anything on.
func FuzzWebhook(f *testing.F) {
	f.Add("issue_comment", []byte(`{"action":"created","comment":{"id":1,"user":{"id":1,"type":"User"}},"sender":{"id":1},"repository":{"full_name":"octo/hello"},"issue":{"number":7}}`))
	f.Add("issues", []byte(`{"action":"labeled","issue":{"number":7},"label":{"name":"a"},"sender":{"id":1},"repository":{"full_name":"octo/hello"}}`))
	f.Add("ping", []byte(`{}`))
	channel, err := github.Open([]byte(fmt.Sprintf(`{"token":"x","repository":"octo/hello","webhook_secret":%q,"api_url":"http://127.0.0.1:1/"}`, standin.Secret)), (&fixture{store: &memoryStore{values: map[string]string{}}}).env())
	if err != nil {
		f.Fatal(err)
	}
	d := &fakeServer{}
	h := channel.Handler(d.hear)
	f.Fuzz(func(t *testing.T, event string, body []byte) {
		r := request(&standin.Delivery{Event: event, GUID: "72d3162e-cc78-11e3-81ab-000000000001"}, body, standin.Sign(body, standin.Secret))
		if got := status(h, r); got >= 500 || len(d.heardMessages()) != 0 {
			t.Errorf("%s %s is answered %d", event, body, got)
		}
	})
}
