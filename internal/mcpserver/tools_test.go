package mcpserver_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	programs "github.com/fermata-hq/fermata/internal/agent"
)

func TestPostQuestion(t *testing.T) {
	t.Parallel()
	eachTransport(t, func(a *agent) {
		r := a.must("post_question", `{"question":"Which format?","options":["toml","yaml"],"type":"non_blocking",
			"defaultAnswer":"toml","timeoutHours":24,"timeoutAction":"default","issueNumber":42,"notifyVia":["inbox"]}`)
		q := a.question(r.QuestionID)
		a.equalJSON([]any{"pending", []string{"inbox"}, fermata.Timeout("1440m"), fermata.TakeDefault, "toml", "42"},
			[]any{r.Status, r.Notified, q.Timeout, q.OnTimeout, q.Items[0].Default, q.Metadata["github_issue"]})
		if r.Deadline == nil || strings.Contains(r.Message, "STOP") {
			a.Errorf("got %+v", r.State)
		}
		for _, arguments := range []string{
			`{"question":"?","notifyVia":["github","slack"]}`, `{"question":"?","slackChannel":"#dev"}`,
			`{"question":"?","slackMention":"@ann"}`, `{"question":"?","emailRecipients":["a@b.c"]}`,
			`{"question":"?","timeoutHours":-1}`, `{"question":"?","timeoutHours":1,"timeout":"1h"}`,
			`{"question":"?","defaultAnswer":"a","default":"a"}`, `{"question":"?","timeoutAction":"skip","on_timeout":"skip"}`,
			`{"question":"?","issueNumber":0}`, `{"question":"?","emailRecipients":["nobody"]}`, `{"question":"?","slackMention":"a&b"}`,
		} {
			a.refused(fermata.CodeInvalidRequest, "post_question", arguments)
		}
	})
}

// An approval always shows exactly one action.
func TestAnApprovalIsOfOneAction(t *testing.T) {
	t.Parallel()
	eachTransport(t, func(a *agent) {
		for _, arguments := range []string{
			`{"tool":"Bash","arguments":{"command":"rm -rf /"},"command":"git status"}`,
			`{"tool":"Bash","command":"git status"}`,
			`{"arguments":{"command":"rm -rf /"},"command":"git status"}`,
			`{"command":"rm -rf /","preview":{"kind":"command","text":"git status"}}`,
		} {
			a.refused(fermata.CodeInvalidRequest, "request_approval", arguments)
		}
		for _, tool := range []string{"ask_user", "post_question"} {
			for _, arguments := range []string{
				`{"question":"May I?","type":"approval"}`, `{"question":"May I?","response_type":"approval"}`, `{"question":"May I?","type":"approval","action":null}`,
			} {
				a.refused(fermata.CodeInvalidRequest, tool, arguments)
			}
		}
		a.must("request_approval", `{"command":"git status","preview":{"kind":"command","text":"git status\n"}}`)
	})
}

func TestRequestApproval(t *testing.T) {
	t.Parallel()
	eachTransport(t, func(a *agent) {
		const arguments = `{"tool":"deploy","arguments":{"env":"prod","dry":false},"reason":"the release","risk":"high",
			"preview":{"kind":"diff","text":"+1"}}`
		r := a.must("request_approval", arguments)
		q := a.question(r.QuestionID)
		a.equalJSON([]any{fermata.Approval, `{"tool":"deploy","arguments":{"env":"prod","dry":false}}`, "Allow deploy?", fermata.RiskHigh},
			[]any{q.Type, string(q.Action), q.Title, q.Risk})
		a.equalJSON(r.QuestionID, a.must("request_approval", arguments).QuestionID)
		a.equalJSON(2, a.question(q.ID).AskCount)
		a.answer(q.ID, fermata.Answer{
			Answer: fermata.Approve, ActionHash: q.ActionHash, Action: json.RawMessage(`{"tool":"deploy","arguments":{"env":"staging"}}`),
		})
		r = a.must("check_answer", `{"question_id":"`+q.ID+`"}`)
		a.equalJSON([]any{"answered", "approve"}, []any{r.Status, r.Answer})
		a.equalJSON(map[string]any{"tool": "deploy", "arguments": map[string]string{"env": "staging"}}, r.Action)
		if !strings.Contains(r.Message, "with edits") {
			a.Errorf("the agent does not learn of the edits: %s", r.Message)
		}
		r = a.must("request_approval", `{"command":"rm -r old"}`)
		a.answer(r.QuestionID, fermata.Answer{Answer: fermata.Reject})
		r = a.must("check_answer", `{"question_id":"`+r.QuestionID+`"}`)
		a.equalJSON([]any{"answered", "reject"}, []any{r.Status, r.Answer})
	})
}

