package api_test

import (
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/api"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
)

// attacker is a caller of one kind, with the properties that docs/reference/permissions.md refers to.
type attacker struct {
	name string
	reader
	// known is false for a caller without a token, and for a token that has ended.
	known, agent, browser bool
	scopes                []fermata.Scope
	// role is the role in the project of all objects here; general is the role in the workspace.
	role, general fermata.Role
}

// attackers returns callers of every kind. None of them is rob, to whom the objects belong.
func (w *world) attackers() []attacker {
	w.Helper()
	all := []attacker{{name: "nobody"}}
	for _, scope := range []fermata.Scope{"read", "ask", "work"} {
		token := w.token(`{"name":"a","scopes":["` + string(scope) + `"]}`)
		all = append(all, attacker{name: "an agent's token to " + string(scope), reader: reader{token: token}, known: true, agent: true, scopes: []fermata.Scope{scope}})
	}
	for _, role := range fermata.Roles {
		handle := "the-" + string(role)
		every := []fermata.Scope{"answer", "ask", "work"}
		person := attacker{known: true, role: role, general: role}
		add := func(name string, r reader, browser bool, scopes ...fermata.Scope) {
			p := person
			p.name, p.reader, p.browser, p.scopes = handle+name, r, browser, scopes
			all = append(all, p)
		}
		body := `{"name":"t","kind":"human","member":"` + handle + `","role":"` + string(role) + `","scopes":["answer","ask","work"]}`
		add("'s token", reader{token: w.token(body)}, false, every...)
		for _, scope := range []fermata.Scope{"read", "ask", "work", "answer"} {
			body := `{"name":"t","kind":"human","member":"` + handle + `","scopes":["` + string(scope) + `"]}`
			add("'s token to "+string(scope), reader{token: w.token(body)}, false, scope)
		}
		scopes := []fermata.Scope{"answer", "ask"}
		if role.AtLeast(fermata.RoleOperator) {
			scopes = append(scopes, fermata.ScopeWork)
		}
		if role == fermata.RoleAdmin {
			scopes = append(scopes, fermata.ScopeAdmin)
		}
		add("'s browser", reader{cookie: w.signIn(handle)}, true, scopes...)
	}
	half := w.token(`{"name":"h","kind":"human","member":"half","role":"operator","scopes":["answer","ask","work"]}`)
	w.must(http.StatusOK, w.admin, "PATCH /v1/members/half", `{"projects":{"default":"viewer"}}`, nil)
	all = append(all, attacker{
		name: "an operator who is a viewer here", reader: reader{token: half}, known: true,
		scopes: []fermata.Scope{"answer", "ask", "work"}, role: fermata.RoleViewer, general: fermata.RoleOperator,
	})
	here := w.token(`{"name":"l","kind":"human","member":"local","role":"viewer","scopes":["answer","ask","work"]}`)
	w.must(http.StatusOK, w.admin, "PATCH /v1/members/local", `{"projects":{"default":"operator"}}`, nil)
	admin := w.token(`{"name":"a","kind":"human","member":"the-admin","scopes":["admin"]}`)
	busy := w.token(`{"name":"b","scopes":["ask","work"]}`)
	w.must(http.StatusCreated, busy, "POST /v1/tasks", `{"title":"its own"}`, nil)
	w.must(http.StatusOK, busy, "POST /v1/claims", `{"worker":"b"}`, nil)
	all = append(all,
		attacker{
			name: "a viewer who is an operator here", reader: reader{token: here}, known: true,
			scopes: []fermata.Scope{"answer", "ask", "work"}, role: fermata.RoleOperator, general: fermata.RoleViewer,
		},
		attacker{
			name: "an admin's token to admin", reader: reader{token: admin}, known: true,
			scopes: []fermata.Scope{fermata.ScopeAdmin}, role: fermata.RoleAdmin, general: fermata.RoleAdmin,
		},
		attacker{name: "a worker of another task", reader: reader{token: busy}, known: true, agent: true, scopes: []fermata.Scope{"ask", "work"}},
	)
	gone := w.token(`{"name":"g","kind":"human","member":"gone","role":"admin","scopes":["admin"]}`)
	w.must(http.StatusOK, w.admin, "PATCH /v1/members/gone", `{"disabled":true}`, nil)
	var revoked fermata.Token
	w.must(http.StatusCreated, w.admin, "POST /v1/tokens", `{"name":"r","scopes":["work"]}`, &revoked)
	w.must(http.StatusOK, w.admin, "DELETE /v1/tokens/"+revoked.ID, "", nil)
	return append(all,
		attacker{name: "who holds a link to sign in", reader: reader{token: w.link("the-admin")}},
		attacker{name: "an admin who was disabled", reader: reader{token: gone}},
		attacker{name: "a revoked token", reader: reader{token: revoked.Secret}})
}

