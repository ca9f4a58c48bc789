package posting_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/posting"
)

func read(t *testing.T, text string) *posting.Input {
	t.Helper()
	var in posting.Input
	if err := json.Unmarshal([]byte(text), &in); err != nil {
		t.Fatal(err)
	}
	return &in
}

// Numbers from files and agents are converted to the types of questions.
func TestRead(t *testing.T) {
	t.Parallel()
	a, err := posting.Read(map[string]any{
		"question": "?", "confidence": 79.9, "metadata": map[string]any{"n": 3, "ok": true}, "options": []any{1, map[string]any{"value": 2.5, "label": "B"}},
	}, true)
	if err != nil {
		t.Fatal(err)
	}
	sure := 79
	want := fermata.Ask{
		Type: fermata.Approval, Question: "?", Confidence: &sure, Metadata: map[string]string{"n": "3", "ok": "true"},
		Options: []fermata.Option{{Value: "1"}, {Value: "2.5", Label: "B"}},
	}
	if diff := cmp.Diff(want, a); diff != "" {
		t.Error(diff)
	}
	a, err = posting.Read(map[string]any{"items": []any{map[string]any{"prompt": "?", "options": []any{map[string]any{"value": 1}}}}}, false)
	if err != nil || a.Items[0].Options[0].Value != "1" {
		t.Errorf("%v %+v", err, a)
	}
	for doc, want := range map[string]string{
		`{"qestion":"?"}`: "qestion: is no known field; names are exact",
		`{"items":[{"key":"a"},{"responseType":"text"}]}`:      "items[1].responseType: is no known field; names are exact: write response_type",
		`{"title":"?","options":[{"value":"a","dangr":true}]}`: "options[0].dangr: is no known field; names are exact",
		`{"title":3}`:          "title: is a JSON number, which does not fit here",
		`{"question":{"a":1}}`: "question: is a JSON object, which does not fit here",
		`{"question":["a"]}`:   "question: is a JSON list, which does not fit here",
	} {
		var input map[string]any
		if err := json.Unmarshal([]byte(doc), &input); err != nil {
			t.Fatal(err)
		}
		_, err := posting.Read(input, false)
		var refusal *fermata.Error
		if !errors.As(err, &refusal) || len(refusal.Problems) != 1 || refusal.Problems[0].Field+": "+refusal.Problems[0].Message != want {
			t.Errorf("%s: %v, want %q", doc, err, want)
		}
	}
}

