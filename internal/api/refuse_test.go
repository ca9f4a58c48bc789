package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
)

// refusal is a bad request and its expected reply. before makes the changes in
// the world that the request needs, and returns the call and the body.
type refusal struct {
	name   string
	before func(w *world) (call, body string)
	token  func(w *world) string
	status int
	code   fermata.Code
	field  string
	detail string
}

func asAgent(w *world) string { return w.agent }
func asHuman(w *world) string { return w.human }
func asAdmin(w *world) string { return w.admin }

func fixed(call, body string) func(*world) (string, string) {
	return func(*world) (string, string) { return call, body }
}

// answering asks a question and answers it with the body.
func answering(ask, body string) func(*world) (string, string) {
	return func(w *world) (string, string) { return "POST /v1/questions/" + w.ask(ask).ID + "/answer", body }
}

// asking asks on a new task.
func asking(body string) func(*world) (string, string) {
	return func(w *world) (string, string) {
		return "POST /v1/tasks/" + w.task(`{"title":"t"}`).ID + "/questions", body
	}
}

const (
	pick    = `{"question":"Which?","options":["a","b"]}`
	say     = `{"question":"What?"}`
	several = `{"items":[{"key":"one","prompt":"1"},{"key":"two","prompt":"2"}]}`
)

var refusals = []refusal{
	{"gate without a place", fixed("POST /v1/gates", `{"tool":"Bash"}`), asAgent, 400, fermata.CodeInvalidRequest, "task_id", "session_key"},
	{"gate with an unknown field", fixed("POST /v1/gates", `{"tool":"Bash","session_key":"s","force":true}`), asAgent, 400, fermata.CodeInvalidRequest, "force", "no known field"},
	{"gate of a name twice", fixed("POST /v1/gates", `{"tool":"Bash","session_key":"s","input":{"a":1,"a":2}}`), asAgent, 400, fermata.CodeInvalidRequest, "input.a", "stands twice"},
	{"gate of a list", fixed("POST /v1/gates", `{"tool":"Bash","session_key":"s","input":[1]}`), asAgent, 400, fermata.CodeInvalidRequest, "input", "not a JSON object"},
	{"gate of an unknown task", fixed("POST /v1/gates", `{"tool":"Bash","task_id":"task_0000000000000000zzzz"}`), asAgent, 404, fermata.CodeNotFound, "", "no task"},
	{"a rule by an agent", fixed("POST /v1/gate-rules", `{"tool":"Bash","decision":"allow"}`), asAgent, 403, fermata.CodeForbidden, "", "only people"},
	{"a rule removed by an agent", fixed("DELETE /v1/gate-rules/rule_1", ""), asAgent, 403, fermata.CodeForbidden, "", "only people"},
	{"a rule that decides nothing", fixed("POST /v1/gate-rules", `{"tool":"Bash","decision":"maybe"}`), asAdmin, 400, fermata.CodeInvalidRequest, "decision", "allow, deny"},
	{"a rule with an owner", fixed("POST /v1/gate-rules", `{"tool":"Bash","decision":"allow","owner":{}}`), asAdmin, 400, fermata.CodeInvalidRequest, "owner", "no known field"},
	{"a forged grant", fixed("POST /v1/grants/verify", `{"grant":"fg1.e30.e30","action":{}}`), asAgent, 403, fermata.CodeForbidden, "", "not one of this workspace"},
	{"a grant for nothing", fixed("POST /v1/grants/verify", `{"grant":"fg1.e30.e30"}`), asAgent, 400, fermata.CodeInvalidRequest, "action", ""},
	{"unknown option", answering(pick, `{"answer":"c"}`), asHuman, 400, fermata.CodeInvalidRequest, "answer", `"c" is not an option`},
	{"missing required item", answering(several, `{"answers":{"one":"x"}}`), asHuman, 400, fermata.CodeInvalidRequest, "answers.two", "is required"},
	{"unknown item", answering(several, `{"answers":{"one":"x","two":"y","three":"z"}}`), asHuman, 400, fermata.CodeInvalidRequest, "answers.three", "names no item"},
	{"wrong type", answering(say, `{"answer":7}`), asHuman, 400, fermata.CodeInvalidRequest, "answer", "must be a text"},
	{"too long", answering(`{"items":[{"prompt":"?","max_length":3}]}`, `{"answer":"four"}`), asHuman, 400, fermata.CodeInvalidRequest, "answer", "at most 3"},
	{"title too long", fixed("POST /v1/tasks", `{"title":"`+strings.Repeat("x", 201)+`"}`), asAgent, 400, fermata.CodeInvalidRequest, "title", "200"},
	{"invalid UTF-8", answering(say, "{\"answer\":\"\xff\"}"), asHuman, 400, fermata.CodeInvalidRequest, "answer", "UTF-8"},
	{"empty answer", answering(say, `{"answer":"  "}`), asHuman, 400, fermata.CodeInvalidRequest, "answer", "must not be empty"},
	{"no answer", answering(say, `{}`), asHuman, 400, fermata.CodeInvalidRequest, "answer", "is required"},
	{"no body", answering(say, ``), asHuman, 400, fermata.CodeInvalidRequest, "", "body is required"},
	{"default that is no valid answer", asking(`{"question":"Which?","options":["a","b"],"default":"c"}`), asAgent, 400, fermata.CodeInvalidRequest, "default", "is no valid answer"},
	{"timeout outside the policy", asking(`{"question":"?","timeout":"10s"}`), asAgent, 422, fermata.CodePolicyViolation, "timeout", "below the policy's shortest timeout"},
	{"timeout that is none", asking(`{"question":"?","timeout":"soon"}`), asAgent, 400, fermata.CodeInvalidRequest, "timeout", "no duration"},
	{"limits that no answer keeps", asking(`{"items":[{"prompt":"?","response_type":"multi_choice","options":["a","b"],"min":3}]}`), asAgent, 400, fermata.CodeInvalidRequest, "items[0].min", "more choices"},
	{"instant without digits", fixed("POST /v1/tasks", `{"title":"t","defer_until":"9999-12-31T23:59:59-23:59"}`), asAgent, 400, fermata.CodeInvalidRequest, "defer_until", "years 0 to 9999"},
	{"put off beyond the digits", deferredTask, asAdmin, 400, fermata.CodeInvalidRequest, "until", "years 0 to 9999"},
	{"analytics beyond the digits", fixed("GET /v1/analytics/summary?to=9999-12-31T23:59:59-23:59", ""), asAgent, 400, fermata.CodeInvalidRequest, "to", "years 0 to 9999"},
	{"state that is too deep", asking(`{"question":"?","state":` + deep(300) + `}`), asAgent, 400, fermata.CodeInvalidRequest, "state", "deeper than 200"},
	{"spec that is too deep", fixed("POST /v1/tasks", `{"title":"t","spec":`+deep(300)+`}`), asAgent, 400, fermata.CodeInvalidRequest, "spec", "deeper than 200"},
	{"spec with a slip", fixed("POST /v1/tasks", `{"title":"t","spec":{"comand":["make"]}}`), asAgent, 400, fermata.CodeInvalidRequest, "spec.comand", "did you mean command?"},
	{"spec whose timeout is none", fixed("POST /v1/tasks", `{"title":"t","spec":{"timeout":30}}`), asAgent, 400, fermata.CodeInvalidRequest, "spec.timeout", "duration"},
	{"deeper than JSON is read", fixed("POST /v1/tasks", `{"title":"t","spec":`+deep(20_000)+`}`), asAgent, 400, fermata.CodeInvalidRequest, "", "not valid JSON"},
	{"NUL in a filter", fixed("GET /v1/questions?q=a%00", ""), asAgent, 400, fermata.CodeInvalidRequest, "q", "NUL"},
	{"invalid UTF-8 in a filter", fixed("GET /v1/tasks?limit=3&label=%ff", ""), asAgent, 400, fermata.CodeInvalidRequest, "label", "UTF-8"},
	{"NUL in an address", fixed("GET /v1/workflows/a%00", ""), asAgent, 404, fermata.CodeNotFound, "", "nothing at this address"},
	{"NUL in a worker's name", fixed("POST /v1/claims", `{"worker":"w\u0000"}`), asAgent, 400, fermata.CodeInvalidRequest, "worker", "NUL"},
	{"NUL in a session", fixed("POST /v1/questions", `{"question":"?","session":"s\u0000"}`), asAgent, 400, fermata.CodeInvalidRequest, "session", "NUL"},
	{"unreachable quorum", asking(`{"question":"?","type":"approval","approvals":{"required":40}}`), asAgent, 422, fermata.CodeQuorumUnreachable, "", "40 required, 3 may"},
	{"second pending question", secondAsk, asAgent, 409, fermata.CodePendingQuestionExists, "", "already"},
	{"closed question", answeredAlready, asHuman, 409, fermata.CodeQuestionClosed, "", "answered by bob at 20"},
	{"cancelled question", cancelledAlready, asHuman, 409, fermata.CodeQuestionClosed, "", "cancelled by"},
	{"stale run", staleRun, asAgent, 409, fermata.CodeStaleRun, "", "fencing token"},
	{"dependency cycle", cycle, asAgent, 400, fermata.CodeInvalidRequest, "blocked_by", "task_"},
	{"illegal transition", reopenOpen, asAdmin, 409, fermata.CodeIllegalTransition, "", "open"},
	{"duplicated key", fixed("POST /v1/tasks", `{"title":"a","title":"b"}`), asAgent, 400, fermata.CodeInvalidRequest, "title", "stands twice"},
	{"duplicated key inside", asking(`{"items":[{"prompt":"a","options":[{"value":"a","value":"b"}]}]}`), asAgent, 400, fermata.CodeInvalidRequest, "items[0].options[0].value", "stands twice"},
	{"wrong case", fixed("POST /v1/tasks", `{"Title":"a"}`), asAgent, 400, fermata.CodeInvalidRequest, "Title", "names are exact"},
	{"unknown field", fixed("POST /v1/tasks", `{"title":"a","titel":"b"}`), asAgent, 400, fermata.CodeInvalidRequest, "titel", "no known field"},
	{"unknown field of an option", asking(`{"question":"?","options":["a",{"valeu":"b"}]}`), asAgent, 400, fermata.CodeInvalidRequest, "options[1].valeu", "no known field"},
	{"unknown field of a context", asking(`{"question":"?","context":{"stp":"b"}}`), asAgent, 400, fermata.CodeInvalidRequest, "context.stp", "no known field"},
	{"a context that is a number", asking(`{"question":"?","context":5}`), asAgent, 400, fermata.CodeInvalidRequest, "context", "does not fit"},
	{"wrong case in an option", asking(`{"question":"?","options":["a",{"Value":"b"}]}`), asAgent, 400, fermata.CodeInvalidRequest, "options[1].Value", "no known field"},
	{"wrong type in an option", asking(`{"question":"?","options":["a",{"value":3}]}`), asAgent, 400, fermata.CodeInvalidRequest, "options[1].value", "number"},
	{"trailing data", fixed("POST /v1/tasks", `{"title":"a"}{}`), asAgent, 400, fermata.CodeInvalidRequest, "", "not valid JSON at byte 13"},
	{"cut off", fixed("POST /v1/tasks", `{"title":"a`), asAgent, 400, fermata.CodeInvalidRequest, "", "ends too early"},
	{"unknown parameter", fixed("GET /v1/tasks?stat=open", ""), asAgent, 400, fermata.CodeInvalidRequest, "stat", "unknown"},
	{"unknown state", fixed("GET /v1/tasks?state=ready", ""), asAgent, 400, fermata.CodeInvalidRequest, "state[0]", "one of"},
	{"wait too long", fixed("GET /v1/questions/x?wait=61s", ""), asAgent, 400, fermata.CodeInvalidRequest, "wait", "60s"},
	{"cursor from another list", foreignCursor, asAgent, 400, fermata.CodeInvalidRequest, "cursor", "cursor"},
	{"agent answers", answering(say, `{"answer":"me"}`), asAgent, 403, fermata.CodeNotEligible, "", "only people answer"},
	{"without the scope", fixed("POST /v1/claims", `{"worker":"w"}`), asHuman, 403, fermata.CodeForbidden, "", "scope"},
	{"unknown task", fixed("GET /v1/tasks/task_00000000000000000000", ""), asAgent, 404, fermata.CodeNotFound, "", "there is no task"},
	{"unknown address", fixed("GET /v1/tusks", ""), asAgent, 404, fermata.CodeNotFound, "", "nothing at this address"},
	{"wrong method", fixed("DELETE /v1/tasks", ""), asAgent, 405, fermata.CodeInvalidRequest, "", "GET, POST"},
	{"no token", fixed("GET /v1/tasks", ""), func(*world) string { return "" }, 401, fermata.CodeUnauthenticated, "", "token is needed"},
	{"damaged token", fixed("GET /v1/tasks", ""), func(w *world) string { return w.agent[:len(w.agent)-1] }, 401, fermata.CodeUnauthenticated, "", "damaged"},
	{"unknown token", fixed("GET /v1/tasks", ""), func(*world) string { return fermata.NewSecret() }, 401, fermata.CodeUnauthenticated, "", ""},
	{"token in the address", fixed("GET /v1/tasks?access_token=x", ""), asAgent, 400, fermata.CodeInvalidRequest, "query", "address"},
}

