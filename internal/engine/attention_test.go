package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/test/patience"
)

func attentionRequest(claims ...*fermata.Claim) fermata.AttentionRequest {
	r := fermata.AttentionRequest{WaitSeconds: 60}
	for _, c := range claims {
		r.Runs = append(r.Runs, fermata.AttentionRun{RunID: c.Run.ID, Token: c.Run.Token})
	}
	return r
}

// newsAfter returns the news of the runs for a call that starts before
// something happens, and that must return because of it.
func (w *world) newsAfter(r fermata.AttentionRequest, happens func()) []fermata.News {
	w.Helper()
	type end struct {
		found *fermata.Attention
		err   error
	}
	ends := make(chan end, 1)
	go func() {
		found, err := w.Engine.Attention(w.Context(), w.agent, r)
		ends <- end{found, err}
	}()
	happens()
	got := patience.Receive(w, "the wait ends", ends)
	w.OK(got.err)
	return got.found.Runs
}

func TestAttentionTellsOfWordsAndStops(t *testing.T) {
	each(t, func(w *world) {
		quiet, busy := w.createRunning(fermata.NewTask{Title: "quiet"}), w.createRunning(fermata.NewTask{Title: "busy"})
		r := attentionRequest(quiet, busy)
		got := w.newsAfter(r, func() { w.say(busy.Task.ID, "use less paint") })
		w.Equal([]fermata.News{{RunID: busy.Run.ID, Unread: 1}}, got)
		// Words that were handed over are no news.
		w.heartbeat(busy)
		r.WaitSeconds = 0
		found, err := w.Engine.Attention(w.Context(), w.agent, r)
		w.OK(err)
		w.Equal([]fermata.News{}, found.Runs)
		r.WaitSeconds = 60
		got = w.newsAfter(r, func() { w.cancel(quiet.Task.ID) })
		w.Equal([]fermata.News{{RunID: quiet.Run.ID, Stop: fermata.StopCancelled}}, got)
	})
}

func TestAttentionTellsOfAnswersAndDeadlines(t *testing.T) {
	each(t, func(w *world) {
		c := w.createRunning(fermata.NewTask{Title: "paint"})
		q := w.ask(c.Task.ID, fermata.Ask{Question: "Which colour?", Timeout: "30m"})
		r := attentionRequest(c)
		found, err := w.Engine.Attention(w.Context(), w.agent, r)
		w.OK(err)
		w.Equal(q.Deadline, found.Runs[0].Deadline)
		r.Runs[0].Deadline = q.Deadline
		got := w.newsAfter(r, func() {
			_, err := w.Engine.ExtendQuestion(w.Context(), w.alice, q.ID, "2h")
			w.OK(err)
		})
		r.Runs[0].Deadline = got[0].Deadline
		w.Equal(true, got[0].Deadline.After(*q.Deadline))
		w.Equal([]fermata.News{{RunID: c.Run.ID, Unread: 1}}, w.newsAfter(r, func() { w.answer(q.ID, "green") }))
	})
}

func TestAttentionTellsOfALeaseThatEnds(t *testing.T) {
	each(t, func(w *world) {
		c := w.createRunning(fermata.NewTask{Title: "paint"})
		got := w.newsAfter(attentionRequest(c), func() { w.Clock.Advance(fermata.DefaultLease + time.Second) })
		w.Equal([]fermata.News{{RunID: c.Run.ID, Stop: fermata.StopLost}}, got)
	})
}

// A worker that waits on one replica gets news that is written on another one.
func TestAttentionOnAReplica(t *testing.T) {
	onReplicas(t, func(w *world, other *engine.Engine) {
		c := w.createRunning(fermata.NewTask{Title: "paint"})
		heard := make(chan error, 1)
		go func() {
			found, err := other.Attention(w.Context(), w.agent, attentionRequest(c))
			if err == nil && (len(found.Runs) != 1 || found.Runs[0].Unread != 1) {
				err = fmt.Errorf("heard %+v", found.Runs)
			}
			heard <- err
		}()
		w.say(c.Task.ID, "use less paint")
		w.OK(patience.Receive(w, "the wait ends", heard))
	})
}

func TestAttentionOfAForeignRun(t *testing.T) {
	each(t, func(w *world) {
		found, err := w.Engine.Attention(w.Context(), w.agent, fermata.AttentionRequest{
			Runs: []fermata.AttentionRun{{RunID: "run_nowhere", Token: 1}}, WaitSeconds: 60,
		})
		w.OK(err)
		w.Equal([]fermata.News{{RunID: "run_nowhere", Stop: fermata.StopLost}}, found.Runs)
		_, err = w.Engine.Attention(w.Context(), w.agent, fermata.AttentionRequest{})
		w.Equal(fermata.CodeInvalidRequest, fermata.CodeOf(err))
		_, err = w.Engine.Attention(w.Context(), w.alice, fermata.AttentionRequest{Runs: []fermata.AttentionRun{{RunID: "run_1"}}})
		w.Equal(fermata.CodeForbidden, fermata.CodeOf(err))
	})
}
