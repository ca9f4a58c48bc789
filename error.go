package fermata

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Code is a kind of error. The list is closed and part of the wire format (docs/inside/contract.md#names-on-the-wire).
type Code string

// Codes of errors.
const (
	CodeInvalidRequest        Code = "invalid_request"
	CodeNotFound              Code = "not_found"
	CodeUnauthenticated       Code = "unauthenticated"
	CodeForbidden             Code = "forbidden"
	CodeNotEligible           Code = "not_eligible"
	CodeQuestionClosed        Code = "question_closed"
	CodePendingQuestionExists Code = "pending_question_exists"
	CodeIllegalTransition     Code = "illegal_transition"
	CodeStaleRun              Code = "stale_run"
	CodeIdempotencyConflict   Code = "idempotency_conflict"
	CodeRateLimited           Code = "rate_limited"
	CodePolicyViolation       Code = "policy_violation"
	CodeQuorumUnreachable     Code = "quorum_unreachable"
	CodeUnavailable           Code = "unavailable"
	CodeInternal              Code = "internal"
)

// Problem is one fault in a request.
type Problem struct {
	// Field is the path of the value in the request, such as items[1].default.
	Field string `json:"field,omitempty"`
	// Message says what is wrong with the field.
	Message string `json:"message"`
}

// Error is the error that every part of Fermata returns when it refuses a request.
type Error struct {
	Code Code
	// Message is for the reader and is sent to the client.
	Message string
	// Hint tells the reader the next step. Agents follow hints.
	Hint string
	// Problems lists every field at fault.
	Problems []Problem
	// Question is the closed question, if the request was a late or second
	// answer. Its resolution says who decided it, how and when.
	Question *Question
	// RetryAfter is the time to wait before the next try. 0 means that no time is known.
	RetryAfter time.Duration

	cause error
}

// Errorf returns an error with a code. The operand of a %w becomes the cause,
// which [Error.Unwrap] returns. The text of the cause is then part of the
// message.
func Errorf(code Code, format string, args ...any) *Error {
	wrapped := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: wrapped.Error(), cause: errors.Unwrap(wrapped)}
}

// Internal wraps an unexpected failure. The text of err goes to the log only.
func Internal(act string, err error) *Error {
	return &Error{Code: CodeInternal, Message: act, cause: err}
}

// Invalid returns an error that lists every problem of a request.
func Invalid(problems ...Problem) *Error {
	e := &Error{Code: CodeInvalidRequest, Message: "the request is not valid", Problems: problems}
	if len(problems) == 1 {
		e.Message = problems[0].Message
		if problems[0].Field != "" {
			e.Message = problems[0].Field + ": " + e.Message
		}
	}
	return e
}

// JoinRefusals returns several errors of a request as one [Error] with all their problems. It returns a single error
// as it is, and nil if all are nil. The code is the one that all errors share, or else [CodeInvalidRequest]. If one
// of several errors is not an [Error], it returns that error alone.
func JoinRefusals(errs ...error) error {
	errs = slices.DeleteFunc(slices.Clone(errs), func(err error) bool { return err == nil })
	switch len(errs) {
	case 0:
		return nil
	case 1:
		return errs[0]
	}
	joined := Invalid()
	for i, err := range errs {
		refusal, ok := errors.AsType[*Error](err)
		switch {
		case !ok:
			return err
		case i == 0:
			joined.Code = refusal.Code
		case joined.Code != refusal.Code:
			joined.Code = CodeInvalidRequest
		}
		joined.Problems = append(joined.Problems, refusal.Problems...)
	}
	return joined
}

// NotFound returns the error for a thing that does not exist, or whose
// existence the caller may not learn.
func NotFound(noun, id string) *Error {
	return Errorf(CodeNotFound, "there is no %s %q", noun, id)
}

// WithHint returns the error with a hint.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// Error returns the message. For an internal error it adds the cause, for the log.
func (e *Error) Error() string {
	if e.cause != nil && e.Code == CodeInternal {
		return e.Message + ": " + e.cause.Error()
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.cause }

// Is reports whether target is an Error with the same code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// CodeOf returns the code of err. It returns [CodeInternal] for an error of
// another type, and "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeInternal
}