// row is one line of docs/reference/permissions.md.
type row struct{ verb, scope, role, agents string }

// readPermissions returns the rows of docs/reference/permissions.md, by operation.
func readPermissions(t *testing.T) map[string]row {
	t.Helper()
	page, err := os.ReadFile("../../docs/reference/permissions.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]row{}
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if !strings.HasPrefix(line, "| `") || len(cells) != 6 {
			continue
		}
		for call := range strings.SplitSeq(strings.TrimSuffix(strings.TrimSpace(cells[5]), "|"), ", ") {
			rows[strings.TrimSpace(call)] = row{strings.Trim(cells[0], "| `"), cells[2], cells[3], cells[4]}
		}
	}
	return rows
}

// hasRuleBeside reports whether a rule outside the table may refuse the call.
func (r row) hasRuleBeside() bool {
	return strings.Contains(r.role, ";") || strings.Contains(r.scope, "one's own")
}

// refuses reports whether the page says that the caller may not make the call. Rules outside the table may refuse
// more.
func (r row) refuses(a attacker, path string) bool {
	if r.verb == "open" {
		return false
	}
	if !a.known {
		return true
	}
	if own, others, ok := strings.Cut(strings.TrimPrefix(r.scope, "one's own: "), "; others': "); ok {
		if a.agent {
			return true
		}
		if strings.Contains(path, "/members/{id}") {
			return !slices.Contains(a.scopes, fermata.Scope(others))
		}
		return own != "any" && !slices.Contains(a.scopes, fermata.ScopeAdmin) && !a.browser &&
			!(strings.HasPrefix(own, "answer") && slices.Contains(a.scopes, fermata.ScopeAnswer))
	}
	has := slices.ContainsFunc(strings.Split(r.scope, " or "), func(s string) bool {
		return s == "read" || slices.Contains(a.scopes, fermata.Scope(s)) || slices.Contains(a.scopes, fermata.ScopeAdmin)
	})
	if a.agent {
		// The objects belong to rob, and no worker of the agent claimed them.
		return !has || r.agents == "no" || r.agents == "own tasks" && (strings.Contains(path, "{id}") || r.verb == "gate.ask")
	}
	role := a.role
	if strings.Contains(r.role, "of the workspace") {
		role = a.general
	}
	least, _, _ := strings.Cut(r.role, " ")
	return !has || !role.AtLeast(fermata.Role(strings.TrimSuffix(least, ";")))
}

// Every kind of caller calls every operation, with real ids. A caller who may not make the call by
// docs/reference/permissions.md is refused and changes nothing. A caller who may is not refused, unless the page names a rule
// outside the table.
func TestMatrixOfPermissions(t *testing.T) {
	t.Parallel()
	storetest.EachKind(t, tryMatrix)
}

func tryMatrix(t *testing.T, empty func(testing.TB) store.Options) {
	// Many requests from one address are refused.
	unlimited := func(c *api.Config) { c.Limits.Failed = api.Rate{PerSecond: -1} }
	begin := func(t *testing.T) *world {
		w := newWorldOn(t, empty(t), unlimited)
		w.addDelivery()
		return w
	}
	first := begin(t)
	operations, attackers, rows := readDocument(t, first).inOrder(), first.attackers(), readPermissions(t)
	tried, refused := 0, 0
	for i, a := range attackers {
		t.Run(a.name, func(t *testing.T) {
			// Each caller that may change the objects gets new ones.
			w := begin(t)
			a.reader = w.attackers()[i].reader
			w.token(`{"name":"r","kind":"human","member":"rob","role":"admin","scopes":["read"]}`)
			tried += len(operations)
			refused += w.tryOperations(a, operations, rows)
		})
	}
	t.Logf("%d operations, %d kinds of callers: %d calls, of which %d were to be refused", len(operations), len(attackers), tried, refused)
	if len(attackers) < 12 || refused < 500 {
		t.Errorf("too little was tried: %d callers, %d refusals", len(attackers), refused)
	}
}

