package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/fermata-hq/fermata"
)

// Exit codes (docs/inside/contract.md#exit-codes).
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitRejected    = 3
	ExitNotAllowed  = 4
	ExitNotFound    = 5
	ExitClosed      = 6
	ExitTimedOut    = 7
	ExitPending     = 8
	ExitCancelled   = 9
	ExitInterrupted = 130
)

// ErrInterrupted is the cause of a context that a person cancelled with Ctrl-C.
var ErrInterrupted = errors.New("interrupted")

// ExitError is an exit code without an error message, because the command has already printed the reason.
type ExitError int

func (o ExitError) Error() string { return fmt.Sprintf("exit code %d", int(o)) }

// Finish prints the error, unless the caller of the command line ended the command, and returns the exit code for it.
func (s *Session) Finish(ctx context.Context, err error) int {
	if err == nil {
		return ExitOK
	}
	if errors.Is(err, ErrInterrupted) || errors.Is(context.Cause(ctx), ErrInterrupted) {
		fmt.Fprintln(s.Err, "interrupted")
		return ExitInterrupted
	}
	if o, ok := errors.AsType[ExitError](err); ok {
		return int(o)
	}
	// A plain cancellation comes from a caller in this process, which knows why. A signal sets another cause.
	if errors.Is(context.Cause(ctx), context.Canceled) {
		return ExitInterrupted
	}
	s.PrintError(err)
	return ExitCode(fermata.CodeOf(err))
}

// ExitCode returns the exit code for an error code.
func ExitCode(code fermata.Code) int {
	switch code {
	case fermata.CodeInvalidRequest, fermata.CodePolicyViolation, fermata.CodeQuorumUnreachable:
		return ExitUsage // a corrected request may be accepted
	case fermata.CodeUnauthenticated, fermata.CodeForbidden, fermata.CodeNotEligible:
		return ExitNotAllowed
	case fermata.CodeNotFound:
		return ExitNotFound
	case fermata.CodeQuestionClosed:
		return ExitClosed
	default:
		return ExitFailed
	}
}
