package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/fermata-hq/fermata"
)

// Exit codes (docs/inside/contract.md#exit-codes).
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitRejected    = 3
	exitNotAllowed  = 4
	exitNotFound    = 5
	exitClosed      = 6
	exitTimedOut    = 7
	exitPending     = 8
	exitCancelled   = 9
	exitInterrupted = 130
)

// ErrInterrupted is the cause of a context that a person cancelled with Ctrl-C.
var ErrInterrupted = errors.New("interrupted")

// exitError is an exit code without an error message, because the command has already printed the reason.
type exitError int

func (o exitError) Error() string { return fmt.Sprintf("exit code %d", int(o)) }

// finish prints the error, unless the caller of [Main] ended the command, and returns the exit code for it.
func (s *session) finish(ctx context.Context, err error) int {
	if err == nil {
		return exitOK
	}
	if errors.Is(err, ErrInterrupted) || errors.Is(context.Cause(ctx), ErrInterrupted) {
		fmt.Fprintln(s.errOut, "interrupted")
		return exitInterrupted
	}
	if o, ok := errors.AsType[exitError](err); ok {
		return int(o)
	}
	// A plain cancellation comes from a caller in this process, which knows why. A signal sets another cause.
	if errors.Is(context.Cause(ctx), context.Canceled) {
		return exitInterrupted
	}
	s.printError(err)
	return exitCode(fermata.CodeOf(err))
}

// exitCode returns the exit code for an error code.
func exitCode(code fermata.Code) int {
	switch code {
	case fermata.CodeInvalidRequest, fermata.CodePolicyViolation, fermata.CodeQuorumUnreachable:
		return exitUsage // a corrected request may be accepted
	case fermata.CodeUnauthenticated, fermata.CodeForbidden, fermata.CodeNotEligible:
		return exitNotAllowed
	case fermata.CodeNotFound:
		return exitNotFound
	case fermata.CodeQuestionClosed:
		return exitClosed
	default:
		return exitFailed
	}
}

// printError prints an error, each field at fault, and what to do next.
func (s *session) printError(err error) {
	if s.JSON && s.printProblem(err) == nil {
		return
	}
	p := s.stderr()
	e, ok := errors.AsType[*fermata.Error](err)
	if !ok {
		p.line("%s %s", p.red("error:"), clean(err.Error()))
		return
	}
	p.line("%s %s", p.red("error:"), clean(e.Error()))
	if len(e.Problems) > 1 || (len(e.Problems) == 1 && e.Problems[0].Field != "" && !isMentioned(e, e.Problems[0])) {
		for _, problem := range e.Problems {
			p.line("  %s: %s", clean(problem.Field), clean(problem.Message))
		}
	}
	if hint := s.hint(e); hint != "" {
		p.line("hint: %s", clean(hint))
	}
}

// asError returns err as a [*fermata.Error], or false if it is not one.
func asError(err error) (*fermata.Error, bool) { return errors.AsType[*fermata.Error](err) }

// hint returns what to do about an error, or "" if nothing is known.
func (s *session) hint(e *fermata.Error) string {
	if e.Code == fermata.CodeUnauthenticated && s.client != nil && !s.signedIn {
		return "run `fermata login`, or set FERMATA_TOKEN"
	}
	return e.Hint
}

// isMentioned reports whether the message already states the problem.
func isMentioned(e *fermata.Error, p fermata.Problem) bool {
	named := strings.HasPrefix(e.Message, "--") && strings.Contains(e.Message, ": "+p.Message)
	return named || e.Message == p.Field+": "+p.Message
}
