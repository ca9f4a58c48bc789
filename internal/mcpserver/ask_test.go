package mcpserver_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/mcpserver"
	"github.com/fermata-hq/fermata/test/patience"
)

func TestAskStopsAndTheAnswerIsThere(t *testing.T) {
	t.Parallel()
	eachTransport(t, func(a *agent) {
		r := a.must("ask_user", `{"question":"Which format?","options":["toml",{"label":"YAML","value":"yaml","description":"more to type"}]}`)
		a.equalJSON([]string{"pending", a.task}, []string{r.Status, r.TaskID})
		if !strings.Contains(r.Message, "STOP NOW") {
			a.Errorf("the agent is not told to stop: %s", r.Message)
		}
		q := a.question(r.QuestionID)
		a.equalJSON([]fermata.Option{{Value: "toml"}, {Value: "yaml", Label: "YAML", Description: "more to type"}}, q.Items[0].Options)
		a.answer(q.ID, fermata.Answer{Answer: "yaml", Comment: "as always"})
		r = a.must("check_answer", `{"question_id":"`+q.ID+`"}`)
		a.equalJSON([]any{"answered", "yaml", "human", "ann", "as always"}, []any{r.Status, r.Answer, r.DecidedBy, r.AnsweredBy, r.Comment})
		if r.AnsweredAt == nil {
			a.Error("no time of the answer")
		}
	})
}

func TestAskUserQuestionVerbatim(t *testing.T) {
	t.Parallel()
	eachTransport(t, func(a *agent) {
		r := a.must("ask_user", `{"questions":[
			{"question":"Which library?","header":"Library","multiSelect":false,"options":[
				{"label":"chi","description":"small","preview":"r := chi.NewRouter()"},{"label":"std","description":"nothing new"}]},
			{"question":"Which checks?","header":"Checks","multiSelect":true,"options":[{"label":"lint","description":"l"},{"label":"race","description":"r"}]}
		],"answers":{},"metadata":{"source":"test"}}`)
		q := a.question(r.QuestionID)
		a.equalJSON([]any{fermata.ResponseChoice, true, "Library", fermata.ResponseMultiChoice},
			[]any{q.Items[0].ResponseType, q.Items[0].TakesOther(), q.Items[0].Header, q.Items[1].ResponseType})
		if !strings.Contains(q.Body, "chi.NewRouter()") {
			a.Errorf("the preview is not shown: %q", q.Body)
		}
		a.answer(q.ID, fermata.Answer{Answers: map[string]any{q.Items[0].Key: "gin, please", q.Items[1].Key: []string{"race", "lint"}}})
		r = a.must("check_answer", `{"question_id":"`+q.ID+`"}`)
		a.equalJSON(map[string]any{"Which library?": "gin, please", "Which checks?": []string{"lint", "race"}}, r.Answers)
	})
}

func TestContextMayBeText(t *testing.T) {
	t.Parallel()
	eachTransport(t, func(a *agent) {
		r := a.must("ask_user", `{"question":"Which?","context":"The old one is YAML."}`)
		a.equalJSON("The old one is YAML.", a.question(r.QuestionID).Context.Text)
	})
}

func TestAgentsTakeOwnAnswers(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"ask_user", "post_question"} {
		eachTransport(t, func(a *agent) {
			q := a.question(a.must(tool, `{"question":"Which?","options":["a","b"]}`).QuestionID)
			a.answer(q.ID, fermata.Answer{Answer: "neither, please"})
			a.equalJSON("neither, please", a.must("check_answer", `{"question_id":"`+q.ID+`"}`).Answer)
			q = a.question(a.must(tool, `{"question":"And which?","options":["a","b"],"other":false}`).QuestionID)
			a.equalJSON(false, q.Items[0].TakesOther())
		})
	}
}

