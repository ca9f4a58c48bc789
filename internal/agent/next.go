//go:build !bug_defer_without_words

package agent

import "slices"

// followUp is a turn that tells the agent the text. A program runs the call that its last
// turn put off before it reads a prompt, and its agent acts on what that call returns:
// the text is then what the call is refused with, and there is no prompt.
func (c *conversation) followUp(text string) say {
	news := slices.Clone(c.news)
	if c.deferred == "" {
		return say{prompt: text, news: news}
	}
	return say{deferred: c.deferred, words: text, news: news}
}
