package workflow_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/test/patience"
)

// The thresholds of a step apply to the question of each item. If an agent is sure of an item, nobody is asked about
// it.
func TestThresholdsOfAListOfQuestions(t *testing.T) {
	const source = `
name: sorting
triggers: [{manual: true}]
confidence: {auto: 80, ask: 50}
steps:
  - id: sort
    tool: post_question
    suspend: true
    foreach: "{{ inputs.sure }}"
    parallel: 3
    input: {question: "Where does {{ string(index) }} go?", options: [left, right], default: left, confidence: "{{ item }}", timeout: never}
`
	start := func(w *world, sure ...any) *fermata.WorkflowRun {
		return w.run(source+"inputs: {sure: {type: array, required: true}}\n", map[string]any{"sure": sure})
	}
	t.Run("some are asked", func(t *testing.T) {
		onBoth(t, func(w *world) {
			run := start(w, 90, 60, 80)
			patience.Await(w, "the second item asks", func() bool { return len(w.openItemQuestions(run.ID)) == 1 })
			for _, q := range w.openItemQuestions(run.ID) {
				w.answer(q, fermata.Answer{Answer: "right"})
			}
			ended := w.await(run.ID, fermata.TaskDone)
			var answers []any
			for _, s := range ended.Steps {
				if s.Item == nil {
					answers = outputsOf(s)
				}
			}
			if got := asJSON(answers); got != `["left","right","left"]` {
				w.Errorf("the answers are %s", got)
			}
		})
	})
	t.Run("one is set aside", func(t *testing.T) {
		onBoth(t, func(w *world) {
			run := start(w, 90, 0.9)
			ended := w.await(run.ID, fermata.TaskSkipped)
			if ended.Reason != fermata.ReasonLowConfidence || !strings.Contains(ended.Summary, "the confidence 0.9 is below the threshold 50 (both count from 0 to 100)") {
				w.Errorf("the run is skipped for %s: %s", ended.Reason, w.describe(ended))
			}
		})
	})
}

// openItemQuestions returns the open questions of items.
func (w *world) openItemQuestions(id string) []*fermata.Question {
	w.Helper()
	var open []*fermata.Question
	for _, s := range w.read(id).Steps {
		if s.Item == nil || s.QuestionID == "" {
			continue
		}
		if q, err := w.Engine.Question(w.Context(), admin, s.QuestionID); err == nil && q.Status == fermata.Pending {
			open = append(open, q)
		}
	}
	return open
}

// outputsOf returns the answers in the output of a step with a list.
func outputsOf(s *fermata.WorkflowStep) []any {
	var items []struct {
		Answer any `json:"answer"`
	}
	if err := json.Unmarshal(s.Output, &items); err != nil {
		return nil
	}
	answers := make([]any, len(items))
	for i := range items {
		answers[i] = items[i].Answer
	}
	return answers
}