func TestBadInputChangesNothing(t *testing.T) {
	t.Parallel()
	eachTransport(t, func(a *agent) {
		for arguments, field := range map[string]string{
			`{}`:                                                                "question",
			`{"question":"?","optons":[]}`:                                      "optons",
			`{"question":"?","context":{"stp":"x"}}`:                            "context.stp",
			`{"question":7}`:                                                    "question",
			`{"question":"?","options":[]}`:                                     "",
			`{"question":"?","wait_seconds":601}`:                               "wait_seconds",
			`{"question":"?","wait_seconds":-1}`:                                "wait_seconds",
			`{"question":"?","questions":[{"question":"?"}]}`:                   "questions",
			`{"question":"?","response_type":"choice"}`:                         "options",
			`{"question":"?","timeout":"soon"}`:                                 "timeout",
			`{"question":"?","options":["keep",{"label":"drop","dangr":true}]}`: "options[1].dangr",
			`{"questions":[{"question":"?","options":["keep",{"label":"drop","Danger":true}]}]}`: "questions[0].options[1].Danger",
			`{"question":"?","title":"a","header":"b"}`:                                          "header",
			`{"question":"?","options":["a","b"],"response_type":"choice","multiSelect":true}`:   "multiSelect",
			`{"questions":[{"question":"?"}],"multiSelect":true}`:                                "questions",
			`{"question":"?","type":"non_blocking"}`:                                             "default",
			`{"questions":[{"question":"?","options":[{"label":"a"},{"label":"a"}]}]}`:           "items[0].options",
		} {
			if field == "" {
				a.must("ask_user", arguments)
				a.must("cancel_question", `{"question_id":"`+a.onlyQuestion().ID+`"}`)
				continue
			}
			r := a.refused(fermata.CodeInvalidRequest, "ask_user", arguments)
			if len(r.Error.Problems) == 0 || !strings.HasPrefix(r.Error.Problems[0].Field, field) {
				a.Errorf("%.80s: problems %+v, want %s", arguments, r.Error.Problems, field)
			}
		}
		for arguments, meant := range map[string]string{
			`{"question":"?","responseType":"text"}`:                   "write response_type",
			`{"question":"?","options":[{"label":"a","Danger":true}]}`: "write danger",
		} {
			r := a.refused(fermata.CodeInvalidRequest, "ask_user", arguments)
			if len(r.Error.Problems) == 0 || !strings.Contains(r.Error.Problems[0].Message, meant) {
				a.Errorf("%s: problems %+v, want %q", arguments, r.Error.Problems, meant)
			}
		}
		a.refused(fermata.CodeNotFound, "ask_user", `{"question":"?","task_id":"task_none"}`)
		a.refused(fermata.CodeNotFound, "check_answer", `{"question_id":"q_none"}`)
		a.refused(fermata.CodeNotFound, "cancel_question", `{"question_id":"q_none"}`)
		a.refused(fermata.CodeInvalidRequest, "check_answer", `{}`)
		a.refused(fermata.CodeInvalidRequest, "cancel_question", `{}`)
		a.refused(fermata.CodeInvalidRequest, "report_progress", `{}`)
		a.refused(fermata.CodeInvalidRequest, "request_approval", `{"title":"x"}`)
		a.refused(fermata.CodeInvalidRequest, "read_messages", `{"befor":"x"}`)
	})
}

func TestASecondQuestionIsRefused(t *testing.T) {
	t.Parallel()
	eachTransport(t, func(a *agent) {
		first := a.must("ask_user", `{"question":"A?"}`)
		r := a.refused(fermata.CodePendingQuestionExists, "ask_user", `{"question":"B?"}`)
		if r.Error.Hint == "" {
			a.Error("no hint what to do")
		}
		a.equalJSON(first.QuestionID, a.onlyQuestion().ID)
	})
}

func TestARepeatedCallFindsItsQuestion(t *testing.T) {
	t.Parallel()
	eachTransport(t, func(a *agent) {
		for _, meta := range []mcp.Meta{
			{"claudecode/toolUseId": "toolu_1"},
			{"callId": "call_1", "x-codex-turn-metadata": map[string]any{"thread_id": "t1"}},
		} {
			first, ok := a.callWith("ask_user", `{"question":"A?"}`, meta)
			a.equalJSON(true, ok)
			a.answer(first.QuestionID, fermata.Answer{Answer: "yes"})
			again, ok := a.callWith("ask_user", `{"question":"A?"}`, meta)
			a.equalJSON([]any{true, first.QuestionID, "answered", "yes"}, []any{ok, again.QuestionID, again.Status, again.Answer})
			other, ok := a.callWith("ask_user", `{"question":"B?"}`, meta)
			a.equalJSON([]any{false, fermata.CodeIdempotencyConflict}, []any{ok, other.Error.Code})
		}
		first := a.must("ask_user", `{"question":"C?","idempotency_key":"k"}`)
		a.equalJSON(first.QuestionID, a.must("ask_user", `{"question":"C?","idempotency_key":"k"}`).QuestionID)
	})
}

