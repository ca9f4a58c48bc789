//go:build !bug_defer_without_words

package agent

import "slices"

// followUpInput returns a turn that tells the agent the text. If the last turn deferred a call, the program makes that
// call before it reads a prompt, and the agent acts on the reply. In that case there is no prompt: the agent gets the
// text with the refusal of the call, or with its result.
func (c *conversation) followUpInput(text string) turnInput {
	news := slices.Clone(c.news)
	if c.deferredCall == "" {
		return turnInput{prompt: text, news: news}
	}
	return turnInput{refusedCall: c.deferredCall, refusalReason: text, news: news}
}
