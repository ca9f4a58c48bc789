package cli_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/cli/clitest"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

// wholeCommands are command lines that set every field of a request, with that
// request. without names each field that a command line leaves out, and why.
var wholeCommands = []struct {
	name    string
	args    []string
	request any
	without map[string]string
	want    string
}{
	{
		"create",
		[]string{
			"create", "T", "--body", "b", "--project", "p", "--parent", "x", "--blocked-by", "y,z", "--priority", "0", "--size", "small", "--agent", "code",
			"--runner", "external", "--label", "l,m", "--spec", `{"a":1}`, "--defer", "2027-01-31T12:00:00Z", "--max-attempts", "4", "--session", "s", "--ends-with-answer", "--isolated",
		},
		fermata.NewTask{},
		nil,
		`{"title":"T","body":"b","project":"p","parent_id":"x","blocked_by":["y","z"],"priority":0,"size":"small","agent":"code","runner":"external",
		"labels":["l,m"],"spec":{"a":1},"defer_until":"2027-01-31T12:00:00Z","max_attempts":4,"session_key":"s","ends_with_answer":true,"isolated":true}`,
	},
	{
		"gate add",
		[]string{"gate", "add", "ask", "Bash", "command=ls", "--project", "p", "--expires-in", "8h", "--risk", "high", "--reason", "r"},
		fermata.NewGateRule{},
		map[string]string{
			"task_id": "a rule is for a project, a task or a session", "session_key": "a rule is for a project, a task or a session",
			"uses": "an allow rule has uses, an ask rule has a risk",
		},
		`{"tool":"Bash","args":{"command":"ls"},"decision":"ask","project":"p","expires_in":"8h","risk":"high","reason":"r"}`,
	},
	{
		"gate add allow",
		[]string{"gate", "add", "allow", "Bash", "--task", "x", "--uses", "2"},
		nil, nil,
		`{"tool":"Bash","decision":"allow","task_id":"x","uses":2}`,
	},
	{
		"gate add for a session",
		[]string{"gate", "add", "allow", "Bash", "--session", "s"},
		nil, nil,
		`{"tool":"Bash","decision":"allow","session_key":"s"}`,
	},
	{
		"token create",
		[]string{"token", "create", "t", "--member", "anna", "--role", "operator", "--group", "ops", "--scope", "answer,read", "--expires-in", "90d"},
		fermata.NewToken{},
		map[string]string{"projects": "only agents' tokens have them"},
		`{"name":"t","kind":"human","member":"anna","role":"operator","groups":["ops"],"scopes":["answer","read"],"expires_in":"90d"}`,
	},
	{
		"token create for an agent",
		[]string{"token", "create", "t", "--scope", "ask", "--project", "web", "--project", "shop", "--expires-in", "90d"},
		fermata.NewToken{},
		map[string]string{"member": "it is nobody's", "role": "it is nobody's", "groups": "it is nobody's"},
		`{"name":"t","kind":"agent","scopes":["ask"],"projects":["web","shop"],"expires_in":"90d"}`,
	},
	{
		"member add",
		[]string{"member", "add", "anna", "--name", "Anna", "--email", "a@example.com", "--role", "admin", "--group", "ops", "--project", "web=operator"},
		client.NewMember{},
		nil,
		`{"handle":"anna","name":"Anna","email":"a@example.com","role":"admin","groups":["ops"],"projects":{"web":"operator"}}`,
	},
	{
		"member invite",
		[]string{"member", "invite", "a@example.com", "--handle", "anna", "--name", "Anna", "--role", "admin", "--group", "ops", "--project", "web=operator"},
		fermata.NewInvitation{},
		nil,
		`{"email":"a@example.com","handle":"anna","name":"Anna","role":"admin","groups":["ops"],"projects":{"web":"operator"}}`,
	},
	{
		"member set",
		[]string{"member", "set", "anna", "--name", "Anna", "--email", "a@example.com", "--role", "admin", "--group", "ops", "--project", "web=operator", "--disable"},
		fermata.MemberChange{},
		nil,
		`{"name":"Anna","email":"a@example.com","role":"admin","groups":["ops"],"projects":{"web":"operator"},"disabled":true}`,
	},
	{
		"member identity",
		[]string{"member", "identity", "anna", "slack", "U1", "--name", "anna.k"},
		nil, nil,
		`{"id":"U1","name":"anna.k"}`,
	},
	{
		"channel add",
		[]string{"channel", "add", "notify", "phone", "url=file:/u", "--disabled"},
		fermata.NewChannel{},
		nil,
		`{"kind":"notify","name":"phone","settings":{"url":"file:/u"},"disabled":true}`,
	},
	{
		"channel set",
		[]string{"channel", "set", "phone", "url=file:/u", "--unset", "token", "--rename", "mobile"},
		fermata.ChannelChange{},
		map[string]string{"enabled": "fermata channel enable and disable say it"},
		`{"name":"mobile","settings":{"url":"file:/u","token":null}}`,
	},
	{
		"approve",
		[]string{"approve", "q_1", "--yes", "--comment", "c", "--restart", "--undo", "--action", `{"command":"ls"}`},
		fermata.Answer{},
		map[string]string{"answers": "an approval has one item", "signature": "passkeys sign in the browser only"},
		`{"answer":"approve","comment":"c","restart":true,"undo":true,"action":{"command":"ls"},"action_hash":"hash","channel":"cli"}`,
	},
	{
		"assign",
		[]string{"assign", "q_1", "bob", "group:ops", "--note", "n"},
		fermata.Assignment{},
		nil,
		`{"assignees":["bob","group:ops"],"note":"n"}`,
	},
	{
		"snooze until",
		[]string{"snooze", "q_1", "--until", "2027-01-31T12:00:00Z"},
		fermata.Snooze{},
		map[string]string{"for": "a question is put off either for a time or until an instant"},
		`{"until":"2027-01-31T12:00:00Z"}`,
	},
	{
		"snooze for",
		[]string{"snooze", "q_1", "2h"},
		nil, nil,
		`{"for":"2h"}`,
	},
	{
		"workflow retry",
		[]string{"workflow", "retry", "q_1", "--input", `{"url":"x"}`},
		nil, nil,
		`{"input":{"url":"x"}}`,
	},
	{
		"workflow rewind",
		[]string{"workflow", "rewind", "q_1", "draft", "-m", "shorter", "--newest"},
		fermata.RunRewind{}, nil,
		`{"step":"draft","feedback":"shorter","newest":true}`,
	},
}

