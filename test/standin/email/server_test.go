package email

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/fermata-hq/fermata/test/standin"
)

func TestTheServerTakesAndKeepsMails(t *testing.T) {
	t.Parallel()
	s := Start(t, Options{})
	raw := []byte("From: bob@people.test\nTo: ada@people.test\nSubject: Hello\nAuthentication-Results: mail.people.test; dmarc=pass header.from=people.test\n\nHi\n")
	if err := s.Submit("bob", raw, "ada@people.test"); err != nil {
		t.Fatal(err)
	}
	if err := s.Submit("bob", raw, "gone@people.test"); err == nil || !strings.Contains(err.Error(), "550") {
		t.Errorf("a mail to nobody: %v", err)
	}
	if err := s.Inject("eve@evil.test", raw, "x@elsewhere.test"); err == nil || !strings.Contains(err.Error(), "550") {
		t.Errorf("a mail for others: %v", err)
	}
	mails, err := s.Await("ada", 1)
	if err != nil {
		t.Fatal(err)
	}
	// The server itself reports its findings about the sender.
	results := mails[0].Header["Authentication-Results"]
	if len(results) != 1 || !strings.Contains(results[0], "auth=pass") || !strings.Contains(results[0], "smtp.auth=bob@people.test") {
		t.Errorf("the results are %q", results)
	}
}

func TestTheRemoteActsAsAPerson(t *testing.T) {
	t.Parallel()
	r := NewRemote(t)
	ask := "From: fermata@people.test\nTo: ada@people.test\nReply-To: <fermata+tok@people.test>\nMessage-ID: <dlv_1@people.test>\nSubject: Question: Which?\nX-Fermata-Question: q_1\nX-Fermata-Status: pending\nContent-Type: text/plain; charset=utf-8\n\nWhich?\nQuestion q_1\n"
	if err := r.Submit("fermata", []byte(ask), "ada@people.test"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Await("ada", 1); err != nil {
		t.Fatal(err)
	}
	seen := r.VisibleMessages("ada")
	if len(seen) != 1 || seen[0].Question != "q_1" || seen[0].Closed {
		t.Fatalf("ada sees %+v", seen)
	}
	if err := r.Reply("ada", seen[0], standin.Reply{Answers: map[string]any{"db": "postgres", "ha": true}}); err != nil {
		t.Fatal(err)
	}
	replies, err := r.Await("fermata", 1)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(replies[0].Raw), "db: postgres") || !strings.Contains(string(replies[0].Raw), "ha: yes") {
		t.Errorf("the reply is %s", replies[0].Raw)
	}
}

// trap is a server with pages that wrongly decide without a person. The path of
// a page says in what way.
type trap struct {
	mu     sync.Mutex
	sprung map[string]int
	server *httptest.Server
}

func newTrap(t *testing.T) *trap {
	tr := &trap{sprung: map[string]int{}}
	tr.server = httptest.NewServer(tr)
	t.Cleanup(tr.server.Close)
	return tr
}

const pages = `<!doctype html><title>trap</title><a href="/linked">x</a>
<button type="button" onclick="fetch('/button', {method: 'POST'})">x</button>
<script>fetch('/script', {method: 'POST'})</script>
<form method="post" action="/person"><input type="hidden" name="nonce" value="n"><button name="answer" value="approve">Approve</button></form>`

// confirmation is the page after a form that a person submits.
const confirmation = `<!doctype html><title>sure?</title><form method="post" action="/confirmed"><input type="hidden" name="seen" value="s"><button>Yes</button></form>`

func (tr *trap) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	switch {
	case r.URL.Path == "/person" && r.Method == http.MethodPost && r.FormValue("nonce") == "n":
		tr.sprung["form "+r.FormValue("answer")]++
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, confirmation)
		return
	case r.URL.Path == "/confirmed" && r.Method == http.MethodPost && r.FormValue("seen") == "s":
		tr.sprung["person"]++
	case r.URL.Path == "/a/moved":
		http.Redirect(w, r, "/redirected", http.StatusFound)
		return
	default:
		tr.sprung[r.Method+" "+r.URL.Path+" "+r.FormValue("answer")]++
	}
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprint(w, pages)
}

func TestTheScannerDoesAllButWhatAPersonDoes(t *testing.T) {
	t.Parallel()
	tr := newTrap(t)
	m := &Mail{
		HTML: `<a href="` + tr.server.URL + `/a/secret">Answer</a><a href="https://elsewhere.test/">x</a>`, Plain: "Open: " + tr.server.URL + "/a/moved.",
		Header: map[string][]string{"List-Unsubscribe": {"<" + tr.server.URL + "/out>"}},
	}
	s := NewScanner(t, tr.server.URL)
	s.Browser = true
	asked := s.Scan(m)
	if len(asked) < 4 {
		t.Errorf("asked for %q", asked)
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	for _, want := range []string{
		"GET /a/secret ", "HEAD /a/secret ", "POST /a/secret ", "POST /a/secret approve", "GET /redirected ", "GET /linked ", "GET /out ", "POST /out ",
		"POST /script ", "POST /button ", "POST /person approve",
		"form ", "form approve",
	} {
		if tr.sprung[want] == 0 {
			t.Errorf("the scanner does not do %q: %v", want, tr.sprung)
		}
	}
	if tr.sprung["person"] != 0 {
		t.Errorf("the scanner confirmed %d times as a person does", tr.sprung["person"])
	}
}
