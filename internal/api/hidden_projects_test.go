package api_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/api"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
)

// zebra is a word in every text of the project zebra-works, and in no other text.
const zebra = "zebra"

// newHiddenProject creates a project with one object of every kind: tasks, questions, a run, messages, a workflow, a
// rule, and a member with a role there. It returns replacers that fill in the ids of these objects, and the ids of
// objects that do not exist.
func (w *world) newHiddenProject() (ids, nobodys *strings.Replacer) {
	w.Helper()
	const project = `"project":"zebra-works"`
	w.token(`{"name":"r","kind":"human","member":"rob","role":"operator","scopes":["answer"]}`)
	robs := w.token(`{"name":"r","kind":"human","member":"rob","scopes":["answer","ask"]}`)
	w.must(http.StatusOK, w.admin, "PATCH /v1/members/rob", `{"projects":{"zebra-works":"operator"}}`, nil)
	w.must(http.StatusOK, w.admin, "PUT /v1/policies", quoted(zebraPolicy()), nil)
	task := w.task(`{"title":"Feed the zebra",` + project + `,"labels":["zebra"],"agent":"zebra"}`)
	var claim fermata.Claim
	w.must(http.StatusOK, w.agent, "POST /v1/claims", `{"worker":"zebra-worker",`+strings.Replace(project, `"project":`, `"projects":[`, 1)+`]}`, &claim)
	w.must(http.StatusOK, w.agent, "POST /v1/runs/"+claim.Run.ID+"/log", quoted(map[string]any{"token": claim.Run.Token, "text": "zebra log"}), nil)
	w.must(http.StatusNoContent, w.agent, "POST /v1/runs/"+claim.Run.ID+"/progress", quoted(map[string]any{"token": claim.Run.Token, "message": "zebra"}), nil)
	var answered, open fermata.Question
	ask := "POST /v1/questions"
	w.must(http.StatusCreated, w.agent, ask, `{"question":"May the grass of the zebra be cut?","session":"zebra-session",`+project+`,"timeout":"never"}`, &answered)
	w.must(http.StatusOK, robs, "POST /v1/questions/"+answered.ID+"/answer", `{"answer":"zebra yes","comment":"zebra"}`, nil)
	w.must(http.StatusCreated, w.agent, ask, `{"question":"May the zebra run?",`+project+`,"timeout":"never"}`, &open)
	w.must(http.StatusCreated, robs, "POST /v1/tasks/"+task.ID+"/messages", `{"body":"zebra words"}`, nil)
	var rule struct{ ID string }
	w.must(http.StatusCreated, w.admin, "POST /v1/gate-rules", `{"tool":"zebra-tool","decision":"ask",`+project+`}`, &rule)
	for _, scope := range []string{`"task_id":"` + task.ID + `"`, `"session_key":"zebra-session"`} {
		w.must(http.StatusCreated, w.admin, "POST /v1/gate-rules", `{"tool":"zebra-tool","decision":"ask",`+scope+`}`, nil)
	}
	w.must(http.StatusOK, robs, "PUT /v1/views/striped", `{"query":"project=zebra-works","shared":true}`, nil)
	w.put(strings.Replace(strings.Replace(deploy, "Asks, then waits.", "Moves the zebra.", 1), "triggers:", "project: zebra-works\ntriggers:", 1))
	var run fermata.WorkflowRun
	w.must(http.StatusCreated, w.admin, "POST /v1/workflows/deploy/runs", `{"inputs":{"version":"zebra"}}`, &run)
	now := time.Now().UTC()
	sent := fermata.NewID(fermata.PrefixDelivery, now)
	if err := w.DB.Write(w.Context(), store.DefaultWorkspace, func(tx *store.Tx) error {
		d := &fermata.Delivery{ID: sent, ChannelID: "chn_1", Kind: "wall", Purpose: "asked", State: fermata.DeliveryDead, CreatedAt: now}
		d.UniqueKey, d.QuestionID, d.TaskID, d.LastError = "zebra", open.ID, open.TaskID, "zebra"
		tx.PlanDelivery(d)
		return nil
	}); err != nil {
		w.Fatal(err)
	}
	other := func(prefix string) string { return fermata.NewID(prefix, now) }
	addresses := func(task, question, run, workflow, workflowRun, rule, delivery string) *strings.Replacer {
		return strings.NewReplacer("{q}", question, "{run}", run, "{task}", task, "/tasks/{id}", "/tasks/"+task, "/questions/{id}", "/questions/"+question,
			"/runs/{id}", "/runs/"+run, "/workflows/{name}", "/workflows/"+workflow, "/workflow-runs/{id}", "/workflow-runs/"+workflowRun,
			"/gate-rules/{id}", "/gate-rules/"+rule, "/deliveries/{id}", "/deliveries/"+delivery, "/members/{id}", "/members/rob", "/channels/{name}", "/channels/wall",
			"{kind}", "wall", "{name}", "none", "{id}", "none")
	}
	return addresses(task.ID, open.ID, claim.Run.ID, "deploy", run.ID, rule.ID, sent),
		addresses(other(fermata.PrefixTask), other(fermata.PrefixQuestion), other(fermata.PrefixRun), "another", other(fermata.PrefixTask),
			other(fermata.PrefixGateRule), other(fermata.PrefixDelivery))
}

