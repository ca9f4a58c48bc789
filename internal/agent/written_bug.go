//go:build bug_begin_without_messages

package agent

import "github.com/fermata-hq/fermata"

// writtenPart is wrong on purpose: the agent never gets the messages that people wrote before its first run.
func (p prompts) writtenPart(*fermata.ResumeContext) string { return "" }