func secondAsk(w *world) (string, string) {
	return "POST /v1/tasks/" + w.ask(say).TaskID + "/questions", `{"question":"And?"}`
}

func answeredAlready(w *world) (string, string) {
	q := w.ask(pick)
	w.must(http.StatusOK, w.other, "POST /v1/questions/"+q.ID+"/answer", `{"answer":"a"}`, nil)
	return "POST /v1/questions/" + q.ID + "/answer", `{"answer":"b"}`
}

func cancelledAlready(w *world) (string, string) {
	q := w.ask(pick)
	w.must(http.StatusOK, w.agent, "POST /v1/questions/"+q.ID+"/cancel", `{"reason":"never mind"}`, nil)
	return "POST /v1/questions/" + q.ID + "/answer", `{"answer":"b"}`
}

func staleRun(w *world) (string, string) {
	w.task(`{"title":"t"}`)
	var claim fermata.Claim
	w.must(http.StatusOK, w.agent, "POST /v1/claims", `{"worker":"w"}`, &claim)
	return "POST /v1/runs/" + claim.Run.ID + "/heartbeat", `{"token":99}`
}

func cycle(w *world) (string, string) {
	first := w.task(`{"title":"first"}`)
	second := w.task(`{"title":"second","blocked_by":["` + first.ID + `"]}`)
	return "PATCH /v1/tasks/" + first.ID, `{"blocked_by":["` + second.ID + `"]}`
}

