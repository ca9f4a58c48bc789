//go:build unix

package acp_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
)

const push = "RUN git push"

func TestAPermissionIsGivenWhileTheAgentWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task := w.task(push)
	end := w.runInBackground(runs)
	q := w.awaitQuestion(task.ID)
	var action struct {
		Tool  string `json:"tool"`
		Input struct {
			Command string `json:"command"`
		} `json:"input"`
	}
	w.OK(json.Unmarshal(q.Action, &action))
	if q.Type != fermata.Approval || q.Title != "execute: git push" || action.Tool != "execute" || action.Input.Command != "git push" {
		t.Errorf("asked %s %q about %s", q.Type, q.Title, q.Action)
	}
	w.decide(q, fermata.Approve)
	end()
	w.wantRan(w.wantState(task.ID, fermata.TaskDone, "ran git push"), "git push")
}

func TestARejectedCallDoesNotRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task := w.task(push)
	end := w.runInBackground(runs)
	w.decide(w.awaitQuestion(task.ID), fermata.Reject)
	end()
	w.wantRan(w.wantState(task.ID, fermata.TaskDone, "was refused"))
}

// The agent is stopped on the question. Another worker's agent loads the session and repeats the call, which is then
// permitted without asking, once.
func TestAPermissionIsGivenLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task := w.task(push)
	w.mustRun(runs, impatient)
	waiting := w.wantState(task.ID, fermata.TaskAwaitingApproval, "")
	if waiting.Session.ID != "s-1" || waiting.Session.Settings["command"] == "" {
		t.Errorf("the session is %+v", waiting.Session)
	}
	w.decide(w.awaitQuestion(task.ID), fermata.Approve)
	w.mustRun(runs, impatient)
	w.wantRan(w.wantState(task.ID, fermata.TaskDone, "ran git push"), "git push")
	w.wantLog(task, "permitted: execute: git push")
	if log := w.log(task); strings.Contains(log, "old news") {
		t.Errorf("what was loaded is told again:\n%s", log)
	}
	handed, err := os.ReadFile(filepath.Join(w.sessions, "s-1"))
	w.OK(err)
	if !strings.Contains(string(handed), "approve") {
		t.Errorf("the session did not get the answer:\n%s", handed)
	}
}

func TestARefusalIsGivenLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task := w.task(push)
	w.mustRun(runs, impatient)
	w.decide(w.awaitQuestion(task.ID), fermata.Reject)
	w.mustRun(runs, impatient)
	w.wantRan(w.wantState(task.ID, fermata.TaskDone, "was refused"))
}

func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	policy := fermata.DefaultPolicy()
	policy.ResumedTimeout = map[fermata.QuestionType]fermata.Timeout{fermata.Approval: "15m"}
	_, err := w.person.SetPolicy(t.Context(), policy)
	w.OK(err)
	task := w.task(push)
	w.mustRun(runs, impatient)
	w.Clock.Advance(time.Hour)
	_, err = w.Engine.Sweep(t.Context())
	w.OK(err)
	w.mustRun(runs, impatient)
	w.wantRan(w.wantState(task.ID, fermata.TaskDone, "was refused"))
}

func TestChangedArgumentsDoNotInheritTheApproval(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task := w.task(push)
	w.mustRun(changes, impatient)
	first := w.awaitQuestion(task.ID)
	w.decide(first, fermata.Approve)
	w.mustRun(changes, impatient)
	w.wantRan(w.wantState(task.ID, fermata.TaskAwaitingApproval, ""))
	if second := w.awaitQuestion(task.ID); second.ID == first.ID || second.Title != "execute: git push --force" {
		t.Errorf("asked %q again", second.Title)
	}
}

func TestAnApprovalIsForOneCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task := w.task(push)
	w.mustRun(runs, impatient)
	w.decide(w.awaitQuestion(task.ID), fermata.Approve)
	w.mustRun(runs, impatient)
	_, err := w.person.ReopenTask(t.Context(), task.ID)
	w.OK(err)
	w.mustRun(runs, impatient)
	w.wantRan(w.wantState(task.ID, fermata.TaskAwaitingApproval, ""), "git push")
}

func TestASessionThatIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task := w.task(push)
	w.mustRun(runs, impatient)
	w.decide(w.awaitQuestion(task.ID), fermata.Approve)
	w.OK(os.Remove(filepath.Join(w.sessions, "s-1")))
	w.mustRun(runs, impatient)
	done := w.wantState(task.ID, fermata.TaskDone, "ran git push")
	w.wantRan(done, "git push")
	w.wantLog(task, "the session s-1 cannot be loaded", "no such session", "a new one begins")
	w.wantTold(done, "Paint the fence", "cannot be resumed", "approve")
}

func TestAnAgentThatCannotLoad(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task := w.task(push)
	w.mustRun(cannotLoad, impatient)
	w.decide(w.awaitQuestion(task.ID), fermata.Approve)
	w.mustRun(cannotLoad, impatient)
	done := w.wantState(task.ID, fermata.TaskDone, "ran git push")
	w.wantLog(task, "the agent cannot load sessions")
	w.wantTold(done, "Paint the fence", "cannot be resumed", "approve")
}

// wantTold checks that the texts are in the prompts of the task's last session.
func (w *world) wantTold(t *fermata.Task, texts ...string) {
	w.Helper()
	told, err := os.ReadFile(filepath.Join(w.sessions, t.Session.ID))
	w.OK(err)
	for _, text := range texts {
		if !strings.Contains(string(told), text) {
			w.Errorf("the session %s was told\n%s\nwant in it %q", t.Session.ID, told, text)
		}
	}
}

func TestOneCallIsNeverPermittedForGood(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task := w.task(push)
	end := w.runInBackground(wantsAlways)
	w.decide(w.awaitQuestion(task.ID), fermata.Approve)
	end()
	w.wantRan(w.wantState(task.ID, fermata.TaskDone, "was refused"))
	w.wantLog(task, "offers no way to permit one call only")
}

func TestARulePermitsWithoutAsking(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.person.AddGateRule(t.Context(), fermata.NewGateRule{
		Tool: "execute", Args: map[string]string{"command": "git push"}, Decision: fermata.GateAllow,
	})
	w.OK(err)
	task := w.task(push)
	w.mustRun(runs, impatient)
	w.wantRan(w.wantState(task.ID, fermata.TaskDone, "ran git push"), "git push")
}

// A person interrupts the agent while it waits for permission. The agent is told, asks for the same again, and gets the
// same question.
func TestAMessageWhileTheAgentWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task := w.task(push)
	end := w.runInBackground(runs)
	q := w.awaitQuestion(task.ID)
	_, err := w.person.PostMessage(t.Context(), task.ID, "careful with the gate")
	w.OK(err)
	w.awaitEvent(task.ID, fermata.EventQuestionAskedAgain)
	w.decide(q, fermata.Approve)
	end()
	done := w.wantState(task.ID, fermata.TaskDone, "ran git push")
	w.wantRan(done, "git push")
	w.wantTold(done, "careful with the gate")
}
