//go:build !bug_begin_without_messages

package agent

import "github.com/fermata-hq/fermata"

// writtenPart is the part of the first prompt with what people wrote before the first run.
func (p prompts) writtenPart(rc *fermata.ResumeContext) string {
	if rc == nil || rc.Text == "" {
		return ""
	}
	return "\n---\n\n" + rc.Text
}
