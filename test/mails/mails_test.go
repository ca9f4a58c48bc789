// Package mails runs the real program beside real mail servers.
package mails

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/testkit"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/ports"
	"github.com/fermata-hq/fermata/test/process"
	"github.com/fermata-hq/fermata/test/standin"
	mailserver "github.com/fermata-hq/fermata/test/standin/email"
)

func TestMain(m *testing.M) { process.Main(m) }

// world is a server with two people, a channel for mails, and a mail server.
type world struct {
	testkit.Test
	*mailserver.Remote
	server *process.Server
	admin  *client.Client
	// again starts the server once more, at its address and on its data.
	again func() *process.Server
	// channel is the name of the channel that reads replies.
	channel string
}

// newWorld starts a server with a mailbox for sending, and adds a channel that
// reads replies.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := startWorld(t, "mail")
	w.post("/v1/channels", map[string]any{"name": "mail", "kind": "email", "settings": w.Settings()})
	w.tested()
	return w
}

// withPassword puts the password into the address of a server.
func withPassword(address string) string {
	return strings.Replace(address, "@localhost", ":"+mailserver.Password+"@localhost", 1)
}

func startWorld(t *testing.T, channel string) *world {
	t.Helper()
	w := &world{Test: testkit.Test{T: t}, Remote: mailserver.NewRemote(t), channel: channel}
	// The links in mails contain this address, and the server must have the same
	// address after a restart.
	at := ports.Address(t)
	user := mailserver.Address("fermata")
	args := []string{"--listen", at, "--public-url", "http://" + at, "--smtp", withPassword(w.SMTP(user)), "--mail-from", user}
	if channel == "email" {
		args = append(args, "--imap", withPassword(w.IMAP(user)), "--mail-reply-to", strings.Replace(user, "@", "+{token}@", 1),
			"--mail-authserv-id", mailserver.Host)
	}
	// An operator does the same if the mail server's certificate is signed by a private authority.
	authority := filepath.Join(t.TempDir(), "authority.pem")
	if err := os.WriteFile(authority, []byte(w.CA), 0o600); err != nil {
		t.Fatal(err)
	}
	database := process.SQLite(t)
	w.again = func() *process.Server {
		server := process.LaunchWithEnv(t, process.Binary(t), []string{"SSL_CERT_FILE=" + authority}, database, args...)
		server.AwaitReady()
		return server
	}
	w.server = w.again()
	var err error
	if w.admin, err = client.New(w.server.URL, w.server.FirstToken); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ada", "bob"} {
		_, address := w.AddPerson(name)
		if _, err := w.admin.AddMember(t.Context(), client.NewMember{Handle: name, Name: strings.ToUpper(name[:1]) + name[1:], Role: fermata.RoleResponder}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.admin.ChangeMember(t.Context(), name, fermata.MemberChange{Email: &address}); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// tested tests the channel with a mail to Ada.
func (w *world) tested() {
	w.Helper()
	var tested fermata.ChannelTest
	if err := json.Unmarshal(w.post("/v1/channels/"+w.channel+"/test", map[string]any{"to": "ada"}), &tested); err != nil || len(tested.Problems) > 0 {
		w.Fatalf("the channel does not work: %+v, %v", tested, err)
	}
	w.await("ada", 1)
}

func (w *world) post(path string, body any) []byte {
	w.Helper()
	data, err := json.Marshal(body)
	w.OK(err)
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, w.server.URL+path, bytes.NewReader(data))
	w.OK(err)
	req.Header.Set("Authorization", "Bearer "+w.server.FirstToken)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	w.OK(err)
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= 300 {
		w.Fatalf("%s: %d %s", path, res.StatusCode, answer)
	}
	return answer
}

func (w *world) await(name string, n int) *mailserver.Mail {
	w.Helper()
	mails, err := w.Await(name, n)
	w.OK(err)
	return mails[n-1]
}

func (w *world) ask(a fermata.Ask) *fermata.Question {
	w.Helper()
	task, err := w.admin.CreateTask(w.Context(), fermata.NewTask{Title: "Settle it"})
	w.OK(err)
	a.Channels = []string{w.channel}
	q, err := w.admin.Ask(w.Context(), task.ID, a)
	w.OK(err)
	return q
}

func (w *world) closed(id string) *fermata.Question {
	w.Helper()
	q, err := w.admin.WaitQuestion(w.Context(), id, patience.Limit())
	w.OK(err)
	if q.Status == fermata.Pending {
		w.Fatalf("the question is open: ada was told %q", w.Feedback("ada"))
	}
	return q
}

func choice() fermata.Ask {
	return fermata.Ask{Type: fermata.Blocking, Title: "Which format?", Assignees: []string{"ada", "bob"}, Items: []fermata.Item{{
		Key: "format", Prompt: "Which format?", ResponseType: fermata.ResponseChoice, Options: []fermata.Option{{Value: "toml", Label: "TOML"}, {Value: "yaml", Label: "YAML"}},
	}}}
}

func TestAQuestionIsAnsweredByMail(t *testing.T) {
	t.Parallel()
	answeredByMail(t, newWorld(t))
}

// The channel that the flags of the server configure works without further settings.
func TestTheServersOwnMailbox(t *testing.T) {
	t.Parallel()
	w := startWorld(t, "email")
	w.tested()
	answeredByMail(t, w)
}

func answeredByMail(t *testing.T, w *world) {
	t.Helper()
	q := w.ask(choice())
	w.await("ada", 2)
	w.await("bob", 1)
	seen := w.VisibleMessages("ada")
	m := seen[len(seen)-1]
	if m.Question != q.ID || m.Closed {
		t.Fatalf("ada sees %+v", m)
	}
	if err := w.Reply("ada", m, standin.Reply{Text: "C"}); err != nil {
		t.Fatal(err)
	}
	w.await("ada", 3)
	if told := w.Feedback("ada"); len(told) != 1 || !strings.Contains(told[0], "Reply with") {
		t.Fatalf("ada was told %q", told)
	}
	if err := w.Reply("ada", m, standin.Reply{Answers: map[string]any{"format": "B"}}); err != nil {
		t.Fatal(err)
	}
	q = w.closed(q.ID)
	if q.Resolution.Answer != "yaml" || q.Resolution.AnsweredBy.Name != "ada" && q.Resolution.AnsweredBy.Name != "Ada" || q.Resolution.Channel != "email" || q.Resolution.Assurance != fermata.AssuranceChannel {
		t.Errorf("the resolution is %+v by %+v", q.Resolution, q.Resolution.AnsweredBy)
	}
	w.await("ada", 4)
	if told := w.Feedback("ada"); !strings.Contains(told[1], "Your answer counts") {
		t.Errorf("ada was told %q", told)
	}
	end := w.await("bob", 2)
	if !strings.Contains(end.Plain, "YAML") || !w.VisibleMessages("bob")[0].Closed {
		t.Errorf("bob was told %q", end.Plain)
	}
	// Bob is late.
	if err := w.Reply("bob", w.VisibleMessages("bob")[0], standin.Reply{Text: "A"}); err != nil {
		t.Fatal(err)
	}
	w.await("bob", 3)
	if told := w.Feedback("bob"); len(told) != 1 || !strings.Contains(told[0], "first") {
		t.Errorf("bob was told %q", told)
	}
}

func TestNoScannerDecides(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	policy, err := w.admin.Policy(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// The mail of an approval has a link only at low risk.
	policy.LeastRisk = map[fermata.QuestionType]fermata.Risk{fermata.Approval: fermata.RiskLow}
	if _, err := w.admin.SetPolicy(t.Context(), policy); err != nil {
		t.Fatal(err)
	}
	asks := []fermata.Ask{
		choice(),
		{Type: fermata.Approval, Title: "Deploy?", Risk: fermata.RiskLow, Action: json.RawMessage(`{"command":["true"]}`)},
		{Type: fermata.Blocking, Title: "Go on?", Risk: fermata.RiskLow, Items: []fermata.Item{{Key: "go", Prompt: "Go on?", ResponseType: fermata.ResponseBoolean}}},
	}
	var ids []string
	for i, a := range asks {
		ids = append(ids, w.ask(a).ID)
		w.await("ada", i+2)
	}
	mails, err := w.Mails("ada")
	if err != nil {
		t.Fatal(err)
	}
	s := mailserver.NewScanner(t, w.server.URL)
	s.Browser = true
	var asked []string
	for _, m := range mails {
		asked = append(asked, s.Scan(m)...)
	}
	if len(asked) < len(asks) {
		t.Errorf("the mails have hardly any links: %q", asked)
	}
	for _, id := range ids {
		q, err := w.admin.Question(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if q.Status != fermata.Pending || len(q.Votes) > 0 || q.HeldAnswer != nil {
			t.Errorf("a scanner decided: %+v", q)
		}
	}
}
