//go:build !bug_defer_without_words

package agent

import "slices"

// followUpInput returns a turn that tells the agent the text. If the last turn deferred a call, the program runs that call
// before it reads a prompt, and the agent acts on the result of the call. In that case the text becomes the reason for
// which the call is refused, and there is no prompt.
func (c *conversation) followUpInput(text string) turnInput {
	news := slices.Clone(c.news)
	if c.deferredCall == "" {
		return turnInput{prompt: text, news: news}
	}
	return turnInput{refusedCall: c.deferredCall, refusalReason: text, news: news}
}
