package api_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/api"
)

func singleUser(c *api.Config) { c.SingleUser, c.AllowedHosts = true, []string{"box.lan"} }

// createTaskFrom creates a task by calling the handler directly, so that the test can choose the peer.
func (w *world) createTaskFrom(peer, host string, body io.Reader, headers ...string) int {
	r := httptest.NewRequestWithContext(w.Context(), http.MethodPost, "/v1/tasks", body)
	r.RemoteAddr, r.Host = peer, host
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	rec := httptest.NewRecorder()
	w.api.ServeHTTP(rec, r)
	return rec.Code
}

func TestSingleUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t, singleUser)
	tests := []struct {
		name, peer, host string
		headers          []string
		status           int
	}{
		{"this machine", "127.0.0.1:9", "127.0.0.1:7433", nil, 201},
		{"this machine by name", "[::1]:9", "localhost:7433", nil, 201},
		{"another machine", "192.0.2.1:9", "127.0.0.1:7433", nil, 401},
		{"rebound name", "127.0.0.1:9", "evil.example:7433", nil, 403},
		{"allowed name is no loopback", "127.0.0.1:9", "box.lan:7433", nil, 401},
		{"allowed name with a token", "192.0.2.1:9", "box.lan", []string{"Authorization", "Bearer " + w.agent}, 201},
		{"behind a proxy", "127.0.0.1:9", "127.0.0.1", []string{"X-Forwarded-For", "192.0.2.1"}, 401},
		{"foreign page", "127.0.0.1:9", "127.0.0.1:7433", []string{"Origin", "https://evil.example"}, 403},
		{"foreign page, new browser", "127.0.0.1:9", "127.0.0.1:7433", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"own page", "127.0.0.1:9", "127.0.0.1:7433", []string{"Sec-Fetch-Site", "same-origin"}, 201},
		{"wrong token", "127.0.0.1:9", "127.0.0.1:7433", []string{"Authorization", "Bearer nope"}, 401},
		{"other scheme", "127.0.0.1:9", "127.0.0.1:7433", []string{"Authorization", "Basic eDp5"}, 401},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := w.createTaskFrom(tt.peer, tt.host, strings.NewReader(`{"title":"t"}`), tt.headers...); got != tt.status {
				t.Errorf("got %d, want %d", got, tt.status)
			}
		})
	}
}

// A token of another server is refused also where none is needed, and the hint says so.
func TestSingleUserNeedsNoToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, singleUser)
	for _, path := range []string{"/v1/tasks", "/v1/whoami"} {
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:7433"+path, http.NoBody)
		r.RemoteAddr = "127.0.0.1:9"
		r.Header.Set("Authorization", "Bearer "+fermata.NewSecret())
		rec := httptest.NewRecorder()
		w.api.ServeHTTP(rec, r)
		if rec.Code != http.StatusUnauthorized || !strings.Contains(rec.Body.String(), "fermata logout") {
			t.Errorf("%s: %d %s", path, rec.Code, rec.Body)
		}
	}
}

func TestWithoutSingleUserEveryCallNeedsAToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, call := range []string{"GET /v1/tasks", "GET /v1/events", "GET /metrics", "GET /v1/nothing"} {
		if r := w.call("", call, ""); r.status != http.StatusUnauthorized || r.header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s got %d", call, r.status)
		}
	}
	for _, call := range []string{"GET /healthz", "GET /readyz", "GET /openapi.json"} {
		if r := w.call("", call, ""); r.status != http.StatusOK {
			t.Errorf("%s got %d %s", call, r.status, r.body)
		}
	}
}

func TestTokenLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *api.Config) { c.Limits.Token = api.Rate{PerSecond: 0.001, Burst: 4} })
	tok := w.human
	for range 4 {
		w.must(http.StatusOK, tok, "GET /v1/whoami", "", nil)
	}
	r := w.call(tok, "GET /v1/whoami", "")
	p := r.problem(t)
	if r.status != http.StatusTooManyRequests || p.Code != fermata.CodeRateLimited || r.header.Get("Retry-After") == "" || p.RetryAfter < 1 {
		t.Errorf("got %d %s", r.status, r.body)
	}
	w.must(http.StatusOK, w.other, "GET /v1/whoami", "", nil)
}

