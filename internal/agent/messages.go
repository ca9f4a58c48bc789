//go:build !bug_begin_without_messages

package agent

import "github.com/fermata-hq/fermata"

// messagesPart returns the part of the first prompt with the messages that people wrote before the first run.
func (p prompts) messagesPart(rc *fermata.ResumeContext) string {
	if rc == nil || rc.Text == "" {
		return ""
	}
	return "\n---\n\n" + rc.Text
}