func zebraPolicy() fermata.Policy {
	p := fermata.DefaultPolicy()
	p.ProjectRisk = map[string]fermata.Risk{"zebra-works": fermata.RiskMedium}
	return p
}

// outsiders returns callers who cannot see the project zebra-works. All except one see the default project.
func (w *world) outsiders() map[string]reader {
	w.Helper()
	person := func(handle, role, projects string) string {
		w.token(`{"name":"t","kind":"human","member":"` + handle + `","role":"operator","scopes":["read"]}`)
		w.must(http.StatusOK, w.admin, "PATCH /v1/members/"+handle, `{"role":"`+role+`","projects":`+projects+`}`, nil)
		return w.token(`{"name":"t","kind":"human","member":"` + handle + `","scopes":["answer","ask","work"]}`)
	}
	all := map[string]reader{
		"an operator from whom it is hidden":            {token: person("blind", "operator", `{"zebra-works":"none"}`)},
		"an operator with a role in one other project":  {token: person("guest", "none", `{"default":"operator"}`)},
		"a member without any role":                     {token: person("stranger", "none", `{}`)},
		"an agent whose token is for one other project": {token: w.token(`{"name":"a","scopes":["ask","work"],"projects":["default"]}`)},
		"an agent who only reads another project":       {token: w.token(`{"name":"a","scopes":["read"],"projects":["default"]}`)},
	}
	all["a browser from which it is hidden"] = reader{cookie: w.signIn("blind")}
	return all
}

// No reply to a call that reads mentions a hidden project. A call that names one of its objects gets the same reply
// as a call that names an object that does not exist.
func TestAHiddenProjectDoesNotExist(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		w := newWorldOn(t, opts, func(c *api.Config) { c.Limits.Failed = api.Rate{PerSecond: -1} })
		w.addDelivery()
		outsiders := w.outsiders()
		ids, nobodys := w.newHiddenProject()
		w.must(http.StatusCreated, w.agent, "POST /v1/questions", `{"question":"May the grass be cut?","timeout":"never"}`, nil)
		doc := readDocument(t, w)
		for name, r := range outsiders {
			for _, op := range doc.inOrder() {
				w.in(t).wantNothingSeen(name, r, op.call, ids, nobodys)
			}
		}
		if seen := w.call(w.admin, "GET /v1/tasks", ""); !strings.Contains(string(seen.body), zebra) {
			t.Errorf("an admin does not see it: %s", seen.body)
		}
	})
}

// namesOne matches the paths that name an object of a project.
var namesOne = regexp.MustCompile(`/(tasks|questions|runs|workflows|workflow-runs|gate-rules|deliveries)/\{`)