func TestCancelQuestion(t *testing.T) {
	t.Parallel()
	eachTransport(t, func(a *agent) {
		r := a.must("ask_user", `{"question":"A?"}`)
		r = a.must("cancel_question", `{"question_id":"`+r.QuestionID+`","reason":"found it"}`)
		a.equalJSON([]any{"pending", "cancelled", "agent"}, []any{r.PreviousStatus, r.Status, r.DecidedBy})
		head := a.Head()
		r = a.must("cancel_question", `{"question_id":"`+r.QuestionID+`"}`)
		a.equalJSON([]any{"cancelled", "cancelled", head}, []any{r.PreviousStatus, r.Status, a.Head()})
		r = a.must("ask_user", `{"question":"B?"}`)
		a.answer(r.QuestionID, fermata.Answer{Answer: "yes"})
		r = a.must("cancel_question", `{"question_id":"`+r.QuestionID+`"}`)
		a.equalJSON([]any{"answered", "answered", "yes"}, []any{r.PreviousStatus, r.Status, r.Answer})
	})
}

func TestProgressAndMessages(t *testing.T) {
	t.Parallel()
	eachTransport(t, func(a *agent) {
		a.must("report_progress", `{"message":"half way","step":"tests","current":1,"total":2}`)
		a.equalJSON(0, len(a.must("read_messages", `{}`).Messages))
		say := func(body string) {
			_, err := a.Engine.PostMessage(a.Context(), a.person, a.task, body)
			a.OK(err)
		}
		say("use tabs")
		r := a.must("read_messages", `{}`)
		a.equalJSON([]any{1, "use tabs", "ann"}, []any{len(r.Messages), r.Messages[0].Body, r.Messages[0].From})
		first := r.Last
		a.equalJSON(0, len(a.must("read_messages", `{"after":"`+first+`"}`).Messages))
		say("and spaces")
		a.equalJSON(2, len(a.must("read_messages", `{}`).Messages))
		r = a.must("read_messages", `{"after":"`+first+`"}`)
		a.equalJSON([]any{1, "and spaces"}, []any{len(r.Messages), r.Messages[0].Body})
		_, err := a.Engine.CancelTask(a.Context(), a.person, a.task, "")
		a.OK(err)
		r = a.must("read_messages", `{}`)
		a.equalJSON([]any{2, true}, []any{len(r.Messages), strings.Contains(r.Note, "The task has ended (cancelled). No run was handed")})
	})
}

func TestMessagesOfATaskThatEndedInSilence(t *testing.T) {
	t.Parallel()
	eachTransport(t, func(a *agent) {
		_, err := a.Engine.CancelTask(a.Context(), a.person, a.task, "")
		a.OK(err)
		if r := a.must("read_messages", `{}`); !strings.Contains(r.Note, "The task has ended (cancelled), and everything that people wrote was handed") {
			a.Errorf("the agent is told %q", r.Note)
		}
	})
}