// tryOperations calls each operation, and returns how many calls had to be refused.
func (w *world) tryOperations(a attacker, operations []documented, rows map[string]row) (refused int) {
	w.Helper()
	ids := w.realIDs()
	bodies := mapOf(writingBodies, "PUT /v1/workflows/{name}", quoted(map[string]any{"source": deploy}))
	for _, op := range operations {
		r, ok := rows[op.id]
		if !ok {
			w.Fatalf("%s is not in docs/reference/permissions.md", op.id)
		}
		head := w.Head()
		got := w.attack(a, ids.Replace(op.call), ids.Replace(bodies[op.call]))
		switch isRefusal := got.isRefusal(); {
		case r.verb == "run.claim" && got.status == http.StatusNoContent:
			// There is no task to claim in the projects in which the caller may claim.
		case r.refuses(a, op.call) && !isRefusal:
			w.Errorf("%s may not %s by the page, and got %d %.200s", a.name, op.call, got.status, got.body)
		case r.refuses(a, op.call):
			refused++
			if now := w.Head(); now != head {
				w.Errorf("%s was refused %s, and %d events were written", a.name, op.call, now-head)
			}
		case isRefusal && !r.hasRuleBeside():
			w.Errorf("%s may %s by the page, and was refused: %d %.200s", a.name, op.call, got.status, got.body)
		}
	}
	return refused
}

// The local user of a single-user server is refused nothing, unless the page names a rule outside the table.
func TestMatrixOfTheLocalUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t, singleUser)
	w.addDelivery()
	w.token(`{"name":"r","kind":"human","member":"rob","role":"admin","scopes":["read"]}`)
	ids, rows := w.realIDs(), readPermissions(t)
	bodies := mapOf(writingBodies, "PUT /v1/workflows/{name}", quoted(map[string]any{"source": deploy}))
	for _, op := range readDocument(t, w).inOrder() {
		if rows[op.id].hasRuleBeside() {
			continue
		}
		if got := w.call("", ids.Replace(op.call), ids.Replace(bodies[op.call]), "Accept", "application/json"); got.isRefusal() {
			t.Errorf("%s is refused: %d %.200s", op.call, got.status, got.body)
		}
	}
}

// isAdmins reports whether the policy's sign-in requirement for admins applies to the call. It applies to all calls
// that only admins may make, and to changes of gate rules.
func (r row) isAdmins() bool {
	return strings.HasSuffix(r.scope, "admin") || strings.HasPrefix(r.role, "admin ") || r.verb == "gate.rules_change"
}

