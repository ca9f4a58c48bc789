package worker

import (
	"cmp"
	"errors"
	"strings"

	"github.com/fermata-hq/fermata"
)

// Codes of failed runs in the worker's log. If the server refused a report, the code of the server's error is used
// instead.
const (
	// codeAgentFailed means that the agent reported a failure, or ended with an error.
	codeAgentFailed = "agent_failed"
	// codeNotStarted means that the working copy, the sandbox or the program failed.
	codeNotStarted = "not_started"
	codeTimeout    = fermata.ReasonRunTimeout
	// codeInterrupted means that the worker stopped in the middle of a command that is run only once.
	codeInterrupted = "interrupted"
	// codeTampered means that the run changed the configuration of git.
	codeTampered     = "git_config_changed"
	codeCommitFailed = "commit_failed"
	codePushFailed   = "push_failed"
)

// maxReason is the longest reason in the worker's log, in characters. The task has the whole summary.
const maxReason = 500

// fail returns the result of a run whose failure the worker detected, and stores the code for the log.
func (a *activeRun) fail(code, summary string) fermata.Finish {
	a.failureCode = code
	return fermata.Finish{Result: fermata.ResultFailed, Summary: fermata.Truncate(summary, maxSummary)}
}

// failAfter returns the failure of a run that has ended with fin, and keeps its details: they say what a command printed.
func (a *activeRun) failAfter(fin fermata.Finish, code, summary string) fermata.Finish {
	f := a.fail(code, summary)
	f.Details = fin.Details
	return f
}

// codeOf returns the code of a server's error, or other if err is not from the server.
func codeOf(err error, other string) string {
	if e, ok := errors.AsType[*fermata.Error](err); ok {
		return string(e.Code)
	}
	return other
}

// failureOf returns the code and the reason of a failed run, for one line of the worker's log.
func (a *activeRun) failureOf(fin fermata.Finish) (code, reason string) {
	return cmp.Or(a.failureCode, codeAgentFailed), cmp.Or(reasonOf(fin), "the agent gave no reason")
}

// reasonOf returns the summary of a result on one line.
func reasonOf(fin fermata.Finish) string {
	return fermata.Truncate(strings.Join(strings.Fields(fin.Summary), " "), maxReason)
}
