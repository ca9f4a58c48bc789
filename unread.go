package fermata

import "slices"

// HasHumanInput reports whether a person wrote one of the items that no run was
// handed yet: a message, or an answer. Decisions of time or of a rule do not
// count.
func HasHumanInput(closed []*Question, messages []*Message) bool {
	for _, q := range closed {
		if q.Resolution.hasHumanInput() {
			return true
		}
	}
	for _, m := range messages {
		if m.Author.Kind == ActorHuman {
			return true
		}
	}
	return false
}

// hasHumanInput reports whether a person said something with the resolution. An answer counts, even a late one. "Decide
// yourself" counts. A withdrawal counts if the person gave a reason.
func (r *Resolution) hasHumanInput() bool {
	return r != nil && (r.DecidedBy == ActorHuman && (r.Status == Answered || r.DecideYourself || r.Comment != "") || len(r.LateAnswers) > 0)
}

// ContinueForMessages reports whether the task goes on after a run with this result, because people wrote messages or answers that
// no run was handed. If so, it updates the number of attempts.
func (t *Task) ContinueForMessages(r Result, closed []*Question, messages []*Message) bool {
	if t.Runner == RunnerExternal || r == ResultNeedsInput || !HasHumanInput(closed, messages) || !t.mayContinueAfter(r) {
		return false
	}
	if r == ResultFailed {
		t.Attempts++
	} else {
		t.Attempts = 0
	}
	return true
}

// UnheardIDs returns the ids of the questions and messages that the run was handed but that did not reach its agent.
func UnheardIDs(heard []string, runID string, closed []*Question, messages []*Message) []string {
	var ids []string
	for _, q := range closed {
		if q.HandedTo == runID && !slices.Contains(heard, q.ID) {
			ids = append(ids, q.ID)
		}
	}
	for _, m := range messages {
		if m.HandedTo == runID && !slices.Contains(heard, m.ID) {
			ids = append(ids, m.ID)
		}
	}
	return ids
}