func TestAsk(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]fermata.Ask{
		`{"question":"Which?","options":["toml",{"label":"YAML","value":"yaml"}],"defaultAnswer":"toml","timeoutHours":1.5,"timeoutAction":"skip"}`: {
			Question: "Which?", Options: []fermata.Option{{Value: "toml"}, {Value: "yaml", Label: "YAML"}}, Default: "toml", Timeout: "90m", OnTimeout: fermata.SkipTask,
		},
		`{"question":"How many?","responseType":"number","defaultAnswer":"3"}`: {
			Question: "How many?", ResponseType: fermata.ResponseNumber, Default: 3.0,
		},
		`{"question":"?","notifyVia":["inbox","github","team","github"],"issueNumber":42,"metadata":{"run":"7"}}`: {
			Question: "?", Channels: []string{"github", "team"}, Metadata: map[string]string{"run": "7", "github_issue": "42"},
		},
		`{"question":"?","slackChannel":" #dev ","slackMention":"@ann, <@U0001>"}`: {
			Question: "?", Channels: []string{"slack"}, Metadata: map[string]string{"slack": "#dev", "slack_mention": "@ann <@U0001>"},
		},
		`{"question":"?","channels":["push"],"emailRecipients":["Ann <ann@example.com>","bob@example.com"]}`: {
			Question: "?", Channels: []string{"push", "email"}, Metadata: map[string]string{"email": "ann@example.com, bob@example.com"},
		},
	} {
		got, err := read(t, text).AskRequest()
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestWhatCannotBeMeant(t *testing.T) {
	t.Parallel()
	for text, field := range map[string]string{
		`{"timeoutHours":-1}`:                                    "timeoutHours",
		`{"timeoutHours":1,"timeout":"1h"}`:                      "timeoutHours",
		`{"timeoutAction":"skip","on_timeout":"fail"}`:           "timeoutAction",
		`{"defaultAnswer":1,"default":1}`:                        "defaultAnswer",
		`{"responseType":"text","response_type":"date"}`:         "responseType",
		`{"issueNumber":1.5}`:                                    "issueNumber",
		`{"issueNumber":7,"metadata":{"github_issue":"o/r#8"}}`:  "issueNumber",
		`{"slackChannel":"#a","metadata":{"slack":"#b"}}`:        "slackChannel",
		`{"slackMention":"<!channel>"}`:                          "slackMention",
		`{"slackMention":"a b c d e f g h i j k"}`:               "slackMention",
		`{"emailRecipients":["ann@example.com","no address"]}`:   "emailRecipients[1]",
		`{"emailRecipients":["a@b.c"],"metadata":{"email":"x"}}`: "emailRecipients",
	} {
		_, err := read(t, text).AskRequest()
		var e *fermata.Error
		if !errors.As(err, &e) || len(e.Problems) != 1 || e.Problems[0].Field != field {
			t.Errorf("%s: got %v, want a problem of %s", text, err, field)
		}
	}
}

// The length of people's names is limited; the length of Slack ids is not.
func TestLongestMention(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		strings.Repeat("é", 100):              true,
		strings.Repeat("é", 101):              false,
		"@" + strings.Repeat("a", 100):        true,
		"@" + strings.Repeat("a", 101):        false,
		"<@" + strings.Repeat("U", 150) + ">": true,
	} {
		if _, err := read(t, `{"slackMention":"`+name+`"}`).AskRequest(); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Problems that the engine finds are reported with the field names of the
// input.
func TestExplain(t *testing.T) {
	t.Parallel()
	refused := fermata.Invalid(fermata.Problem{Field: "channels[0]", Message: `there is no channel "x" here`}).WithHint("there are: inbox")
	for text, field := range map[string]string{
		`{"notifyVia":["inbox","x"]}`:      "notifyVia",
		`{"slackChannel":"#dev"}`:          "slackChannel",
		`{"slackMention":"@ann"}`:          "slackMention",
		`{"emailRecipients":["a@b.c"]}`:    "emailRecipients",
		`{"channels":["x"]}`:               "channels[0]",
		`{"question":"asked in some way"}`: "channels[0]",
	} {
		err := read(t, text).Explain(refused)
		var e *fermata.Error
		if !errors.As(err, &e) || e.Problems[0].Field != field || !strings.HasPrefix(e.Message, field+": ") || e.Hint != refused.Hint {
			t.Errorf("%s: got %+v, want %s", text, err, field)
		}
	}
	if err := errors.New("no error of ours"); !errors.Is(read(t, `{}`).Explain(err), err) {
		t.Error("another error was changed")
	}
}

// The error of an input lists all its problems, so that its author can fix all of them at once.
func TestAllProblemsAreTold(t *testing.T) {
	t.Parallel()
	_, err := read(t, `{"question": "?", "title": "a", "header": "b", "multiSelect": true, "response_type": "text", "responseType": "number",
		"default": "a", "defaultAnswer": "b", "timeout": "1h", "timeoutHours": 5, "on_timeout": "fail", "timeoutAction": "skip",
		"issueNumber": "x", "slackMention": "a! b!", "emailRecipients": ["q", "r@example.com", "s"]}`).AskRequest()
	var refusal *fermata.Error
	if !errors.As(err, &refusal) || refusal.Code != fermata.CodeInvalidRequest {
		t.Fatal(err)
	}
	var fields []string
	for _, p := range refusal.Problems {
		fields = append(fields, p.Field)
	}
	want := []string{
		"header", "multiSelect", "responseType", "defaultAnswer", "timeoutHours", "timeoutAction", "issueNumber", "slackMention", "slackMention",
		"emailRecipients[0]", "emailRecipients[2]",
	}
	if diff := cmp.Diff(want, fields); diff != "" {
		t.Error(diff)
	}
}
