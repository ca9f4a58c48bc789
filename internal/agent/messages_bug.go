//go:build bug_begin_without_messages

package agent

import "github.com/fermata-hq/fermata"

// messagesPart is wrong on purpose: the agent never gets the messages that people wrote before its first run.
func (p prompts) messagesPart(*fermata.ResumeContext) string { return "" }
