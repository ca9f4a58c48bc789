package fermata

import (
	"errors"
	"fmt"
	"time"
)

// Code names a kind of error. The list is closed and on the wire (spec §7.1).
type Code string

// Codes of problems.
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

// Problem is one thing that is wrong with a request.
type Problem struct {
	// Field is the path of the value in the request, such as items[1].default.
	Field string `json:"field,omitempty"`
	// Message says what is wrong with it.
	Message string `json:"message"`
}

// Error is what every part of Fermata returns when it refuses.
type Error struct {
	Code Code
	// Message is for the reader and travels.
	Message string
	// Hint says what to do next. Agents follow hints.
	Hint string
	// Problems lists the fields at fault, all of them at once.
	Problems []Problem
	// Question is the closed question that a late or second answer met, with
	// who decided what and when.
	Question *Question
	// RetryAfter is how long to wait before the next try; 0 says nothing.
	RetryAfter time.Duration

	cause error
}

// Errorf returns an error with a code. A %w operand becomes the cause: it is
// logged, and never sent.
func Errorf(code Code, format string, args ...any) *Error {
	wrapped := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: wrapped.Error(), cause: errors.Unwrap(wrapped)}
}

// Internal wraps an unexpected failure. Its text stays in the log.
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

// NotFound returns the error for a thing that does not exist, or that the
// caller may not know of.
func NotFound(noun, id string) *Error {
	return Errorf(CodeNotFound, "there is no %s %q", noun, id)
}

// WithHint returns the error with a hint.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// Error returns the message and, for the log, the cause.
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

// CodeOf returns the code of err, [CodeInternal] for a foreign error and ""
// for nil.
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
