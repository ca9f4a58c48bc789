package ask_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/clitest"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

func TestAnErrorNamesTheFlagAndTheEntry(t *testing.T) {
	t.Parallel()
	levels := clitest.WriteFile(t, "levels.json", `[{"assignees":["bob"],"timeout":"1h"},{"assignee":["eve"]}]`)
	items := clitest.WriteFile(t, "items.json", `[{"prompt":"Where?"},{"prompt":"When?","options":[{"value":"a"},{"valeu":"b"}]}]`)
	whole := clitest.WriteFile(t, "whole.json", `{"items":[{"promt":"Where?"}]}`)
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"a list":          {[]string{"ask", "Go?", "--escalation", `[{"assignee":["bob"]}]`}, "--escalation, entry 1: assignee: is no known field; names are exact"},
		"one level":       {[]string{"ask", "Go?", "--escalation", `{"assignee":["bob"]}`}, "--escalation, entry 1: assignee: is no known field; names are exact"},
		"no level":        {[]string{"ask", "Go?", "--escalation", `["bob"]`}, "--escalation, entry 1: is a JSON string, which does not fit here"},
		"a file":          {[]string{"ask", "Go?", "--escalation", "@" + levels}, "--escalation, entry 2: assignee: is no known field; names are exact in " + levels},
		"not whole":       {[]string{"ask", "Go?", "--escalation", `[{"timeout":"1h"`}, "--escalation, entry 1: the JSON ends too early"},
		"items":           {[]string{"ask", "--items", items}, "--items, entry 2: options, entry 2: valeu: is no known field; names are exact in " + items},
		"a whole request": {[]string{"ask", "--items", whole}, "--items: items[0].promt: is no known field; names are exact in " + whole},
		"an action":       {[]string{"ask", "Go?", "--action", `{"a":{"b":1,"b":2}}`}, "--action: a.b: stands twice"},
		"a list to run":   {[]string{"ask", "Go?", "--action", `[{"a":1,"a":2}]`}, "--action, entry 1: a: stands twice"},
		"approvals":       {[]string{"ask", "Go?", "--approvals", "0"}, "--approvals: 0 people cannot approve"},
		"no number":       {[]string{"ask", "Go?", "--approvals", "[2]"}, "--approvals: "},
		"no default":      {[]string{"ask", "--items", clitest.WriteFile(t, "two.json", `[{"prompt":"Where?"},{"prompt":"When?"}]`), "--default", "x"}, "--default: several items have a default each"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, _, talk := clitest.Run(t, "", append([]string{"--url", "http://127.0.0.1:1"}, c.args...)...)
			if code != session.ExitUsage || !strings.Contains(talk, "error: "+c.says) {
				t.Errorf("exit code %d: %s, want %q", code, talk, c.says)
			}
			if strings.Count(talk, "\n") > 2 {
				t.Errorf("it says it twice: %s", talk)
			}
		})
	}
}

func TestAnErrorOfTheServerNamesTheFlag(t *testing.T) {
	t.Parallel()
	refusal := func(problems ...fermata.Problem) string {
		e := fermata.Invalid(problems...)
		data, err := json.Marshal(map[string]any{"code": e.Code, "detail": e.Message, "problems": e.Problems})
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	items := clitest.WriteFile(t, "items.json", `[{"prompt":"Where?"}]`)
	one := refusal(fermata.Problem{Field: "escalation[0].timeout", Message: "must be a duration"})
	for name, c := range map[string]struct {
		reply string
		args  []string
		says  []string
	}{
		"a level": {one, []string{"Go?", "--escalation", `{"assignees":["bob"]}`}, []string{"error: --escalation, entry 1: timeout: must be a duration\n"}},
		"several": {
			refusal(fermata.Problem{Field: "assignees[1]", Message: "is nobody"}, fermata.Problem{Field: "options[0].value", Message: "must not be empty"}),
			[]string{"Go?", "--assign", "ann", "--assign", "nobody", "-o", "a"},
			[]string{"  --assign, entry 2: is nobody\n", "  --option, entry 1: value: must not be empty\n"},
		},
		"a quorum":   {refusal(fermata.Problem{Field: "approvals.required", Message: "is too much"}), []string{"Go?", "--approvals", "200"}, []string{"error: --approvals: is too much\n"}},
		"an item":    {refusal(fermata.Problem{Field: "items[0].prompt", Message: "is too long"}), []string{"--items", items}, []string{"error: --items, entry 1: prompt: is too long\n"}},
		"as JSON":    {one, []string{"Go?", "--json", "--escalation", `{"assignees":["bob"]}`}, []string{`"field":"escalation[0].timeout"`}},
		"no flag's":  {one, []string{"Go?"}, []string{"error: escalation[0].timeout: must be a duration\n"}},
		"other word": {refusal(fermata.Problem{Field: "state", Message: "is too long"}), []string{"Go?"}, []string{"error: state: is too long\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/problem+json")
				w.WriteHeader(http.StatusUnprocessableEntity)
				_, _ = w.Write([]byte(c.reply))
			}))
			t.Cleanup(server.Close)
			_, _, talk := clitest.Run(t, "", append([]string{"--url", server.URL, "ask"}, c.args...)...)
			for _, want := range c.says {
				if !strings.Contains(talk, want) {
					t.Errorf("it says %q, want %q", talk, want)
				}
			}
		})
	}
}
