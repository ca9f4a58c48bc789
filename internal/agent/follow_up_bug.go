//go:build bug_defer_without_words

package agent

import "slices"

// followUpInput is wrong on purpose: the deferred call is refused without the text, and the agent acts before it reads
// the prompt.
func (c *conversation) followUpInput(text string) turnInput {
	return turnInput{prompt: text, refusedCall: c.deferredCall, news: slices.Clone(c.news)}
}
