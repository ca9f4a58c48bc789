//go:build unix

package acp_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/runner/acp"
)

// The reply to a request carries a decision but no comment. A prompt tells the agent the comment, and the run does not
// end before that.
func TestWordsWithADecisionReachTheAgent(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		does   string
		decide func(w *world, q *fermata.Question) error
		words  string
		ran    []string
	}{
		"an approval with a comment": {hears, decideWith(fermata.Approve, "only on staging"), "only on staging", []string{"git push"}},
		"a rejection with a comment": {hears, decideWith(fermata.Reject, "open a pull request"), "open a pull request", nil},
		"a withdrawal with a reason": {hears, func(w *world, q *fermata.Question) error {
			_, err := w.person.CancelQuestion(w.Context(), q.ID, "ask ben first")
			return err
		}, "ask ben first", nil},
		"the agent decides": {hears, func(w *world, q *fermata.Question) error {
			_, err := w.person.ResumeTask(w.Context(), q.TaskID, "do without")
			return err
		}, "do without", nil},
		"a form with a comment": {hearsForm, func(w *world, q *fermata.Question) error {
			_, err := w.person.Answer(w.Context(), q.ID, fermata.Answer{Answers: map[string]any{"f1": "b", "f2": 3}, Comment: "two coats"})
			return err
		}, "two coats", nil},
		"the agent fills the form in itself": {hearsForm, func(w *world, q *fermata.Question) error {
			_, err := w.person.ResumeTask(w.Context(), q.TaskID, "take blue")
			return err
		}, "take blue", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			task := w.task(push)
			end := w.runInBackground(tt.does)
			q := w.awaitQuestion(task.ID)
			w.OK(tt.decide(w, q))
			end()
			done := w.wantState(task.ID, fermata.TaskDone, "heard")
			w.wantTold(done, tt.words)
			w.wantRan(done, tt.ran...)
		})
	}
}

// decideWith returns the person's decision on an approval, with a comment.
func decideWith(decision, comment string) func(*world, *fermata.Question) error {
	return func(w *world, q *fermata.Question) error {
		_, err := w.person.Answer(w.Context(), q.ID, fermata.Answer{Answer: decision, ActionHash: q.ActionHash, Comment: comment})
		return err
	}
}

// gatekeeper lets a person decide while the agent waits: the worker gets the decision before the request is answered.
type gatekeeper struct {
	acp.Asker
	inbox  chan *fermata.ResumeContext
	answer fermata.ResumeAnswer
	asked  bool
}

func (g *gatekeeper) Gate(context.Context, fermata.GateCall) (*fermata.GateReply, error) {
	v := &fermata.GateReply{Decision: fermata.GateAsk, QuestionID: "q_1", Status: fermata.Pending}
	switch {
	case g.asked && g.answer.Resolution.IsApproved():
		v.Decision, v.Status = fermata.GateAllow, fermata.Answered
	case g.asked:
		v.Decision, v.Status = fermata.GateDeny, g.answer.Resolution.Status
	}
	return v, nil
}

func (g *gatekeeper) WaitQuestion(ctx context.Context, id string, _ time.Duration) (*fermata.Question, error) {
	g.asked = true
	// The runner takes the second copy only after it has read the first.
	for range 2 {
		select {
		case g.inbox <- &fermata.ResumeContext{Questions: []fermata.ResumeAnswer{g.answer}, Text: g.answer.Resolution.Comment}:
		case <-ctx.Done():
		}
	}
	return &fermata.Question{ID: id, Type: g.answer.Type, Status: g.answer.Resolution.Status, Resolution: g.answer.Resolution}, nil
}

// If the worker has the comment in time, the same run tells the agent.
func TestWordsWithADecisionAreToldInTheSameRun(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]*fermata.Resolution{
		"approved": {Status: fermata.Answered, DecidedBy: fermata.ActorHuman, Answer: fermata.Approve, Comment: "only on staging"},
		"rejected": {Status: fermata.Answered, DecidedBy: fermata.ActorHuman, Answer: fermata.Reject, Comment: "open a pull request"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := &gatekeeper{inbox: make(chan *fermata.ResumeContext), answer: fermata.ResumeAnswer{QuestionID: "q_1", Type: fermata.Approval, Resolution: r}}
			o := standInOptions(t, hears, 10*time.Second, sessionsEnv+"="+t.TempDir())
			o.Asker, o.Wait = g, patient
			fin, d := playAt(t, o, &handle{dir: t.TempDir(), inbox: g.inbox})
			if fin.Result != "" || !strings.Contains(fin.Summary, "heard") {
				t.Errorf("came to %q %q\n%s", fin.Result, fin.Summary, d)
			}
		})
	}
}
