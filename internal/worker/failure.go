package worker

import (
	"cmp"
	"errors"
	"strings"

	"github.com/fermata-hq/fermata"
)

// Codes of failed runs in the worker's log. A report that the server refused has the
// code of the server's error instead.
const (
	// codeAgentFailed means that the agent said so, or ended with an error.
	codeAgentFailed = "agent_failed"
	// codeNotStarted means that the working copy, the sandbox or the program failed.
	codeNotStarted = "not_started"
	codeTimeout    = "run_timeout"
	// codeInterrupted means that the worker stopped in the middle of a command that is run once only.
	codeInterrupted = "interrupted"
	// codeTampered means that the run changed the configuration of git.
	codeTampered     = "git_config_changed"
	codeCommitFailed = "commit_failed"
	codePushFailed   = "push_failed"
)

// longestReason is how many characters of a reason the worker's log has. The whole
// summary is in the task.
const longestReason = 500

// fail makes a failure that the worker found itself, and keeps the code of the failure for the log.
func (a *attempt) fail(code, summary string) fermata.Finish {
	a.failure = code
	return fermata.Finish{Result: fermata.ResultFailed, Summary: clip(summary, maxSummary)}
}

// codeOf is the code of an error of the server, or the other code.
func codeOf(err error, other string) string {
	if e, ok := errors.AsType[*fermata.Error](err); ok {
		return string(e.Code)
	}
	return other
}

// failureOf is the code of a run that failed and the reason, for one line of the
// worker's log.
func (a *attempt) failureOf(fin fermata.Finish) (code, reason string) {
	return cmp.Or(a.failure, codeAgentFailed), cmp.Or(reasonOf(fin), "the agent gave no reason")
}

// reasonOf is the summary of a result on one line.
func reasonOf(fin fermata.Finish) string {
	return clip(strings.Join(strings.Fields(fin.Summary), " "), longestReason)
}
