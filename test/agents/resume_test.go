package agents

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/scriptedmodel"
)

// asks returns the rules for the beginning of every story: the agent asks in its first
// turn. If the agent is not stopped then, the model's next reply never comes.
func asks(k kind) []scriptedmodel.Rule {
	first := 0
	return []scriptedmodel.Rule{
		{Name: "ask", When: scriptedmodel.When{Turn: &first}, Reply: []scriptedmodel.Part{
			{Text: "I will ask."},
			scriptedmodel.Call(cmp.Or(k.ask, "~ask_user"), map[string]any{"question": "Which colour?", "options": []map[string]string{{"value": "green", "label": "Green"}, {"value": "red", "label": "Red"}}}),
		}},
		{Name: "not stopped", Hold: true, Reply: scriptedmodel.Say("The run was not stopped.")},
	}
}

// paintRules returns the rules for the rest of the story: the agent writes the answer into a file.
func paintRules(k kind) []scriptedmodel.Rule {
	return []scriptedmodel.Rule{
		{Name: "work", When: scriptedmodel.When{Last: "Answered by"}, Reply: []scriptedmodel.Part{
			{Text: "Green it is."}, k.write("fence.txt", "green"),
		}},
		{Name: "done", When: scriptedmodel.When{Any: "Answered by"}, Reply: scriptedmodel.Say("The fence is green.")},
	}
}

// testResume plays the story of docs/inside/contract.md#runs-leases-and-resume:
// the agent asks and ends, the server is killed and started again, a person answers in a terminal, and the same session
// continues with the answer.
func testResume(t *testing.T, k kind) {
	w := newWorld(t, k, scriptedmodel.Script{Rules: append(paintRules(k), asks(k)...)})
	task := w.CreateTask("Paint the fence", "All of it.")
	w.RunWorkerOnce()
	waiting := w.Task(task.ID)
	if waiting.State != fermata.TaskAwaitingInput || waiting.Session == nil || waiting.Session.ID == "" {
		t.Fatalf("the task is %s (%s) with the session %+v\n%s", waiting.State, waiting.Summary, waiting.Session, w.RunLog(task))
	}
	w.CheckAgentsGone()
	w.Restart()
	w.RunCLI("respond", waiting.PendingQuestionID, "green")
	w.RunWorkerOnce()
	done := w.Task(task.ID)
	if done.State != fermata.TaskDone || done.Summary != "The fence is green." {
		t.Fatalf("the task is %s: %s\n%s", done.State, done.Summary, w.RunLog(task))
	}
	if done.Session.ID != waiting.Session.ID {
		t.Errorf("the session %s was resumed as %s", waiting.Session.ID, done.Session.ID)
	}
	if got := w.RunGit("show", "fermata/"+task.ID+":fence.txt"); got != "green" {
		t.Errorf("the branch has %q", got)
	}
	w.wantTranscript(waiting.PendingQuestionID)
}

// wantTranscript fails the test unless the model was sent the question, its result and the answer.
func (w *world) wantTranscript(question string) {
	w.Helper()
	request, err := w.Room.Model.Await(w.Context(), "work")
	if err != nil {
		w.Fatal(err)
	}
	items := request.Conversation.Entries
	has := func(role scriptedmodel.Role, text string) bool {
		return slices.ContainsFunc(items, func(it scriptedmodel.Entry) bool {
			return it.Role == role && strings.Contains(it.Text, text)
		})
	}
	if !has(scriptedmodel.ToolCall, "Which colour?") || !has(scriptedmodel.ToolResult, question) || !has(scriptedmodel.User, "Answered by") {
		w.Errorf("the transcript lacks the question, its result or the answer: %+v", items)
	}
}
