package scriptedmodel_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata/internal/scriptedmodel"
	"github.com/fermata-hq/fermata/test/patience"
)

// turns are the first and the second request of one conversation in each format.
var turns = map[string]struct{ path, first, second, called string }{
	"anthropic": {
		"/v1/messages",
		`{"model":"m","stream":true,"tools":[{"name":"mcp__a__ask_user"}],"messages":[{"role":"user","content":"go"}]}`,
		`{"model":"m","stream":true,"tools":[{"name":"mcp__a__ask_user"}],"messages":[{"role":"user","content":"go"},
		  {"role":"assistant","content":[{"type":"tool_use","id":"x","name":"n","input":{}}]},
		  {"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":"answered"}]}]}`,
		`"name":"mcp__a__ask_user"`,
	},
	"responses": {
		"/v1/responses",
		`{"model":"m","stream":true,"tools":[{"type":"namespace","name":"mcp__a","tools":[{"name":"ask_user"}]}],
		  "input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}]}`,
		`{"model":"m","stream":true,"tools":[{"type":"function","name":"x"}],"input":[{"role":"user","content":"go"},
		  {"type":"function_call","call_id":"x","name":"n","arguments":"{}"},
		  {"type":"function_call_output","call_id":"x","output":"answered"}]}`,
		`"namespace":"mcp__a"`,
	},
	"chat": {
		"/v1/chat/completions",
		`{"model":"m","stream":true,"tools":[{"type":"function","function":{"name":"a_ask_user"}}],
		  "messages":[{"role":"user","content":"go"}]}`,
		`{"model":"m","tools":[{"type":"function","function":{"name":"a_ask_user"}}],"messages":[{"role":"user","content":"go"},
		  {"role":"assistant","tool_calls":[{"id":"x","function":{"name":"n","arguments":"{}"}}]},
		  {"role":"tool","tool_call_id":"x","content":"answered"}]}`,
		`"name":"a_ask_user"`,
	},
	"gemini": {
		"/v1beta/models/m:streamGenerateContent",
		`{"tools":[{"functionDeclarations":[{"name":"mcp_a_ask_user"}]}],"contents":[{"role":"user","parts":[{"text":"go"}]}]}`,
		`{"tools":[{"functionDeclarations":[{"name":"x"}]}],"contents":[{"role":"user","parts":[{"text":"go"}]},
		  {"role":"model","parts":[{"functionCall":{"id":"x","name":"n","args":{}}}]},
		  {"role":"user","parts":[{"functionResponse":{"id":"x","name":"n","response":{"output":"answered"}}}]}]}`,
		`"name":"mcp_a_ask_user"`,
	},
}

// One script drives every format: first a call, whatever name the client gave the tool, and then the reply to its
// result.
func TestFormats(t *testing.T) {
	t.Parallel()
	for name, turn := range turns {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := scriptedmodel.New(scriptedmodel.Script{Rules: []scriptedmodel.Rule{
				{Name: "ask", When: scriptedmodel.When{Turn: new(0)}, Reply: []scriptedmodel.Part{
					{Text: "hm"}, scriptedmodel.Call("~ask_user", map[string]any{"question": "q"}),
				}},
				{Name: "done", When: scriptedmodel.When{Last: "answered"}, Reply: scriptedmodel.Say("thanks")},
			}})
			url := serve(t, model)
			if got := post(t, url+turn.path, turn.first); !strings.Contains(got, turn.called) || !strings.Contains(got, "hm") {
				t.Errorf("the first reply is %s", got)
			}
			if got := post(t, url+turn.path, turn.second); !strings.Contains(got, "thanks") {
				t.Errorf("the second reply is %s", got)
			}
			requests := model.Requests()
			if len(requests) != 2 || requests[0].Rule != "ask" || requests[1].Rule != "done" {
				t.Fatalf("the model was asked %+v", requests)
			}
			c := requests[1].Conversation
			result, ok := c.Result("x")
			if !ok || !strings.Contains(result.Text, "answered") || len(c.Calls("n")) != 1 || c.Turns() != 1 {
				t.Errorf("it read the conversation as %+v", c.Entries)
			}
		})
	}
}

func TestSideRequestsAndTimes(t *testing.T) {
	t.Parallel()
	model := scriptedmodel.New(scriptedmodel.Script{Rules: []scriptedmodel.Rule{{Name: "once", Times: 1, Reply: scriptedmodel.Say("first")}}})
	url := serve(t, model) + "/v1/messages"
	side := `{"messages":[{"role":"user","content":"a title"}]}`
	main := `{"tools":[{"name":"x"}],"messages":[{"role":"user","content":"go"}]}`
	for _, turn := range []struct{ body, want string }{{side, "ok"}, {main, "first"}, {main, "SCRIPT-END"}} {
		if got := post(t, url, turn.body); !strings.Contains(got, turn.want) {
			t.Errorf("got %s, want %s", got, turn.want)
		}
	}
}

func TestHold(t *testing.T) {
	t.Parallel()
	model := scriptedmodel.New(scriptedmodel.Script{Rules: []scriptedmodel.Rule{{Name: "slow", Hold: true, Reply: scriptedmodel.Say("at last")}}})
	url := serve(t, model) + "/v1/messages"
	got := make(chan string, 1)
	go func() { got <- post(t, url, `{"tools":[{"name":"x"}],"messages":[]}`) }()
	ctx, cancel := context.WithTimeout(t.Context(), patience.Limit())
	defer cancel()
	if _, err := model.Await(ctx, "slow"); err != nil {
		t.Fatal(err)
	}
	select {
	case text := <-got:
		t.Fatalf("the reply came before it was released: %s", text)
	default:
	}
	model.Release("slow")
	if text := patience.Receive(t, "the model replies", got); !strings.Contains(text, "at last") {
		t.Errorf("got %s", text)
	}
}

func TestUnknownRequestsAreKept(t *testing.T) {
	t.Parallel()
	model := scriptedmodel.New(scriptedmodel.Script{})
	res, err := http.Get(serve(t, model) + "/telemetry")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	all := model.AllRequests()
	if res.StatusCode != http.StatusNotFound || len(all) != 1 || all[0].Kind != "other" || len(model.Requests()) != 0 {
		t.Errorf("got %s and kept %+v", res.Status, all)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	s, err := scriptedmodel.Parse([]byte(`{"rules":[{"when":{"turn":0},"reply":[{"text":"hi"}]}]}`))
	if err != nil || len(s.Rules) != 1 || *s.Rules[0].When.Turn != 0 {
		t.Errorf("got %+v, %v", s, err)
	}
	if _, err := scriptedmodel.Parse([]byte(`{"rules":[{"when":{"trun":0}}]}`)); err == nil {
		t.Error("a condition that does not exist was taken")
	}
}

func serve(t *testing.T, m *scriptedmodel.Model) string {
	t.Helper()
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	return server.URL
}

func post(t *testing.T, url, body string) string {
	t.Helper()
	res, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return ""
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("%s: %s %s %v", url, res.Status, text, err)
	}
	return string(text)
}