// TestAnswerLimitOfAQuestion checks that one token cannot answer one question faster than the limit, also with short
// endings of its id or in a batch. The limit of one caller does not affect others, who may be the people who should
// answer.
func TestAnswerLimitOfAQuestion(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *api.Config) { c.Limits.Ask = api.Rate{PerSecond: 0.001, Burst: 1} })
	q := w.ask(pick)
	w.must(http.StatusForbidden, w.agent, "POST /v1/questions/"+q.ID+"/answer", `{"answer":"a"}`, nil)
	w.must(http.StatusTooManyRequests, w.agent, "POST /v1/questions/"+q.ID+"/answer", `{"answer":"a"}`, nil)
	w.must(http.StatusBadRequest, w.human, "POST /v1/questions/"+q.ID+"/answer", `{"answer":"x"}`, nil)
	short := q.ID[len(q.ID)-10:]
	r := w.call(w.human, "POST /v1/questions/"+short+"/answer", `{"answer":"a"}`)
	if r.status != http.StatusTooManyRequests || r.header.Get("Retry-After") == "" {
		t.Errorf("got %d %s", r.status, r.body)
	}
	var batch struct{ Items []struct{ Status int } }
	w.must(http.StatusOK, w.human, "POST /v1/answers", `{"items":[{"question_id":"`+q.ID+`","answer":"a"},{"question_id":"`+w.ask(pick).ID+`","answer":"a"}]}`, &batch)
	if len(batch.Items) != 2 || batch.Items[0].Status != http.StatusTooManyRequests || batch.Items[1].Status != http.StatusOK {
		t.Errorf("the batch came to %+v", batch.Items)
	}
}

func TestAskLimitOfATask(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *api.Config) { c.Limits.Ask = api.Rate{PerSecond: 0.001, Burst: 1} })
	q := w.ask(say)
	for _, id := range []string{q.TaskID, q.TaskID[len(q.TaskID)-10:], q.TaskID[len(q.TaskID)-7:], q.TaskID[len(q.TaskID)-6:], strings.ToUpper(q.TaskID), "%20" + q.TaskID} {
		r := w.call(w.agent, "POST /v1/tasks/"+id+"/questions", say)
		if r.status != http.StatusTooManyRequests || r.header.Get("Retry-After") == "" {
			t.Errorf("got %d %s", r.status, r.body)
		}
	}
	w.ask(say)
	for i, project := range []string{"", "default", "other"} {
		r := w.call(w.agent, "POST /v1/questions", `{"question":"?","session":"s","project":"`+project+`"}`)
		if limited := r.status == http.StatusTooManyRequests; limited != (i > 0) {
			t.Errorf("question %d of a session: %d %s", i, r.status, r.body)
		}
	}
}

func TestWrongTokensAreLimitedAndRightOnesAreNot(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *api.Config) { c.Limits.Failed = api.Rate{PerSecond: 0.001, Burst: 3} })
	w.must(http.StatusOK, w.human, "GET /v1/whoami", "", nil)
	for range 3 {
		if r := w.call(fermata.NewSecret(), "GET /v1/whoami", ""); r.status != http.StatusUnauthorized {
			t.Errorf("got %d %s", r.status, r.body)
		}
	}
	if r := w.call(fermata.NewSecret(), "GET /v1/whoami", ""); r.status != http.StatusTooManyRequests {
		t.Errorf("got %d %s", r.status, r.body)
	}
	w.must(http.StatusOK, w.human, "GET /v1/whoami", "", nil)
	// A correct token that this server has not seen before is accepted, too.
	w.must(http.StatusOK, w.other, "GET /v1/whoami", "", nil)
}