// signs returns a channel of the progress notifications that a client gets, and
// the options of that client.
func signs() (chan string, *mcp.ClientOptions) {
	said := make(chan string, 1000)
	return said, &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
		select {
		case said <- r.Params.Message:
		default:
		}
	}}
}

// waitingCall returns a call of ask_user that waits, and asks for progress
// notifications.
func waitingCall() *mcp.CallToolParams {
	params := &mcp.CallToolParams{Name: "ask_user", Arguments: json.RawMessage(`{"question":"A?","wait_seconds":60}`)}
	params.SetProgressToken("p")
	return params
}

func TestWaitThenAnswer(t *testing.T) {
	t.Parallel()
	overTransports(t, func(w *world, connect connect) {
		said, opts := signs()
		a := connect(w.agent, opts)
		done := make(chan *mcp.CallToolResult, 1)
		go func() {
			reply, err := a.session.CallTool(a.Context(), waitingCall())
			if err != nil {
				w.Error(err)
			}
			done <- reply
		}()
		// The second notification shows that they continue.
		for range 2 {
			if sign := patience.Receive(w, "the call says that it waits", said); !strings.Contains(sign, "A?") {
				w.Errorf("the sign of life says %q", sign)
			}
		}
		a.answer(a.onlyQuestion().ID, fermata.Answer{Answer: "yes"})
		state := patience.Receive(w, "the call ends", done).StructuredContent.(map[string]any)
		a.equalJSON([]any{"answered", "yes"}, []any{state["status"], state["answer"]})
	})
}

// TestACallThatIsGivenUpLeavesTheQuestion checks that neither a cancelled call
// nor a client that goes away withdraws a question.
func TestACallThatIsGivenUpLeavesTheQuestion(t *testing.T) {
	t.Parallel()
	overTransports(t, func(w *world, connect connect) {
		said, opts := signs()
		a := connect(w.agent, opts)
		ctx, cancel := context.WithCancel(a.Context())
		defer cancel()
		ended := make(chan error, 1)
		go func() {
			_, err := a.session.CallTool(ctx, waitingCall())
			ended <- err
		}()
		patience.Receive(w, "the call says that it waits", said)
		cancel()
		if err := patience.Receive(w, "the call ends", ended); err == nil {
			w.Error("a call that was given up has a result")
		}
		q := a.onlyQuestion()
		a.equalJSON(fermata.Pending, a.must("check_answer", `{"question_id":"`+q.ID+`"}`).Status)
		_ = a.session.Close()
		a.equalJSON(fermata.Pending, a.question(q.ID).Status)
		a.answer(q.ID, fermata.Answer{Answer: "yes"})
	})
}

func TestSessionsShareATaskOutside(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, version := range versions {
		a := w.connectOutside(version, withHeaders{"Authorization": "Bearer " + w.agent, mcpserver.SessionHeader: "claude:" + version})
		progress := a.must("report_progress", `{"message":"begun"}`)
		first := a.must("ask_user", `{"question":"A?"}`)
		a.equalJSON(progress.TaskID, first.TaskID)
		w.answer(first.QuestionID, fermata.Answer{Answer: "yes"})
		a.equalJSON(first.TaskID, a.must("ask_user", `{"question":"B?"}`).TaskID)
	}
}

func TestWithoutASessionEveryQuestionHasItsOwnTask(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.connectOutside("2026-07-28", withHeaders{"Authorization": "Bearer " + w.agent})
	first, second := a.must("ask_user", `{"question":"A?"}`), a.must("ask_user", `{"question":"B?"}`)
	if first.TaskID == second.TaskID {
		t.Error("two questions share a task")
	}
	a.refused(fermata.CodeInvalidRequest, "report_progress", `{"message":"begun"}`)
}