func TestPermissionPrompt(t *testing.T) {
	t.Parallel()
	eachTransport(t, func(a *agent) {
		call := func(id string) map[string]any {
			return a.prompt(`{"tool_name":"Bash","input":{"command":"rm -r old"},"tool_use_id":"` + id + `"}`)
		}
		allowed := map[string]any{"behavior": "allow", "updatedInput": map[string]string{"command": "rm -r old"}}
		v := call("toolu_1")
		if v["behavior"] != "deny" || !strings.Contains(v["message"].(string), "waiting for a person") {
			a.Errorf("got %v", v)
		}
		q := a.onlyQuestion()
		a.equalJSON(`{"tool":"Bash","input":{"command":"rm -r old"}}`, string(q.Action))
		a.answer(q.ID, fermata.Answer{Answer: fermata.Approve, ActionHash: q.ActionHash})
		a.equalJSON(allowed, call("toolu_1"))
		for _, bad := range []string{`{}`, `{"tool_name":7,"input":{}}`, `{"tool_name":"Bash","input":[]}`} {
			a.equalJSON("deny", a.prompt(bad)["behavior"])
		}
		a.equalJSON(q.ID, a.onlyQuestion().ID)
		// An agent that was stopped repeats the call with another id. The
		// approval applies to it once.
		a.equalJSON("deny", call("toolu_2")["behavior"])
		q = a.last()
		a.answer(q.ID, fermata.Answer{Answer: fermata.Approve, ActionHash: q.ActionHash})
		a.equalJSON(allowed, call("toolu_3"))
		a.equalJSON("deny", call("toolu_4")["behavior"])
	})
}

func TestAChangedCallIsAskedAnew(t *testing.T) {
	t.Parallel()
	eachTransport(t, func(a *agent) {
		a.prompt(`{"tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"toolu_1"}`)
		first := a.last()
		a.answer(first.ID, fermata.Answer{Answer: fermata.Approve, ActionHash: first.ActionHash})
		a.equalJSON("deny", a.prompt(`{"tool_name":"Bash","input":{"command":"rm -r /"},"tool_use_id":"toolu_1"}`)["behavior"])
		if a.last().ID == first.ID {
			a.Error("the changed call has the old approval")
		}
	})
}

func TestPermissionPromptFollowsTheRules(t *testing.T) {
	t.Parallel()
	eachTransport(t, func(a *agent) {
		admin := a.person
		admin.Role, admin.Scopes = fermata.RoleAdmin, []fermata.Scope{fermata.ScopeAdmin}
		for tool, decision := range map[string]fermata.GateDecision{"Read": fermata.GateAllow, "WebFetch": fermata.GateDeny} {
			_, err := a.Engine.AddGateRule(a.Context(), admin, fermata.NewGateRule{Tool: tool, Decision: decision})
			a.OK(err)
			a.equalJSON(string(decision), a.prompt(`{"tool_name":"` + tool + `","input":{"x":1},"tool_use_id":"toolu_1"}`)["behavior"])
		}
		list, _, err := a.Engine.Questions(a.Context(), a.person, pendingOnly)
		a.OK(err)
		a.equalJSON(0, len(list))
	})
}

// No call of a cancelled task is allowed, whatever the rules and people
// decided.
func TestPermissionPromptOfACancelledTask(t *testing.T) {
	t.Parallel()
	const approved, questions = `{"tool_name":"Bash","input":{"command":"rm"},"tool_use_id":"toolu_1"}`,
		`{"tool_name":"AskUserQuestion","tool_use_id":"toolu_2","input":{"questions":[{"question":"Which?","header":"W","options":[{"label":"a"},{"label":"b"}]}]}}`
	eachTransport(t, func(a *agent) {
		admin := a.person
		admin.Role, admin.Scopes = fermata.RoleAdmin, []fermata.Scope{fermata.ScopeAdmin}
		_, err := a.Engine.AddGateRule(a.Context(), admin, fermata.NewGateRule{Tool: "Read", Decision: fermata.GateAllow})
		a.OK(err)
		a.prompt(approved)
		q := a.onlyQuestion()
		a.answer(q.ID, fermata.Answer{Answer: fermata.Approve, ActionHash: q.ActionHash})
		_, err = a.Engine.CancelTask(a.Context(), a.person, a.task, "")
		a.OK(err)
		for _, call := range []string{approved, questions, `{"tool_name":"Read","input":{"path":"x"},"tool_use_id":"toolu_3"}`} {
			if v := a.prompt(call); v["behavior"] != "deny" {
				a.Errorf("%s got %v", call, v)
			}
		}
		a.equalJSON(q.ID, a.onlyQuestion().ID)
	})
}

