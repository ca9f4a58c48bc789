package webhooks

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/process"
	standin "github.com/fermata-hq/fermata/test/standin/webhook"
)

// outcome is the body of a callback.
type outcome struct {
	Type string `json:"type"`
	Data struct {
		QuestionID string             `json:"question_id"`
		TaskID     string             `json:"task_id"`
		Project    string             `json:"project"`
		Title      string             `json:"title"`
		AskedBy    fermata.Actor      `json:"asked_by"`
		Status     string             `json:"status"`
		State      json.RawMessage    `json:"state"`
		Resolution fermata.Resolution `json:"resolution"`
	} `json:"data"`
}

// outcomes returns the callbacks that a receiver accepted, by type.
func outcomes(t *testing.T, r *standin.Receiver) map[string]outcome {
	t.Helper()
	all := map[string]outcome{}
	for _, a := range r.Attempts() {
		if a.Invalid != nil {
			t.Fatalf("a callback is not signed: %v", a.Invalid)
		}
		if a.Fault != standin.None {
			continue
		}
		var o outcome
		if err := json.Unmarshal(a.Body, &o); err != nil {
			t.Fatalf("%v: %s", err, a.Body)
		}
		all[o.Type] = o
	}
	return all
}

// A program that asks from outside gets the outcome of its question, with its own
// state, at its callback address. That holds although the server and the receiver
// fail meanwhile.
func TestOutcomeIsPostedToTheAsker(t *testing.T) {
	t.Parallel()
	process.RunOnEachDatabase(t, func(t *testing.T, database []string) {
		t.Parallel()
		w := begin(t, database)
		r, gone := standin.New(t), standin.New(t)
		r.SetFaults(func(a *standin.Attempt) standin.Fault {
			if a.Try == 1 {
				return standin.Fail
			}
			return standin.None
		})
		gone.SetFaults(func(*standin.Attempt) standin.Fault { return standin.Gone })

		ask := fermata.Ask{
			Question: "Deploy?", ResponseType: fermata.ResponseBoolean, CallbackURL: r.URL, State: json.RawMessage(`{"build":4711}`),
		}
		_, err := w.admin.AskOutside(t.Context(), client.OutsideQuestion{Ask: ask})
		refused(t, err, "callback_url", "fermata channel add callback")
		w.call(http.MethodPost, "/v1/channels", map[string]any{
			"name": "answers", "kind": "callback", "settings": map[string]any{"secret": standin.Secret, "allow_private": true},
		}, nil)

		worked, err := w.admin.CreateTask(t.Context(), fermata.NewTask{Title: "for a worker"})
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.admin.Ask(t.Context(), worked.ID, ask)
		refused(t, err, "callback_url", "")
		wrong := ask
		wrong.CallbackURL = "ftp://ann:secret@example.com"
		_, err = w.admin.AskOutside(t.Context(), client.OutsideQuestion{Ask: wrong})
		refused(t, err, "callback_url", "")

		answered, cancelled, unheard := w.ask(ask), w.ask(ask), ask
		unheard.CallbackURL = gone.URL
		nobody := w.ask(unheard)
		w.kill()
		for _, id := range []string{nobody.ID, answered.ID} {
			if _, err := w.admin.Answer(t.Context(), id, fermata.Answer{Answer: true}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.admin.CancelQuestion(t.Context(), cancelled.ID, "not needed"); err != nil {
			t.Fatal(err)
		}
		patience.Await(t, "both outcomes arrive", func() bool { return len(w.deliveries("answers", "sent")) == 2 })
		heard := outcomes(t, r)
		got := heard["question.answered"]
		if got.Data.QuestionID != answered.ID || got.Data.TaskID != answered.TaskID || got.Data.Status != "answered" ||
			string(got.Data.State) != `{"build":4711}` || got.Data.Resolution.Answer != true || got.Data.Resolution.DecidedBy != fermata.ActorHuman {
			t.Errorf("the answer arrived as %+v", got)
		}
		if d := heard["question.answered"].Data; d.Title != "Deploy?" || d.Project != fermata.DefaultProject || d.AskedBy != answered.AskedBy {
			t.Fatalf("what was asked, and by whom, is not told: %+v", d)
		}
		if got := heard["question.cancelled"]; got.Data.QuestionID != cancelled.ID || got.Data.Resolution.Answer != nil {
			t.Errorf("the cancellation arrived as %+v", got)
		}
		// An address that replies 410 ends its own delivery. It does not disable the channel.
		patience.Await(t, "the one that is gone is given up", func() bool { return len(w.deliveries("answers", "dead")) == 1 })
		if c := w.channel("answers"); !c.Enabled || c.LastError != "" {
			t.Errorf("the channel is %+v", c)
		}
	})
}

// ask asks a question from outside, without a task.
func (w *world) ask(a fermata.Ask) *fermata.Question {
	w.Helper()
	q, err := w.admin.AskOutside(w.Context(), client.OutsideQuestion{Ask: a})
	w.OK(err)
	return q
}

// refused checks that an error is about the field, and has the hint.
func refused(t *testing.T, err error, field, hint string) {
	t.Helper()
	e, ok := errors.AsType[*fermata.Error](err)
	if !ok || len(e.Problems) != 1 || e.Problems[0].Field != field || !strings.Contains(e.Hint, hint) {
		t.Fatalf("want a refusal of %s with the hint %q, got %v (%+v)", field, hint, err, e)
	}
}
