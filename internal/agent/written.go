//go:build !bug_begin_without_messages

package agent

import "github.com/fermata-hq/fermata"

// writtenPart returns the part of the first prompt with the messages that people wrote before the first run.
func (p prompts) writtenPart(rc *fermata.ResumeContext) string {
	if rc == nil || rc.Text == "" {
		return ""
	}
	return "\n---\n\n" + rc.Text
}