func TestPermissionPromptWithEdits(t *testing.T) {
	t.Parallel()
	eachTransport(t, func(a *agent) {
		const call = `{"tool_name":"Bash","input":{"command":"rm"},"tool_use_id":"toolu_1"}`
		a.prompt(call)
		q := a.onlyQuestion()
		a.answer(q.ID, fermata.Answer{Answer: fermata.Approve, ActionHash: q.ActionHash, Action: json.RawMessage(`{"tool":"Bash","input":{"command":"ls"}}`)})
		v := a.prompt(call)
		a.equalJSON("allow", v["behavior"])
		a.equalJSON(map[string]string{"command": "ls"}, v["updatedInput"])
	})
}

func TestPermissionPromptRejected(t *testing.T) {
	t.Parallel()
	eachTransport(t, func(a *agent) {
		const call = `{"tool_name":"Bash","input":{"command":"rm"},"tool_use_id":"toolu_1"}`
		a.prompt(call)
		a.answer(a.onlyQuestion().ID, fermata.Answer{Answer: fermata.Reject, Comment: "use the trash"})
		v := a.prompt(call)
		if v["behavior"] != "deny" || !strings.Contains(v["message"].(string), "use the trash") {
			a.Errorf("got %v", v)
		}
	})
}

func TestPermissionPromptOfAskUserQuestion(t *testing.T) {
	t.Parallel()
	eachTransport(t, func(a *agent) {
		const call = `{"tool_name":"AskUserQuestion","tool_use_id":"toolu_1","input":{"questions":[
			{"question":"Which?","header":"W","multiSelect":false,"options":[{"label":"a","description":"A"},{"label":"b","description":"B"}]},
			{"question":"More?","header":"M","multiSelect":true,"options":[{"label":"c","description":"C"},{"label":"d","description":"D"}]}],"new":1}}`
		a.equalJSON("deny", a.prompt(call)["behavior"])
		q := a.onlyQuestion()
		a.equalJSON(fermata.Blocking, q.Type)
		a.answer(q.ID, fermata.Answer{Answers: map[string]any{q.Items[0].Key: "b", q.Items[1].Key: []string{"c", "d"}}, Comment: "both"})
		v := a.prompt(call)
		a.equalJSON("allow", v["behavior"])
		a.equalJSON(map[string]string{"Which?": "b", "More?": "c, d\n\nComment: both"}, v["updatedInput"].(map[string]any)["answers"])
	})
}

// TestSchemasArePortable checks that the schemas use only what every client
// understands.
func TestSchemasArePortable(t *testing.T) {
	t.Parallel()
	eachTransport(t, func(a *agent) {
		list, err := a.session.ListTools(a.Context(), nil)
		a.OK(err)
		a.equalJSON(8, len(list.Tools))
		for _, tool := range list.Tools {
			data, err := json.Marshal(tool.InputSchema)
			a.OK(err)
			var s map[string]any
			a.OK(json.Unmarshal(data, &s))
			a.checkPortable(tool.Name, s)
			if tool.Description == "" {
				a.Errorf("%s is not described", tool.Name)
			}
			if !programs.IsOwnTool(tool.Name) {
				a.Errorf("%s is not known to the gates as Fermata's", tool.Name)
			}
		}
	})
}

func (a *agent) checkPortable(at string, s map[string]any) {
	a.Helper()
	for _, word := range []string{"anyOf", "oneOf", "allOf", "$ref", "const", "not"} {
		if _, ok := s[word]; ok {
			a.Errorf("%s has %s", at, word)
		}
	}
	kind, ok := s["type"].(string)
	if !ok {
		a.Errorf("%s has no plain type", at)
	}
	if kind == "array" {
		items, ok := s["items"].(map[string]any)
		if !ok {
			a.Errorf("%s does not say what is in it", at)
			return
		}
		a.checkPortable(at+"[]", items)
	}
	properties, _ := s["properties"].(map[string]any)
	for name, p := range properties {
		a.checkPortable(at+"."+name, p.(map[string]any))
	}
}

func TestInstructionsAreTheGuidance(t *testing.T) {
	t.Parallel()
	eachTransport(t, func(a *agent) {
		told := a.session.InitializeResult().Instructions
		if told != fermata.AgentGuidance(fermata.HostWorker) && told != fermata.AgentGuidance(fermata.HostUnknown) {
			a.Errorf("the instructions are\n%s", told)
		}
	})
}
