//go:build unix

package acp_test

import (
	"context"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/runner/acp"
)

func TestAFormIsFilledInWhileTheAgentWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task := w.task("")
	end := w.runInBackground(elicits)
	q := w.awaitQuestion(task.ID)
	if q.Type != fermata.Blocking || q.Title != "How shall I paint?" || len(q.Items) != 2 ||
		q.Items[0].ResponseType != fermata.ResponseChoice || q.Items[0].Options[1].Label != "Blue" || q.Items[1].IsRequired() {
		t.Errorf("asked %s %q with %+v", q.Type, q.Title, q.Items)
	}
	w.fillIn(q)
	end()
	w.wantState(task.ID, fermata.TaskDone, `{"colour":"b","the count":3}`)
}

func (w *world) fillIn(q *fermata.Question) {
	w.Helper()
	_, err := w.person.Answer(w.Context(), q.ID, fermata.Answer{Answers: map[string]any{"f1": "b", "f2": 3}})
	w.OK(err)
}

func TestAFormIsFilledInLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task := w.task("")
	w.mustRun(elicits, impatient)
	w.wantState(task.ID, fermata.TaskAwaitingInput, "")
	w.fillIn(w.awaitQuestion(task.ID))
	w.mustRun(elicits, impatient)
	w.wantState(task.ID, fermata.TaskDone, `{"colour":"b","the count":3}`)
}

// The worker gets the answer while the request that asks is under way. The answer is the result of the elicitation. It
// does not interrupt the agent.
func TestAFormIsFilledInAtOnce(t *testing.T) {
	t.Parallel()
	wantAskedOnce(t, &quickPerson{inbox: make(chan *fermata.ResumeContext)})
}

// A message interrupts the elicitation, and the person answers before the agent elicits again. The agent gets this
// answer, and the person is not asked a second time.
func TestAFormIsFilledInAfterAMessage(t *testing.T) {
	t.Parallel()
	wantAskedOnce(t, &quickPerson{
		inbox:   make(chan *fermata.ResumeContext),
		message: &fermata.ResumeContext{Messages: []fermata.Message{{ID: "msg_1", Body: "think of the neighbours"}}},
	})
}

// wantAskedOnce lets the agent elicit. It checks that the person is asked once, and that the agent gets the answer.
func wantAskedOnce(t *testing.T, p *quickPerson) {
	t.Helper()
	o := standInOptions(t, elicits, 10*time.Second, sessionsEnv+"="+t.TempDir())
	o.Asker, o.Wait = p, patient
	fin, d := playAt(t, o, &handle{dir: t.TempDir(), inbox: p.inbox})
	if fin.Result != "" || fin.Summary != `{"colour":"b","the count":3}` || p.asked != 1 {
		t.Errorf("asked %d times, and came to %q %q\n%s", p.asked, fin.Result, fin.Summary, d)
	}
}

// quickPerson answers while the request that asks is under way. If message is set, it sends the message first, while
// the agent waits.
type quickPerson struct {
	acp.Asker
	inbox   chan *fermata.ResumeContext
	message *fermata.ResumeContext
	asked   int
	answer  *fermata.ResumeContext
}

func (p *quickPerson) Ask(ctx context.Context, _ string, a fermata.Ask) (*fermata.Question, error) {
	p.asked++
	p.answer = &fermata.ResumeContext{Questions: []fermata.ResumeAnswer{{QuestionID: "q_1", State: a.State, Resolution: &fermata.Resolution{
		Status: fermata.Answered, Answers: map[string]any{"f1": "b", "f2": float64(3)},
	}}}}
	if p.asked == 1 && p.message == nil {
		// The runner takes the second copy only after it has read the first.
		p.deliver(ctx, p.answer, p.answer)
	}
	return &fermata.Question{ID: "q_1", Status: fermata.Pending}, nil
}

func (p *quickPerson) WaitQuestion(ctx context.Context, id string, _ time.Duration) (*fermata.Question, error) {
	if p.asked == 1 && p.message != nil {
		p.deliver(ctx, p.message)
		p.deliver(context.WithoutCancel(ctx), p.answer)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return &fermata.Question{ID: id, Status: fermata.Answered, Resolution: p.answer.Questions[0].Resolution}, nil
}

// deliver waits until the runner has taken all contexts from the inbox.
func (p *quickPerson) deliver(ctx context.Context, news ...*fermata.ResumeContext) {
	for _, rc := range news {
		select {
		case p.inbox <- rc:
		case <-ctx.Done():
		}
	}
}