// wantNothingSeen makes a call that reads, or a call that names an object of the hidden project. It checks that the
// reply shows nothing of that project.
func (w *world) wantNothingSeen(name string, r reader, call string, ids, nobodys *strings.Replacer) {
	w.Helper()
	named, reads := namesOne.MatchString(call), strings.HasPrefix(call, "GET ")
	if !named && !reads || call == "PUT /v1/workflows/{name}" || call == "GET /v1/events" {
		return
	}
	head := w.Head()
	got := w.attack(attacker{reader: r}, ids.Replace(call), ids.Replace(writingBodies[call]))
	if strings.Contains(strings.ToLower(string(got.body)), zebra) {
		w.Errorf("%s sees by %s: %d %s", name, call, got.status, got.body)
	}
	if !named {
		return
	}
	if now := w.Head(); now != head {
		w.Errorf("%s changed something by %s: %d events", name, call, now-head)
	}
	if !reads && got.status != http.StatusNotFound && got.status != http.StatusForbidden {
		w.Errorf("%s may %s: %d %s", name, call, got.status, got.body)
	}
	missing := w.attack(attacker{reader: r}, nobodys.Replace(call), nobodys.Replace(writingBodies[call]))
	if a, b := withoutNames(got.body), withoutNames(missing.body); got.status != missing.status || a != b {
		w.Errorf("%s can tell by %s that it is there: %d %s\nwhat is not there: %d %s", name, call, got.status, a, missing.status, b)
	}
}

var anyName = regexp.MustCompile(`\b[a-z]+_[0-9a-z]{20}\b|\b(deploy|another)\b`)

// withoutNames returns a reply without the ids and names of objects.
func withoutNames(body []byte) string { return anyName.ReplaceAllString(string(body), "ID") }

// Counts and lists include only visible projects.
func TestAHiddenProjectIsNotCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	outsiders := w.outsiders()
	w.newHiddenProject()
	w.must(http.StatusCreated, w.agent, "POST /v1/questions", `{"question":"May the grass be cut?","timeout":"never"}`, nil)
	for name, want := range map[string]int{"an operator from whom it is hidden": 1, "a member without any role": 0} {
		token := outsiders[name].token
		var questions fermata.QuestionCounts
		w.must(http.StatusOK, token, "GET /v1/questions/counts", "", &questions)
		var tasks fermata.TaskCounts
		w.must(http.StatusOK, token, "GET /v1/tasks/counts", "", &tasks)
		var figures fermata.AnalyticsSummary
		w.must(http.StatusOK, token, "GET /v1/analytics/summary", "", &figures)
		if questions.Pending != want || tasks.Total != int64(want) || figures.Asked != int64(want) {
			t.Errorf("%s counts %d questions and %d tasks, and %d in the analytics; want %d", name, questions.Pending, tasks.Total, figures.Asked, want)
		}
	}
}

// A stream shows only events of visible projects, and ends when the rights of its reader change.
func TestStreamsOfHiddenProjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	outsiders := w.outsiders()
	token := outsiders["an operator from whom it is hidden"].token
	f := w.follow("", "Authorization", "Bearer "+token)
	w.newHiddenProject()
	seen := w.task(`{"title":"seen"}`)
	if e := f.take(1)[0]; e.TaskID != seen.ID {
		t.Errorf("the first event is %s of %s", e.Type, e.TaskID)
	}
	list := w.call(token, "GET /v1/events?after=0&limit=1000", "", "Accept", "application/json")
	if text := string(list.body); strings.Contains(text, zebra) || !strings.Contains(text, seen.ID) {
		t.Errorf("the list of events is %s", text)
	}
	w.must(http.StatusOK, w.admin, "PATCH /v1/members/blind", `{"projects":{"zebra-works":"viewer"}}`, nil)
	if fr, more := f.next(); more {
		t.Errorf("the stream goes on with %+v", fr)
	}
	if again := w.follow("?after="+f.id, "Authorization", "Bearer "+token); again.id == f.id {
		w.task(`{"title":"Groom the zebra","project":"zebra-works"}`)
		if e := again.take(1)[0]; e.Type != fermata.EventTaskCreated {
			t.Errorf("after the change it begins with %s", e.Type)
		}
	}
}

