package fermata_test

import (
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
)

func TestLikeness(t *testing.T) {
	t.Parallel()
	q := openQuestion(t, fermata.Ask{Question: "Which format should the configuration have?", Options: []fermata.Option{{Value: "yaml"}, {Value: "toml"}}})
	for name, c := range map[string]struct {
		ask  fermata.Ask
		like bool
	}{
		"the same":         {fermata.Ask{Question: "which FORMAT should the configuration have", Options: []fermata.Option{{Value: "yaml"}}}, true},
		"one word":         {fermata.Ask{Question: "Which format should this configuration have?", Options: []fermata.Option{{Value: "yaml"}}}, true},
		"another question": {fermata.Ask{Question: "Which database should the shop have?", Options: []fermata.Option{{Value: "yaml"}}}, false},
		"another form":     {fermata.Ask{Question: "Which format should the configuration have?"}, false},
		"another type":     {fermata.Ask{Type: fermata.Approval, Question: "Which format should the configuration have?"}, false},
	} {
		if got := q.Similarity(openQuestion(t, c.ask)); (got >= 0.6) != c.like {
			t.Errorf("%s: %v", name, got)
		}
	}
	build := func(question string) *fermata.Question {
		return openQuestion(t, fermata.Ask{Question: question, Options: []fermata.Option{{Value: "yes"}, {Value: "no"}}})
	}
	if build("Deploy build 2?").Similarity(build("Deploy build 31 of 4f2a9c?")) < 0.6 || build("Deploy build 2?").Similarity(build("Delete build 2?")) >= 0.6 {
		t.Error("numbers make questions unlike, or another verb does not")
	}
	key := fermata.Ask{Question: "Again?", Options: []fermata.Option{{Value: "yaml"}}, DedupeKey: "format"}
	q.DedupeKey = "format"
	if q.Similarity(openQuestion(t, key)) != 1 {
		t.Error("the same dedupe key is not the same question")
	}
}

// TestSimilarSuggestsOnlyWhatFits checks that answers that the question does
// not allow, and answers that no person gave, are not suggested.
func TestSimilarSuggestsOnlyWhatFits(t *testing.T) {
	t.Parallel()
	ask := decode[fermata.Ask](t, twoOptions)
	past := func(id, answer string, by fermata.ActorKind) *fermata.Question {
		q := openQuestion(t, decode[fermata.Ask](t, `{"question":"Which?","options":["a","b","c"]}`))
		q.ID, q.Status = id, fermata.Answered
		ann := person("ann").Actor()
		q.Resolution = &fermata.Resolution{
			Status: fermata.Answered, DecidedBy: by, AnsweredBy: &ann, At: later, Answer: answer, Answers: map[string]any{"answer": answer},
		}
		return q
	}
	q := openQuestion(t, ask)
	got := q.Similar([]*fermata.Question{
		past("q_2", "b", fermata.ActorHuman), past("q_3", "c", fermata.ActorHuman), past("q_4", "b", fermata.ActorPolicy), openQuestion(t, ask),
	})
	if len(got) != 1 || got[0].Text != "b" || got[0].Count != 1 || got[0].QuestionID != "q_2" {
		t.Errorf("%+v", got)
	}
}

func TestSnoozeEnd(t *testing.T) {
	t.Parallel()
	at := func(d time.Duration) *time.Time { return ptr(later.Add(d)) }
	for name, c := range map[string]struct {
		snooze fermata.Snooze
		fault  string
		want   *time.Time
	}{
		"for":              {fermata.Snooze{For: "10m"}, "", at(10 * time.Minute)},
		"until":            {fermata.Snooze{Until: at(time.Minute)}, "", at(time.Minute)},
		"awake":            {fermata.Snooze{}, "", nil},
		"both":             {fermata.Snooze{For: "10m", Until: at(time.Minute)}, "for", nil},
		"no duration":      {fermata.Snooze{For: "soon"}, "for", nil},
		"past":             {fermata.Snooze{Until: at(0)}, "until", nil},
		"to the deadline":  {fermata.Snooze{For: "29m"}, "for", nil},
		"before it":        {fermata.Snooze{For: "28m"}, "", at(28 * time.Minute)},
		"more than a year": {fermata.Snooze{For: "9000h"}, "for", nil},
	} {
		q := openQuestion(t, decode[fermata.Ask](t, twoOptions))
		if c.fault == "for" && name == "more than a year" {
			q.Deadline = nil
		}
		got, err := c.snooze.End(q, later)
		switch {
		case c.fault != "":
			if f := faultyFields(err); len(f) != 1 || f[0] != c.fault {
				t.Errorf("%s: %v", name, err)
			}
		case err != nil || (got == nil) != (c.want == nil) || got != nil && !got.Equal(*c.want):
			t.Errorf("%s: %v, %v, want %v", name, got, err, c.want)
		}
	}
}
