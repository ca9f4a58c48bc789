package api_test

import (
	"net/http"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/test/patience"
)

// When a waiting call returns, the current rights count. A token that was revoked meanwhile gets nothing, and a role
// that was taken away gives no rights.
func TestACallThatWaitsGoesByPresentRights(t *testing.T) {
	t.Parallel()
	revoke := func(w *world, token fermata.Token) {
		w.must(http.StatusOK, w.admin, "DELETE /v1/tokens/"+token.ID, "", nil)
	}
	demote := func(w *world, _ fermata.Token) {
		w.must(http.StatusOK, w.admin, "PATCH /v1/members/bob", `{"role":"none"}`, nil)
	}
	claims := func(*fermata.Question) (string, string) { return "POST /v1/claims", `{"worker":"w","wait_seconds":60}` }
	waits := func(q *fermata.Question) (string, string) { return "GET /v1/questions/" + q.ID + "?wait=60s", "" }
	for name, tt := range map[string]struct {
		token string
		call  func(q *fermata.Question) (call, body string)
		ends  func(w *world, token fermata.Token)
	}{
		"a claim of a revoked token":     {`{"name":"a","scopes":["ask","work"]}`, claims, revoke},
		"a claim of a former member":     {`{"name":"b","kind":"human","member":"bob","scopes":["work"]}`, claims, demote},
		"a question for a revoked token": {`{"name":"c","scopes":["read"]}`, waits, revoke},
		"a question for a former member": {`{"name":"d","kind":"human","member":"bob","scopes":["read"]}`, waits, demote},
		"its words for a revoked token": {`{"name":"e","scopes":["read"]}`, func(q *fermata.Question) (string, string) {
			return "GET /v1/questions/" + q.ID + "?wait=60s&messages=true", ""
		}, revoke},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			q := w.ask(say)
			var token fermata.Token
			w.must(http.StatusCreated, w.admin, "POST /v1/tokens", tt.token, &token)
			call, body := tt.call(q)
			waiting := w.later(token.Secret, call, body)
			patience.Await(t, "the call is let in", func() bool {
				var list struct{ Items []fermata.Token }
				w.must(http.StatusOK, w.admin, "GET /v1/tokens", "", &list)
				for _, each := range list.Items {
					if each.ID == token.ID && each.LastUsedAt != nil {
						return true
					}
				}
				return false
			})
			tt.ends(w, token)
			w.task(`{"title":"secret job"}`)
			w.must(http.StatusOK, w.human, "POST /v1/questions/"+q.ID+"/answer", `{"answer":"x"}`, nil)
			if r := patience.Receive(t, "the wait ends", waiting); r.status < 400 {
				t.Errorf("it got %d: %s", r.status, r.body)
			}
		})
	}
}