// jsonNames returns the JSON names of a struct's fields.
func jsonNames(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}

// approvalServer is a server that replies to every request with the same
// approval.
func approvalServer(t *testing.T) string {
	t.Helper()
	q := &fermata.Question{
		ID: "q_1", Type: fermata.Approval, Status: fermata.Pending,
		Asked: fermata.Asked{
			ActionHash: "hash",
			Items:      []fermata.Item{{Key: "answer", Prompt: "Run it?", ResponseType: fermata.ResponseApproval}},
		},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(q) }))
	t.Cleanup(server.Close)
	return server.URL
}

func TestCommandsSendEveryFieldOfTheirRequest(t *testing.T) {
	t.Parallel()
	url := approvalServer(t)
	for _, c := range wholeCommands {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			code, out, talk := clitest.Run(t, "", append(append([]string{"--url", url}, c.args...), "--dry-run")...)
			if code != session.ExitOK {
				t.Fatalf("exit code %d: %s", code, talk)
			}
			var want, got map[string]any
			for text, into := range map[string]*map[string]any{c.want: &want, out: &got} {
				if err := json.Unmarshal([]byte(text), into); err != nil {
					t.Fatalf("%s: %v", text, err)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("sent (-want +got):\n%s", diff)
			}
			if c.request == nil {
				return
			}
			for _, name := range jsonNames(reflect.TypeOf(c.request)) {
				_, sent := got[name]
				if _, left := c.without[name]; sent == left {
					t.Errorf("%s: sent is %t, to be left out is %t", name, sent, left)
				}
			}
			for name := range c.without {
				if !slices.Contains(jsonNames(reflect.TypeOf(c.request)), name) {
					t.Errorf("%s is left out, and is no field of the request", name)
				}
			}
		})
	}
}