// If the policy requires a sign-in from admins, their tokens can neither administer nor change gate rules. Their
// browsers can.
func TestAdminsAdministerInTheBrowser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addDelivery()
	token := w.token(`{"name":"t","kind":"human","member":"the-admin","role":"admin","scopes":["admin"]}`)
	link, err := w.Engine.MakeLink(t.Context(), fermata.Caller{WorkspaceID: store.DefaultWorkspace, Kind: fermata.ActorSystem, Scopes: []fermata.Scope{fermata.ScopeAdmin}}, "the-admin")
	if err != nil {
		t.Fatal(err)
	}
	browser := reader{cookie: w.cookie(w.redeem(link.Secret))}
	w.token(`{"name":"r","kind":"human","member":"rob","role":"admin","scopes":["read"]}`)
	ids, rows := w.realIDs(), readPermissions(t)
	bodies := mapOf(writingBodies, "PUT /v1/workflows/{name}", quoted(map[string]any{"source": deploy}))
	policy := `{"min_timeout":"5m","max_timeout":"24h","allow_never":true,"allow_longer":true,"allow_shorter":true,"admin_assurance":"session"}`
	w.must(http.StatusOK, token, "PUT /v1/policies", policy, nil)
	bodies["PUT /v1/policies"] = policy
	refused := 0
	for _, op := range readDocument(t, w).inOrder() {
		if r := rows[op.id]; r.verb == "open" || !r.isAdmins() || strings.Contains(r.scope, "one's own") && !strings.Contains(op.call, "/members/{id}") {
			continue
		}
		head := w.Head()
		got := w.attack(attacker{reader: reader{token: token}}, ids.Replace(op.call), ids.Replace(bodies[op.call]))
		if !got.isRefusal() || w.Head() != head {
			t.Errorf("an admin's token may %s: %d %.200s", op.call, got.status, got.body)
		}
		refused++
		if got := w.attack(attacker{reader: browser}, ids.Replace(op.call), ids.Replace(bodies[op.call])); got.isRefusal() {
			t.Errorf("an admin's browser may not %s: %d %.200s", op.call, got.status, got.body)
		}
	}
	// Only an admin may define a tool that is an MCP server, by any call.
	for call, body := range map[string]string{
		"PUT /v1/tools/another": `{"server":{"command":["ls"]}}`,
		"POST /v1/tools":        `{"items":[{"name":"another","server":{"command":["ls"]}}]}`,
	} {
		head := w.Head()
		if got := w.call(token, call, body); !got.isRefusal() || w.Head() != head {
			t.Errorf("an admin's token may %s: %d %.200s", call, got.status, got.body)
		}
		if got := w.attack(attacker{reader: browser}, call, body); got.isRefusal() {
			t.Errorf("an admin's browser may not %s: %d %.200s", call, got.status, got.body)
		}
	}
	if refused < 27 {
		t.Errorf("only %d calls are for admins", refused)
	}
	p := w.call(token, "PUT /v1/policies", policy).problem(t)
	if p.Code != fermata.CodeForbidden || !strings.Contains(p.Detail, "yours is channel, and this requires session") || !strings.Contains(p.Hint, "browser") {
		t.Errorf("the refusal is %+v", p)
	}
	// The token can still make the calls that are not for admins only.
	w.must(http.StatusOK, token, "GET /v1/tasks", "", nil)
	w.must(http.StatusCreated, token, "POST /v1/questions", `{"question":"?"}`, nil)
}

// documented is an operation of the OpenAPI document.
type documented struct{ id, call string }

// inOrder lists calls that read before calls that write, and calls that remove last.
func (d document) inOrder() []documented {
	var all []documented
	for path, calls := range d.Paths {
		for method, c := range calls {
			all = append(all, documented{c.OperationID, strings.ToUpper(method) + " " + path})
		}
	}
	order := []string{"GET", "PUT", "PATCH", "POST", "DELETE"}
	slices.SortFunc(all, func(a, b documented) int {
		methodA, _, _ := strings.Cut(a.call, " ")
		methodB, _, _ := strings.Cut(b.call, " ")
		if ends := "POST /v1/sign-out"; a.call == ends || b.call == ends {
			// No call can follow in a session that has ended.
			return strings.Compare(strconv.FormatBool(a.call == ends), strconv.FormatBool(b.call == ends))
		}
		if n := slices.Index(order, methodA) - slices.Index(order, methodB); n != 0 {
			return n
		}
		return strings.Compare(a.call, b.call)
	})
	return all
}

func (w *world) attack(a attacker, call, body string) reply {
	w.Helper()
	if a.cookie != "" {
		return w.call("", call, body, "Cookie", a.cookie, "Sec-Fetch-Site", "same-origin", "Accept", "application/json")
	}
	return w.call(a.token, call, body, "Accept", "application/json")
}

// isRefusal reports whether the call was refused because of its caller: as a whole, or for the last item in it.
func (r reply) isRefusal() bool {
	var p struct {
		Code  fermata.Code
		Items []struct{ Problem struct{ Code fermata.Code } }
	}
	if json.Unmarshal(r.body, &p) != nil {
		return false
	}
	refused := []fermata.Code{fermata.CodeForbidden, fermata.CodeNotEligible, fermata.CodeUnauthenticated}
	for _, item := range p.Items {
		p.Code = item.Problem.Code
	}
	return slices.Contains(refused, p.Code)
}