func reopenOpen(w *world) (string, string) {
	return "POST /v1/tasks/" + w.task(`{"title":"t"}`).ID + "/reopen", "{}"
}

func deferredTask(w *world) (string, string) {
	return "POST /v1/tasks/" + w.task(`{"title":"t"}`).ID + "/defer", `{"until":"9999-12-31T23:59:59-23:59"}`
}

// deep returns a document of that many nested lists.
func deep(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }

func foreignCursor(w *world) (string, string) {
	w.task(`{"title":"1"}`)
	w.task(`{"title":"2"}`)
	var page struct {
		NextCursor string `json:"next_cursor"`
	}
	w.must(http.StatusOK, w.agent, "GET /v1/tasks?limit=1", "", &page)
	if page.NextCursor == "" {
		w.Error("a list of two tasks has no second part")
	}
	return "GET /v1/questions?cursor=" + page.NextCursor, ""
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, tt := range refusals {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			call, body := tt.before(w)
			before := w.Head()
			r := w.call(tt.token(w), call, body)
			p := r.problem(t)
			if r.status != tt.status || p.Code != tt.code || p.Status != tt.status {
				t.Errorf("got %d %s: %s, want %d %s", r.status, p.Code, r.body, tt.status, tt.code)
			}
			if tt.field != "" && !slices.ContainsFunc(p.Problems, func(f fermata.Problem) bool { return f.Field == tt.field }) {
				t.Errorf("problems %+v, want the field %q", p.Problems, tt.field)
			}
			if !strings.Contains(string(r.body), tt.detail) && !strings.Contains(p.Detail, tt.detail) {
				t.Errorf("%s does not say %q", r.body, tt.detail)
			}
			if after := w.Head(); after != before {
				t.Errorf("%d events were written", after-before)
			}
		})
	}
}