// A stream ends with the token or the session that opened it.
func TestAStreamEndsWithItsToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var token fermata.Token
	w.must(http.StatusCreated, w.admin, "POST /v1/tokens", `{"name":"t","scopes":["read"]}`, &token)
	byToken := w.follow("", "Authorization", "Bearer "+token.Secret)
	byCookie := w.follow("", "Authorization", "", "Cookie", w.signIn("ann"), "Sec-Fetch-Site", "same-origin")
	w.must(http.StatusOK, w.admin, "DELETE /v1/members/ann/sessions", "", nil)
	w.must(http.StatusOK, w.admin, "DELETE /v1/tokens/"+token.ID, "", nil)
	for name, f := range map[string]*feed{"a token": byToken, "a session": byCookie} {
		if fr, more := f.next(); more {
			t.Errorf("the stream of %s goes on with %+v", name, fr)
		}
	}
}

// An agent whose token is for one project can work only there.
func TestATokenForOneProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.token(`{"name":"a","scopes":["ask","work"],"projects":["web"]}`)
	var task fermata.Task
	w.must(http.StatusCreated, token, "POST /v1/tasks", `{"title":"t"}`, &task)
	var q fermata.Question
	w.must(http.StatusCreated, token, "POST /v1/questions", `{"question":"Go on?"}`, &q)
	if task.Project != "web" || q.Project != "web" {
		t.Errorf("the project is %s and %s, want the token's", task.Project, q.Project)
	}
	for call, body := range map[string]string{
		"POST /v1/tasks": `{"title":"t","project":"shop"}`, "POST /v1/questions": `{"question":"?","project":"shop"}`,
		"POST /v1/gates": `{"tool":"x","session_key":"s","project":"shop"}`,
	} {
		if p := w.call(token, call, body).problem(t); p.Code != fermata.CodeForbidden || !strings.Contains(p.Detail, "shop") || p.Hint != "it is for web" {
			t.Errorf("%s elsewhere: %+v", call, p)
		}
	}
	w.task(`{"title":"elsewhere","priority":0}`)
	var claim fermata.Claim
	w.must(http.StatusOK, token, "POST /v1/claims", `{"worker":"w","wait_seconds":0}`, &claim)
	if claim.Task.ID != task.ID {
		t.Errorf("it claims %s of the project %s", claim.Task.Title, claim.Task.Project)
	}
	if r := w.call(w.agent, "POST /v1/claims", `{"worker":"w"}`, "Fermata-Agent-Token", token); r.status != http.StatusNoContent {
		t.Errorf("a worker whose agents work elsewhere claims: %d %s", r.status, r.body)
	}
	var list struct{ Items []fermata.Token }
	w.must(http.StatusOK, w.admin, "GET /v1/tokens", "", &list)
	if !slices.ContainsFunc(list.Items, func(t fermata.Token) bool { return slices.Equal(t.Projects, []string{"web"}) }) {
		t.Errorf("no token of the list names its project: %+v", list.Items)
	}
	if r := w.call(w.admin, "POST /v1/tokens", `{"name":"p","kind":"human","member":"ann","scopes":["read"],"projects":["web"]}`); r.status != http.StatusBadRequest {
		t.Errorf("a person's token for a project: %d %s", r.status, r.body)
	}
}

// A caller who cannot see every project can neither export nor verify the audit, and reads neither what was removed nor the metrics.
func TestTheWholeAuditIsForWhoSeesEveryProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	outsiders := w.outsiders()
	for _, name := range []string{"an operator from whom it is hidden", "a member without any role"} {
		for _, call := range []string{"GET /v1/audit/export", "GET /v1/audit/verify", "GET /v1/audit/trimmed-ranges", "GET /v1/retention", "GET /metrics"} {
			if p := w.call(outsiders[name].token, call, "").problem(t); p.Code != fermata.CodeForbidden {
				t.Errorf("%s by %s: %+v", name, call, p)
			}
		}
	}
}
