package fermata_test

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fermata-hq/fermata"
)

// TestAskDefaultsByType checks the table of
// docs/inside/contract.md#question-types.
func TestAskDefaultsByType(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		ask      string
		typ      fermata.QuestionType
		timeout  fermata.Timeout
		deadline time.Duration // 0: none
		action   fermata.TimeoutAction
		awaiting fermata.TaskState
		response fermata.ResponseType
	}{
		{"plain", `{"question":"Which?"}`, "blocking", "30m", 30 * time.Minute, "fail", "awaiting_input", "text"},
		{"blocking with a default", `{"type":"blocking","question":"Which?","default":"a"}`, "blocking", "30m", 30 * time.Minute, "default", "awaiting_input", "text"},
		{"non-blocking", `{"type":"non_blocking","question":"Which?","default":"a"}`, "non_blocking", "never", 0, "default", "awaiting_input", "text"},
		{"approval", `{"type":"approval","question":"Deploy?"}`, "approval", "15m", 15 * time.Minute, "fail", "awaiting_approval", "approval"},
		{"approval by its response type", `{"question":"Deploy?","response_type":"approval"}`, "approval", "15m", 15 * time.Minute, "fail", "awaiting_approval", "approval"},
		{"approval by its action", `{"question":"Deploy?","action":{"command":"deploy"}}`, "approval", "15m", 15 * time.Minute, "fail", "awaiting_approval", "approval"},
		{"a null action is none", `{"question":"Deploy?","action":null,"state":null}`, "blocking", "30m", 30 * time.Minute, "fail", "awaiting_input", "text"},
		{"approval with a default fails still", `{"type":"approval","question":"Deploy?","default":"reject"}`, "approval", "15m", 15 * time.Minute, "fail", "awaiting_approval", "approval"},
		{"error recovery", `{"type":"error_recovery","question":"Retry?"}`, "error_recovery", "10m", 10 * time.Minute, "fail", "awaiting_input", "text"},
		{"error recovery with a default", `{"type":"error_recovery","question":"Retry?","response_type":"boolean","default":false}`, "error_recovery", "10m", 10 * time.Minute, "default", "awaiting_input", "boolean"},
		{"never", `{"question":"Which?","timeout":"never"}`, "blocking", "never", 0, "fail", "awaiting_input", "text"},
		{"days", `{"question":"Which?","timeout":"3d"}`, "blocking", "3d", 72 * time.Hour, "fail", "awaiting_input", "text"},
		{"skip", `{"question":"Which?","default":"a","on_timeout":"skip"}`, "blocking", "30m", 30 * time.Minute, "skip", "awaiting_input", "text"},
		{"escalation", `{"question":"Which?","escalation":[{"timeout":"1h","on_timeout":"skip"}]}`, "blocking", "30m", 30 * time.Minute, "escalate", "awaiting_input", "text"},
		{"options make a choice", `{"question":"Which?","options":["a","b"]}`, "blocking", "30m", 30 * time.Minute, "fail", "awaiting_input", "choice"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			q := openQuestion(t, decode[fermata.Ask](t, tc.ask))
			var deadline *time.Time
			if tc.deadline > 0 {
				deadline = ptr(noon.Add(tc.deadline))
			}
			if diff := cmp.Diff(deadline, q.Deadline); diff != "" {
				t.Errorf("deadline: %s", diff)
			}
			got := []any{q.Type, q.Timeout, q.OnTimeout, q.Type.AwaitingState(), q.Items[0].ResponseType, q.Items[0].Key, q.Status, q.AskCount}
			want := []any{tc.typ, tc.timeout, tc.action, tc.awaiting, tc.response, "answer", fermata.Pending, 1}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAskTakesOverWhatTheTaskKnows(t *testing.T) {
	t.Parallel()
	q := openQuestion(t, fermata.Ask{Question: "Which database?\nWe have two.", Metadata: map[string]string{"pr": "7"}, State: json.RawMessage(`{"step":3}`)})
	want := &fermata.Question{
		ID: "q_1", WorkspaceID: "main", TaskID: "task_1", Project: "shop", Type: fermata.Blocking, Status: fermata.Pending,
		Title: "Which database?", Deadline: ptr(noon.Add(30 * time.Minute)), Priority: 2, AskCount: 1, CreatedAt: noon, Fingerprint: q.Fingerprint,
		Asked: fermata.Asked{
			Items:   []fermata.Item{{Key: "answer", Prompt: "Which database?\nWe have two.", ResponseType: fermata.ResponseText}},
			Timeout: "30m", OnTimeout: fermata.FailTask, Risk: fermata.RiskLow,
			State: json.RawMessage(`{"step":3}`), Metadata: map[string]string{"pr": "7"}, AskedBy: agent,
		},
	}
	if diff := cmp.Diff(want, q); diff != "" {
		t.Error(diff)
	}
}

func TestAskForms(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, ask string
		title     string
		items     []fermata.Item
	}{
		{
			"short form with every response type", `{"question":"How many?","response_type":"number","default":3}`, "How many?",
			[]fermata.Item{{Key: "answer", Prompt: "How many?", ResponseType: "number", Default: 3.0}},
		},
		{"title only", `{"title":"Shall I go on?","response_type":"boolean"}`, "Shall I go on?", []fermata.Item{{Key: "answer", Prompt: "Shall I go on?", ResponseType: "boolean"}}},
		{"blank title", `{"title":" ","question":"Shall I go on?"}`, "Shall I go on?", []fermata.Item{{Key: "answer", Prompt: "Shall I go on?", ResponseType: "text"}}},
		{
			"options as texts and objects", `{"question":"Which?","options":["a",{"value":"b","label":"B","danger":true}],"other":true}`, "Which?",
			[]fermata.Item{{Key: "answer", Prompt: "Which?", ResponseType: "choice", Other: new(true), Options: []fermata.Option{{Value: "a"}, {Value: "b", Label: "B", Danger: true}}}},
		},
		{
			"several items", `{"title":"Setup","items":[{"prompt":"Name?"},{"key":"db","prompt":"Database?","options":["pg"],"default":"pg"},{"prompt":"Tags?","response_type":"multi_choice","options":["x","y"],"required":false}]}`, "Setup",
			[]fermata.Item{
				{Key: "q1", Prompt: "Name?", ResponseType: "text"},
				{Key: "db", Prompt: "Database?", ResponseType: "choice", Options: []fermata.Option{{Value: "pg"}}, Default: "pg"},
				{Key: "q3", Prompt: "Tags?", ResponseType: "multi_choice", Options: []fermata.Option{{Value: "x"}, {Value: "y"}}, Required: ptr(false)},
			},
		},
		{
			"defaults by key", `{"items":[{"key":"a","prompt":"A?"},{"key":"b","prompt":"B?","response_type":"multi_choice","options":["x","y"]}],"default":{"a":"one","b":["y","x","y"]}}`, "A?",
			[]fermata.Item{
				{Key: "a", Prompt: "A?", ResponseType: "text", Default: "one"},
				{Key: "b", Prompt: "B?", ResponseType: "multi_choice", Options: []fermata.Option{{Value: "x"}, {Value: "y"}}, Default: []string{"x", "y"}},
			},
		},
		{
			"AskUserQuestion", `{"questions":[
				{"question":"Which library?","header":"Library","options":[{"label":"chi","description":"small"},{"label":"gin","description":"large","preview":"x"}],"multiSelect":false},
				{"question":"Which features?","header":"Features","options":[{"label":"auth"},{"label":"logs"}],"multiSelect":true},
				{"question":"Anything else?"}]}`, "Which library?",
			[]fermata.Item{
				{Key: "q1", Prompt: "Which library?", Header: "Library", ResponseType: "choice", Other: new(true), Options: []fermata.Option{{Value: "chi", Description: "small"}, {Value: "gin", Description: "large"}}},
				{Key: "q2", Prompt: "Which features?", Header: "Features", ResponseType: "multi_choice", Other: new(true), Options: []fermata.Option{{Value: "auth"}, {Value: "logs"}}},
				{Key: "q3", Prompt: "Anything else?", ResponseType: "text"},
			},
		},
		{"a long prompt", `{"question":"` + strings.Repeat("ä", 200) + `"}`, strings.Repeat("ä", 119) + "…", []fermata.Item{{Key: "answer", Prompt: strings.Repeat("ä", 200), ResponseType: "text"}}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			q := openQuestion(t, decode[fermata.Ask](t, tc.ask))
			if q.Title != tc.title {
				t.Errorf("title %q, want %q", q.Title, tc.title)
			}
			if diff := cmp.Diff(tc.items, q.Items); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// objectWithKeys returns n members of a JSON object.
func objectWithKeys(n int) string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf(`"k%d":"v"`, i)
	}
	return strings.Join(keys, ",")
}

func TestAskProblems(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 30)
	many := func(n int, one string) string { return strings.TrimSuffix(strings.Repeat(one+",", n), ",") }
	tests := []struct {
		name, ask string
		code      fermata.Code
		fields    []string
	}{
		{"nothing", `{}`, "invalid_request", []string{"question"}},
		{"blank", `{"question":" \n"}`, "invalid_request", []string{"question"}},
		{"two forms", `{"question":"a?","items":[{"prompt":"b?"}]}`, "invalid_request", []string{"items"}},
		{"three forms", `{"question":"a?","items":[{"prompt":"b?"}],"questions":[{"question":"c?"}]}`, "invalid_request", []string{"items"}},
		{"short form beside items", `{"items":[{"prompt":"b?"}],"options":["a"]}`, "invalid_request", []string{"items"}},
		{"short form beside questions", `{"questions":[{"question":"b?"}],"response_type":"boolean"}`, "invalid_request", []string{"items"}},
		{"too many items", `{"items":[` + many(21, `{"prompt":"a?"}`) + `]}`, "invalid_request", []string{"items"}},
		{"too many questions", `{"questions":[` + many(21, `{"question":"a?"}`) + `]}`, "invalid_request", []string{"questions"}},
		{"long title", `{"question":"a?","title":"` + strings.Repeat("x", 121) + `"}`, "invalid_request", []string{"title"}},
		{"NUL in the title", `{"question":"a?","title":"a\u0000"}`, "invalid_request", []string{"title"}},
		{"NUL in the body", `{"question":"a?","body":"a\u0000"}`, "invalid_request", []string{"body"}},
		{"metadata", `{"question":"a?","metadata":{"":"x","a":"\u0000","b":"` + strings.Repeat("x", 4001) + `"}}`, "invalid_request", []string{"metadata", "metadata.a", "metadata.b"}},
		{"too many metadata", `{"question":"a?","metadata":{` + objectWithKeys(51) + `}}`, "invalid_request", []string{"metadata"}},
		{"NUL in a pattern", `{"items":[{"prompt":"a?","pattern":"a\u0000"}]}`, "invalid_request", []string{"items[0].pattern"}},
		{"long pattern", `{"items":[{"prompt":"a?","pattern":"` + strings.Repeat("x", 501) + `"}]}`, "invalid_request", []string{"items[0].pattern"}},
		{"unknown type", `{"question":"a?","type":"urgent"}`, "invalid_request", []string{"type"}},
		{"unknown risk", `{"question":"a?","risk":"huge"}`, "invalid_request", []string{"risk"}},
		{"unknown on_timeout", `{"question":"a?","on_timeout":"guess"}`, "invalid_request", []string{"on_timeout"}},
		{"unknown on_timeout of a level", `{"question":"a?","escalation":[{"timeout":"1h","on_timeout":"guess"}]}`, "invalid_request", []string{"escalation[0].on_timeout"}},
		{"priority", `{"question":"a?","priority":5}`, "invalid_request", []string{"priority"}},
		{"confidence", `{"question":"a?","confidence":101}`, "invalid_request", []string{"confidence"}},
		{"keys", `{"question":"a?","idempotency_key":"` + strings.Repeat(long, 7) + `","dedupe_key":"` + strings.Repeat(long, 7) + `"}`, "invalid_request", []string{"idempotency_key", "dedupe_key"}},
		{"assignees", `{"question":"a?","assignees":["ann",""," "]}`, "invalid_request", []string{"assignees[1]", "assignees[2]"}},
		{"too many assignees", `{"question":"a?","assignees":[` + many(51, `"ann"`) + `]}`, "invalid_request", []string{"assignees"}},
		{"assignees of a level", `{"question":"a?","escalation":[{"timeout":"1h","on_timeout":"skip","assignees":[""]}]}`, "invalid_request", []string{"escalation[0].assignees[0]"}},
		{"too many levels", `{"question":"a?","escalation":[` + many(11, `{"timeout":"1h"}`) + `]}`, "invalid_request", []string{"escalation"}},
		{"context", `{"question":"a?","context":{"step":"\u0000","error":"\u0000","preview":{"kind":"film","text":"\u0000"}}}`, "invalid_request", []string{"context.step", "context.error", "context.preview.kind", "context.preview.text"}},
		{"a long context", `{"question":"a?","context":"` + strings.Repeat("x", 20_001) + `"}`, "invalid_request", []string{"context.text"}},
		{"misspelt context", `{"question":"a?","context":{"stp":"x","Text":"x","preview":{"kind":"text","text":"x","txt":"x"}}}`, "invalid_request", []string{"context.Text", "context.stp", "context.preview.txt"}},
		{"prompt and header", `{"items":[{"prompt":" ","header":"` + strings.Repeat(long, 3) + `"}]}`, "invalid_request", []string{"items[0].prompt", "items[0].header"}},
		{"key", `{"items":[{"prompt":"a?","key":"a b"}]}`, "invalid_request", []string{"items[0].key"}},
		{"same key twice", `{"items":[{"prompt":"a?","key":"a"},{"prompt":"b?","key":"a"}]}`, "invalid_request", []string{"items[1].key"}},
		{"unknown response type", `{"items":[{"prompt":"a?","response_type":"song"}]}`, "invalid_request", []string{"items[0].response_type"}},
		{"choice without options", `{"question":"a?","response_type":"choice"}`, "invalid_request", []string{"options"}},
		{"text with options", `{"question":"a?","response_type":"text","options":["a"]}`, "invalid_request", []string{"options"}},
		{"too many options", `{"question":"a?","options":[` + many(201, `"a"`) + `]}`, "invalid_request", nil},
		{"options", `{"question":"a?","options":["", {"value":"b","label":"\u0000"},"c","c",{"value":"d","description":"\u0000"}]}`, "invalid_request", []string{"options[0].value", "options[1].label", "options[3].value", "options[4].description"}},
		{"options of AskUserQuestion", `{"questions":[{"question":"a?"},{"question":"b?","options":[{"label":""}]}]}`, "invalid_request", []string{"questions[1].options[0].label"}},
		{"limits", `{"items":[{"prompt":"a?","min_length":3,"max_length":2,"pattern":"("},{"prompt":"b?","response_type":"number","min":3,"max":2}]}`, "invalid_request", []string{"items[0].min_length", "items[0].pattern", "items[1].min"}},
		{
			"limits that nothing reads",
			`{"items":[{"prompt":"a?","min":1,"max":2},{"prompt":"b?","response_type":"boolean","min_length":1,"max_length":2,"pattern":"x"},{"prompt":"c?","options":["a"],"max_length":9}]}`,
			"invalid_request",
			[]string{"items[0].min", "items[0].max", "items[1].min_length", "items[1].max_length", "items[1].pattern", "items[2].max_length"},
		},
		{"no text is that short", `{"items":[{"prompt":"a?","max_length":0}]}`, "invalid_request", []string{"items[0].max_length"}},
		{"no text is that long", `{"items":[{"prompt":"a?","min_length":20001}]}`, "invalid_request", []string{"items[0].min_length"}},
		{"more choices than options", `{"items":[{"prompt":"a?","response_type":"multi_choice","options":["a","b"],"min":3}]}`, "invalid_request", []string{"items[0].min"}},
		{"no choice at all", `{"items":[{"prompt":"a?","response_type":"multi_choice","options":["a","b"],"max":0}]}`, "invalid_request", []string{"items[0].max"}},
		{"no number of choices", `{"items":[{"prompt":"a?","response_type":"multi_choice","options":["a","b"],"min":1.2,"max":1.8}]}`, "invalid_request", []string{"items[0].min"}},
		{"pattern out of its parentheses", `{"items":[{"prompt":"a?","pattern":"a)|(?:b"}]}`, "invalid_request", []string{"items[0].pattern"}},
		{"default is no answer", `{"question":"a?","options":["a"],"default":"b"}`, "invalid_request", []string{"default"}},
		{"default of an item is no answer", `{"items":[{"prompt":"a?","options":["a"],"default":"b"}]}`, "invalid_request", []string{"items[0].default"}},
		{"prompt of the short form", `{"question":"` + strings.Repeat(long, 134) + `","options":["a"]}`, "invalid_request", []string{"question"}},
		{"state too deep", `{"question":"a?","state":` + nestedLists(201) + `}`, "invalid_request", []string{"state"}},
		{"action with an empty command", `{"type":"approval","question":"a?","action":{"command":" "}}`, "invalid_request", []string{"action"}},
		{"action with a command of no words", `{"type":"approval","question":"a?","action":{"command":[]}}`, "invalid_request", []string{"action"}},
		{"action too deep", `{"type":"approval","question":"a?","action":` + nestedLists(201) + `}`, "invalid_request", []string{"action"}},
		{"default twice", `{"items":[{"prompt":"a?","default":"x"}],"default":"y"}`, "invalid_request", []string{"default"}},
		{"default by key twice", `{"items":[{"key":"a","prompt":"a?","default":"x"},{"key":"b","prompt":"b?"}],"default":{"a":"y"}}`, "invalid_request", []string{"default.a"}},
		{"default of several is no object", `{"items":[{"prompt":"a?"},{"prompt":"b?"}],"default":"y"}`, "invalid_request", []string{"default"}},
		{"default names no item", `{"items":[{"prompt":"a?"},{"prompt":"b?"}],"default":{"z":1,"y":1,"x":1}}`, "invalid_request", []string{"default.x", "default.y", "default.z"}},
		{"everything at once", `{"title":"\u0000","type":"urgent","priority":9,"items":[{"prompt":""},{"prompt":"a?","key":"a b"}]}`, "invalid_request", []string{"priority", "title", "type", "items[0].prompt", "items[1].key"}},
		{
			"duplicate options beside what reads them",
			`{"question":"a?","options":["a","a"],"default":"c","timeout":"soon","on_timeout":"escalate"}`,
			"invalid_request", []string{"options[1].value", "default", "timeout", "escalation"},
		},
		{
			"several items, and the deadline",
			`{"items":[{"key":"n","prompt":"a?","response_type":"number","min":3,"max":2,"default":9},{"key":"n","prompt":"b?","options":["x","x"],"default":"z"},{"prompt":""}],"on_timeout":"default"}`,
			"invalid_request", []string{"items[0].min", "items[1].options[1].value", "items[1].default", "items[1].key", "items[2].prompt", "default"},
		},
		{"a dangerous default beside another mistake", `{"question":"a?","title":"\u0000","options":[{"value":"b","danger":true}],"default":"b"}`, "invalid_request", []string{"title", "default"}},
		{"several short timeouts", `{"question":"a?","timeout":"1m","escalation":[{"timeout":"1m","on_timeout":"fail"},{"timeout":"2m"}]}`, "invalid_request", []string{"timeout", "escalation[0].timeout", "escalation[1].timeout", "escalation[0].on_timeout", "escalation[1].on_timeout"}},
		{"two refusals of the policy", `{"question":"a?","timeout":"1m","escalation":[{"timeout":"1m","on_timeout":"fail"}]}`, "policy_violation", []string{"timeout", "escalation[0].timeout"}},
		{"a deadline that is wrong in several ways", `{"question":"a?","type":"non_blocking","timeout":"soon","on_timeout":"escalate"}`, "invalid_request", []string{"default", "timeout", "escalation"}},

		{"approval of two items", `{"type":"approval","items":[{"prompt":"a?"},{"prompt":"b?"}]}`, "invalid_request", []string{"items"}},
		{"approval of text", `{"type":"approval","question":"a?","response_type":"text"}`, "invalid_request", []string{"items"}},
		{"approval that nobody must give", `{"type":"approval","items":[{"prompt":"a?","required":false}]}`, "invalid_request", []string{"items[0].required"}},
		{"approval in a blocking question", `{"type":"blocking","question":"a?","response_type":"approval"}`, "invalid_request", []string{"items"}},
		{"action of a blocking question", `{"type":"blocking","question":"a?","action":{}}`, "invalid_request", []string{"action"}},
		{"quorum of a blocking question", `{"type":"blocking","question":"a?","approvals":{"required":2}}`, "invalid_request", []string{"approvals"}},
		{"quorum", `{"type":"approval","question":"a?","approvals":{"required":51,"reject":"never"}}`, "invalid_request", []string{"approvals.required", "approvals.reject"}},

		{"non-blocking without default", `{"type":"non_blocking","question":"a?"}`, "invalid_request", []string{"default"}},
		{"non-blocking with half a default", `{"type":"non_blocking","items":[{"key":"a","prompt":"a?","default":"x"},{"prompt":"b?"}]}`, "invalid_request", []string{"default"}},
		{"default at the deadline, but none", `{"question":"a?","on_timeout":"default"}`, "invalid_request", []string{"default"}},
		{"default at the end of the chain, but none", `{"question":"a?","escalation":[{"timeout":"1h","on_timeout":"default"}]}`, "invalid_request", []string{"default"}},
		{"timeout", `{"question":"a?","timeout":"soon"}`, "invalid_request", []string{"timeout"}},
		{"negative timeout", `{"question":"a?","timeout":"-1h"}`, "invalid_request", []string{"timeout"}},
		{"eleven years", `{"question":"a?","timeout":"4015d"}`, "invalid_request", []string{"timeout"}},
		{"short timeout", `{"question":"a?","timeout":"4m59s"}`, "policy_violation", []string{"timeout"}},
		{"escalate to nobody", `{"question":"a?","on_timeout":"escalate"}`, "invalid_request", []string{"escalation"}},
		{"levels that are never reached", `{"question":"a?","on_timeout":"skip","escalation":[{"timeout":"1h","on_timeout":"fail"}]}`, "invalid_request", []string{"on_timeout"}},
		{"endless chain", `{"question":"a?","escalation":[{"timeout":"1h","on_timeout":"escalate"}]}`, "invalid_request", []string{"escalation[0].on_timeout"}},
		{"chain without an end", `{"question":"a?","escalation":[{"timeout":"1h"}]}`, "invalid_request", []string{"escalation[0].on_timeout"}},
		{"chain that ends early", `{"question":"a?","escalation":[{"timeout":"1h","on_timeout":"skip"},{"timeout":"1h","on_timeout":"skip"}]}`, "invalid_request", []string{"escalation[0].on_timeout"}},
		{"level that waits for ever", `{"question":"a?","escalation":[{"timeout":"never"},{"on_timeout":"skip"}]}`, "invalid_request", []string{"escalation[0].timeout", "escalation[1].timeout"}},
		{"short level", `{"question":"a?","escalation":[{"timeout":"1m","on_timeout":"skip"}]}`, "policy_violation", []string{"escalation[0].timeout"}},

		{"danger in silence", `{"question":"a?","options":["a",{"value":"b","danger":true}],"default":"b"}`, "policy_violation", []string{"default"}},
		{"danger among several", `{"question":"a?","response_type":"multi_choice","options":["a",{"value":"b","danger":true}],"default":["a","b"]}`, "policy_violation", []string{"default"}},
		{"danger at the end of the chain", `{"question":"a?","options":[{"value":"b","danger":true}],"default":"b","escalation":[{"timeout":"1h","on_timeout":"default"}]}`, "policy_violation", []string{"default"}},
		{"danger without stopping", `{"type":"non_blocking","question":"a?","options":[{"value":"b","danger":true}],"default":"b","on_timeout":"skip"}`, "policy_violation", []string{"default"}},
		{"approval by silence", `{"type":"approval","question":"a?","default":"approve","on_timeout":"default"}`, "policy_violation", []string{"default"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			q, err := decode[fermata.Ask](t, tc.ask).Open("q_1", runningTask(), agent, fermata.DefaultPolicy(), noon)
			wantError(t, err, tc.code, tc.fields...)
			if q != nil {
				t.Error("a question was opened all the same")
			}
		})
	}
}

// TestAskRefusesRawBytes covers requests that no JSON decoder accepts.
func TestAskRefusesRawBytes(t *testing.T) {
	t.Parallel()
	bad := fermata.Ask{
		Type: fermata.Approval, Title: "\xff", Body: "\xff", Items: []fermata.Item{{Prompt: "\xff"}},
		Action: json.RawMessage(`{"command":`), State: json.RawMessage(`{`),
	}
	_, err := bad.Open("q_1", runningTask(), agent, fermata.DefaultPolicy(), noon)
	wantError(t, err, fermata.CodeInvalidRequest, "title", "body", "state", "items[0].prompt", "action")
}

func TestAskAllowsDangerWhereItIsMeant(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"question":"a?","options":["a",{"value":"b","danger":true}],"default":"b","allow_danger_default":true}`,
		`{"question":"a?","options":["a",{"value":"b","danger":true}],"default":"b","on_timeout":"fail"}`,
		`{"question":"a?","options":["a",{"value":"b","danger":true}],"default":"a"}`,
		`{"type":"approval","question":"a?","default":"approve","on_timeout":"fail"}`,
		`{"type":"approval","question":"a?","default":"reject","on_timeout":"default"}`,
		`{"type":"non_blocking","question":"a?","options":[{"value":"b","danger":true}],"default":"b","allow_danger_default":true}`,
	} {
		openQuestion(t, decode[fermata.Ask](t, text))
	}
}

func TestAskEscalationChain(t *testing.T) {
	t.Parallel()
	q := openQuestion(t, decode[fermata.Ask](t, `{"question":"a?","default":"x","timeout":"10m","escalation":[
		{"assignees":["lead"],"timeout":"20m"},{"assignees":["boss"],"timeout":"2d","on_timeout":"default"}]}`))
	want := []fermata.EscalationLevel{
		{Assignees: []string{"lead"}, Timeout: "20m", OnTimeout: fermata.Escalate},
		{Assignees: []string{"boss"}, Timeout: "2d", OnTimeout: fermata.TakeDefault},
	}
	if diff := cmp.Diff(want, q.Escalation); diff != "" || q.OnTimeout != fermata.Escalate {
		t.Errorf("on_timeout %s, %s", q.OnTimeout, diff)
	}
}

// TestAskIsNotChangedByOpening checks that a request may be opened twice. This
// matters because the function of a write may run twice.
func TestAskIsNotChangedByOpening(t *testing.T) {
	t.Parallel()
	const text = `{"items":[{"prompt":"a?"},{"prompt":"b?"}],"default":{"q1":"x","q2":"y"},"assignees":["ann"],
		"escalation":[{"assignees":["lead"],"timeout":"20m"},{"timeout":"2d","on_timeout":"skip"}]}`
	a := decode[fermata.Ask](t, text)
	a.Assignees = append(make([]string, 0, 8), a.Assignees...)
	first := openQuestion(t, a)
	first.Expire(noon.Add(time.Hour))
	if diff := cmp.Diff(decode[fermata.Ask](t, text), a); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"ann", ""}, a.Assignees[:2]); diff != "" {
		t.Errorf("escalating wrote into the request: %s", diff)
	}
	if second := openQuestion(t, a); first.Fingerprint != "" || second.Fingerprint != "" {
		t.Error("a question without an idempotency key has a fingerprint")
	}
}

func TestAskContextMayBeText(t *testing.T) {
	t.Parallel()
	q := openQuestion(t, decode[fermata.Ask](t, `{"question":"a?","context":"The last deploy was at noon."}`))
	if diff := cmp.Diff(&fermata.QuestionContext{Text: "The last deploy was at noon."}, q.Context); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(q.Context, throughJSON(t, q.Context)); diff != "" {
		t.Errorf("it was stored as another: %s", diff)
	}
	q = openQuestion(t, decode[fermata.Ask](t, `{"context":"Why.","questions":[{"question":"a?","options":[{"label":"x","preview":"y"},{"label":"z"}]}]}`))
	if q.Context.Text != "Why." || q.Context.Preview == nil {
		t.Errorf("previews of options took the place of the context: %+v", q.Context)
	}
}

func TestOwnAnswers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, ask      string
		script, agents bool
	}{
		{"options", `{"question":"Which?","options":["a","b"]}`, false, true},
		{"options with other", `{"question":"Which?","options":["a","b"],"other":true}`, true, true},
		{"options without other", `{"question":"Which?","options":["a","b"],"other":false}`, false, false},
		{"several of", `{"question":"Which?","response_type":"multi_choice","options":["a","b"]}`, false, true},
		{"an item", `{"items":[{"prompt":"Which?","options":["a"]}]}`, false, true},
		{"an item without", `{"items":[{"prompt":"Which?","options":["a"],"other":false}],"other":true}`, false, false},
		{"items with other", `{"items":[{"prompt":"Which?","options":["a"]}],"other":true}`, true, true},
		{"AskUserQuestion", `{"questions":[{"question":"Which?","options":[{"label":"a"}]}]}`, true, true},
		{"AskUserQuestion without", `{"questions":[{"question":"Which?","options":[{"label":"a"}],"other":false}]}`, false, false},
		{"AskUserQuestion without, for all", `{"questions":[{"question":"Which?","options":[{"label":"a"}]}],"other":false}`, false, false},
		{"yes or no", `{"question":"Which?","response_type":"boolean","other":true}`, false, false},
		{"a text", `{"question":"Which?","other":true}`, false, false},
		{"an approval", `{"question":"May I?","type":"approval","other":true}`, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := decode[fermata.Ask](t, tt.ask)
			script, agents := openQuestion(t, a).Items[0], openQuestion(t, a.WithOwnAnswers()).Items[0]
			if script.TakesOther() != tt.script || agents.TakesOther() != tt.agents {
				t.Errorf("takes an own answer: of a script %t, want %t; of an agent %t, want %t", script.TakesOther(), tt.script, agents.TakesOther(), tt.agents)
			}
			if script.Other != nil && !*script.Other {
				t.Error("a question says other: false; it leaves it out")
			}
		})
	}
}

func TestRefusedWordsAreHelped(t *testing.T) {
	t.Parallel()
	q := openQuestion(t, decode[fermata.Ask](t, `{"question":"Which?","options":["a","b"]}`))
	_, err := q.ApplyAnswer(fermata.Answer{Answer: "neither"}, person("ann"), noon)
	var refused *fermata.Error
	if !errors.As(err, &refused) {
		t.Fatal(err)
	}
	for _, want := range []string{`"a", "b"`, "--comment", "fermata message task_1", "fermata clarify q_1"} {
		if !strings.Contains(refused.Error()+refused.Hint, want) {
			t.Errorf("the refusal does not say %s: %s %s", want, refused, refused.Hint)
		}
	}
}

func TestAskFingerprint(t *testing.T) {
	t.Parallel()
	base := `{"idempotency_key":"k","question":"a?","options":["a","b"],"default":"a","action":null`
	digest := func(text string) string { return openQuestion(t, decode[fermata.Ask](t, text)).Fingerprint }
	if digest(base+`}`) != digest(`{"action":null, "idempotency_key":"k", "default":"a", "options":[{"value":"a"},"b"], "question":"a?"}`) {
		t.Error("the order of the keys and the spelling of the options matter")
	}
	if digest(base+`}`) != digest(base+`,"other":true}`) {
		t.Error("an agent's request that says that it takes own answers is another one than that which does not say so")
	}
	seen := map[string]string{digest(base + `}`): base}
	for _, more := range []string{
		`,"title":"t"`, `,"body":"b"`, `,"timeout":"1h"`, `,"on_timeout":"skip"`, `,"assignees":["ann"]`, `,"priority":0`, `,"confidence":1`,
		`,"risk":"high"`, `,"metadata":{"a":"b"}`, `,"state":1`, `,"dedupe_key":"k"`, `,"other":false`, `,"context":{"step":"s"}`,
	} {
		p := digest(base + more + `}`)
		if was, twice := seen[p]; twice {
			t.Errorf("%s has the fingerprint of %s", more, was)
		}
		seen[p] = more
	}
}

func TestAskAction(t *testing.T) {
	t.Parallel()
	action := json.RawMessage(`{"command":"rm -rf ./build"}`)
	a := fermata.Ask{Question: "Run it?", Action: action}
	q := openQuestion(t, a)
	if q.Type != fermata.Approval || string(q.Action) != string(action) || q.ActionHash != fermata.HashAction(action) || q.Risk != fermata.RiskMedium {
		t.Errorf("type %s, action %s, hash %s, risk %s", q.Type, q.Action, q.ActionHash, q.Risk)
	}
	if want := fmt.Sprintf("%x", sha256.Sum256(action)); q.ActionHash != want {
		t.Errorf("the hash is %s, want the SHA-256 in hex, %s", q.ActionHash, want)
	}
	action[2] = 'X'
	if string(q.Action) != `{"command":"rm -rf ./build"}` {
		t.Error("the frozen action changed with the request")
	}
	a.Risk = fermata.RiskCritical
	if q := openQuestion(t, a); q.Risk != fermata.RiskCritical {
		t.Errorf("risk %s, want what the asker said", q.Risk)
	}
}

func TestAskQuorum(t *testing.T) {
	t.Parallel()
	members := []fermata.Member{
		{ID: "mem_ann", Handle: "ann", Role: fermata.RoleResponder, Groups: []string{"ops"}},
		{ID: "mem_bob", Handle: "bob", Role: fermata.RoleAdmin},
		{ID: "mem_cid", Handle: "cid", Role: fermata.RoleOperator, Groups: []string{"ops"}},
		{ID: "mem_eve", Handle: "eve", Role: fermata.RoleViewer, Groups: []string{"ops"}},
	}
	tests := []struct {
		name      string
		quorum    *fermata.Quorum
		assignees []string
		askedBy   fermata.Actor
		ok        bool
	}{
		{"none", nil, []string{"nobody"}, agent, true},
		{"three of three", &fermata.Quorum{Required: 3}, nil, agent, true},
		{"four of three", &fermata.Quorum{Required: 4}, nil, agent, false},
		{"a group", &fermata.Quorum{Required: 2}, []string{"group:ops"}, agent, true},
		{"a group with a viewer", &fermata.Quorum{Required: 3}, []string{"group:ops"}, agent, false},
		{"a group and a person", &fermata.Quorum{Required: 3}, []string{"group:ops", "bob"}, agent, true},
		{"one person twice", &fermata.Quorum{Required: 2}, []string{"ann", "mem_ann", "member:ann"}, agent, false},
		{"the asker does not count", &fermata.Quorum{Required: 3}, nil, person("ann").Actor(), false},
		{"the asker counts where it is said", &fermata.Quorum{Required: 3, Self: true}, nil, person("ann").Actor(), true},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			a := fermata.Ask{Type: fermata.Approval, Question: "Deploy?", Approvals: tc.quorum, Assignees: tc.assignees}
			q, err := a.Open("q_1", runningTask(), tc.askedBy, fermata.DefaultPolicy(), noon)
			if err != nil {
				t.Fatal(err)
			}
			switch err := q.CheckQuorum(members); {
			case tc.ok && err != nil:
				t.Error(err)
			case !tc.ok:
				wantError(t, err, fermata.CodeQuorumUnreachable)
				// The hint names --self-approval only if the asker's own approval would help.
				e, _ := errors.AsType[*fermata.Error](err)
				if helps := tc.name == "the asker does not count"; strings.Contains(e.Hint, "--self-approval") != helps {
					t.Errorf("the hint is %q", e.Hint)
				}
			}
		})
	}
	q := openQuestion(t, fermata.Ask{Type: fermata.Approval, Question: "Deploy?", Approvals: &fermata.Quorum{}})
	if diff := cmp.Diff(&fermata.Quorum{Required: 1, Reject: "first"}, q.Approvals); diff != "" {
		t.Error(diff)
	}
}

func TestAskSame(t *testing.T) {
	t.Parallel()
	action, other := json.RawMessage(`{"a":1}`), json.RawMessage(`{"a":2}`)
	tests := []struct {
		first, again fermata.Ask
		want         bool
	}{
		{fermata.Ask{Question: "a?"}, fermata.Ask{Question: "a?"}, false},
		{fermata.Ask{Question: "a?", DedupeKey: "k"}, fermata.Ask{Question: "b?", DedupeKey: "k"}, true},
		{fermata.Ask{Question: "a?", DedupeKey: "k"}, fermata.Ask{Question: "a?", DedupeKey: "l"}, false},
		{fermata.Ask{Question: "a?", DedupeKey: "k"}, fermata.Ask{Question: "a?"}, false},
		{fermata.Ask{Question: "a?"}, fermata.Ask{Question: "a?", DedupeKey: "k"}, false},
		{fermata.Ask{Question: "a?", Action: action}, fermata.Ask{Question: "b?", Action: action}, true},
		{fermata.Ask{Question: "a?", Action: action}, fermata.Ask{Question: "a?", Action: other}, false},
		{fermata.Ask{Question: "a?"}, fermata.Ask{Question: "a?", Action: action}, false},
		{fermata.Ask{Question: "a?"}, fermata.Ask{Question: "a?", Action: json.RawMessage("null")}, false},
	}
	for i, tc := range tests {
		if got := openQuestion(t, tc.first).IsRepeatedBy(tc.again); got != tc.want {
			t.Errorf("%d: same is %v, want %v", i, got, tc.want)
		}
	}
}

func TestAskPolicy(t *testing.T) {
	t.Parallel()
	strict := fermata.Policy{MinTimeout: "10m", MaxTimeout: "1h"}
	tests := []struct {
		policy  fermata.Policy
		timeout fermata.Timeout
		code    fermata.Code
	}{
		{fermata.DefaultPolicy(), "never", ""},
		{fermata.DefaultPolicy(), "5m", ""},
		{fermata.DefaultPolicy(), "4m", "policy_violation"},
		{fermata.DefaultPolicy(), "30d", ""},
		{strict, "never", "policy_violation"},
		{strict, "9m59s", "policy_violation"},
		{strict, "10m", ""},
		{strict, "1h", ""},
		{strict, "1h1s", "policy_violation"},
		{strict, "1d", "policy_violation"},
		{fermata.Policy{MinTimeout: "10m", MaxTimeout: "1h", AllowShorter: true}, "1s", ""},
		{fermata.Policy{MinTimeout: "10m", MaxTimeout: "1h", AllowLonger: true}, "2h", ""},
		{fermata.Policy{MinTimeout: "10m", MaxTimeout: "1h", AllowNever: true}, "never", ""},
	}
	for _, tc := range tests {
		_, err := fermata.Ask{Question: "a?", Timeout: tc.timeout}.Open("q_1", runningTask(), agent, tc.policy, noon)
		if got := fermata.CodeOf(err); got != tc.code {
			t.Errorf("%+v with %s: %q (%v), want %q", tc.policy, tc.timeout, got, err, tc.code)
		}
	}
	p := fermata.DefaultPolicy()
	p.DefaultTimeout = map[fermata.QuestionType]fermata.Timeout{fermata.Blocking: "2h", fermata.Approval: fermata.Never}
	for typ, want := range map[fermata.QuestionType]fermata.Timeout{fermata.Blocking: "2h", fermata.Approval: "never", fermata.ErrorRecovery: "10m"} {
		q, err := fermata.Ask{Type: typ, Question: "a?"}.Open("q_1", waitingTask(), agent, p, noon)
		if err != nil || q.Timeout != want || (q.Deadline == nil) != (want == fermata.Never) {
			t.Errorf("%s: timeout %v, want %s (%v)", typ, q, want, err)
		}
	}
}

// TestAskDeadlineIsWhatTheDatabaseKeeps checks that a deadline is in UTC and in
// whole milliseconds.
func TestAskDeadlineIsWhatTheDatabaseKeeps(t *testing.T) {
	t.Parallel()
	q := openQuestion(t, fermata.Ask{Question: "a?", Timeout: "5m0.0015s"})
	if want := noon.Add(5*time.Minute + time.Millisecond); !q.Deadline.Equal(want) {
		t.Errorf("deadline %s, want %s", q.Deadline, want)
	}
}

func ExampleTimeout_Duration() {
	for _, t := range []fermata.Timeout{"90s", "36h", "3d", "never", "0s", "1.5d", "d", ""} {
		d, err := t.Duration()
		fmt.Println(d, err)
	}
	// Output:
	// 1m30s <nil>
	// 36h0m0s <nil>
	// 72h0m0s <nil>
	// 0s "never" is no duration
	// 0s "0s" must be more than 0
	// 0s "1.5d" is no duration
	// 0s "d" is no duration
	// 0s "" is no duration
}