func TestClosedQuestionSaysWhoWhatAndWhen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	call, body := answeredAlready(w)
	p := w.call(w.human, call, body).problem(t)
	if p.Question == nil || p.Question.Resolution == nil {
		t.Fatal("the problem has no resolution")
	}
	r := p.Question.Resolution
	if r.Answer != "a" || r.AnsweredBy == nil || r.AnsweredBy.Name != "bob" || r.At.IsZero() {
		t.Errorf("resolution %+v", r)
	}
}

func TestLargeBodyIsRefusedUnread(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.Head()
	for _, announced := range []bool{true, false} {
		body := &endless{left: 10 << 20, announced: announced}
		r := w.send(body)
		if r.status != http.StatusRequestEntityTooLarge {
			t.Errorf("got %d %s", r.status, r.body)
		}
		if p := r.problem(t); p.Code != fermata.CodeInvalidRequest {
			t.Errorf("code %s", p.Code)
		}
	}
	if w.Head() != before {
		t.Error("events were written")
	}
}

func TestOtherContentTypeIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.call(w.agent, "POST /v1/tasks", `{"title":"t"}`, "Content-Type", "text/plain")
	if r.status != http.StatusUnsupportedMediaType || r.problem(t).Code != fermata.CodeInvalidRequest {
		t.Errorf("got %d %s", r.status, r.body)
	}
}

func TestRevokedAndExpiredTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var tok fermata.Token
	w.must(http.StatusCreated, w.admin, "POST /v1/tokens", `{"name":"gone","scopes":["read"]}`, &tok)
	w.must(http.StatusOK, tok.Secret, "GET /v1/whoami", "", nil)
	w.must(http.StatusOK, w.admin, "DELETE /v1/tokens/"+tok.ID, "", nil)
	if r := w.call(tok.Secret, "GET /v1/whoami", ""); r.status != http.StatusUnauthorized {
		t.Errorf("a revoked token got %d", r.status)
	}
	short := w.token(`{"name":"short","scopes":["read"],"expires_in":"1ms"}`)
	w.must(http.StatusOK, short, "GET /v1/whoami", "", nil)
	w.Clock.Advance(time.Millisecond)
	p := w.call(short, "GET /v1/whoami", "").problem(t)
	if p.Code != fermata.CodeUnauthenticated {
		t.Errorf("an expired token got %s", p.Code)
	}
}

func TestSecretsAreNotEchoed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, body := range []string{`{"title":["hunter2"]}`, `{"title":"a","priority":"hunter2"}`, `{"title":"a","blocked_by":"hunter2"`} {
		if r := w.call(w.agent, "POST /v1/tasks", body); strings.Contains(string(r.body), "hunter2") {
			t.Errorf("%s", r.body)
		}
	}
}
