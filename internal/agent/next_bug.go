//go:build bug_defer_without_words

package agent

import "slices"

// followUp is wrong on purpose: the deferred call is refused without the text, and the agent acts before it reads the
// prompt.
func (c *conversation) followUp(text string) say {
	return say{prompt: text, deferred: c.deferred, news: slices.Clone(c.news)}
}
