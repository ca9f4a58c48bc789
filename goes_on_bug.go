//go:build bug_end_over_unread

package fermata

// goesOnOverWords is wrong on purpose: the instrument must find that a run then ends
// its task over words that nobody was handed.
func (t *Task) goesOnOverWords(Result) bool { return false }
