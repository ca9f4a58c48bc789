//go:build !bug_defer_without_words

package agent

import "slices"

// followUp returns a turn that tells the agent the text. If the last turn deferred a call, the program runs that call
// before it reads a prompt, and the agent acts on the result of the call. In that case the text becomes the reason for
// which the call is refused, and there is no prompt.
func (c *conversation) followUp(text string) say {
	news := slices.Clone(c.news)
	if c.deferred == "" {
		return say{prompt: text, news: news}
	}
	return say{deferred: c.deferred, words: text, news: news}
}
