package fermata

import "slices"

// HasWords reports whether a person wrote something among what no run was handed: a
// message, or an answer. What time or a rule decided is no word of a person.
func HasWords(closed []*Question, messages []*Message) bool {
	for _, q := range closed {
		if q.Resolution.hasWords() {
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

// hasWords reports whether a person said something with the resolution. An answer counts, also
// a late one. "Decide yourself" counts. A withdrawal counts if the person gave a reason.
func (r *Resolution) hasWords() bool {
	return r != nil && (r.DecidedBy == ActorHuman && (r.Status == Answered || r.DecideYourself || r.Comment != "") || len(r.Late) > 0)
}

// GoesOn reports whether a run that ends with the result leaves its task running on,
// because people wrote what no run was handed. It counts the attempt.
func (t *Task) GoesOn(r Result, closed []*Question, messages []*Message) bool {
	if t.Runner == RunnerExternal || r == ResultNeedsInput || !HasWords(closed, messages) || !t.goesOnOverWords(r) {
		return false
	}
	if r == ResultFailed {
		t.Attempts++
	} else {
		t.Attempts = 0
	}
	return true
}

// Unheard returns the ids of what the run was handed and its agent was not told.
func Unheard(heard []string, runID string, closed []*Question, messages []*Message) []string {
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
