package api

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fermata-hq/fermata"
)

// ProblemDetails is an error reply (RFC 9457).
type ProblemDetails struct { //nolint:errname // the name is RFC 9457's
	Type   string       `json:"type" doc:"always about:blank: the code names the kind"`
	Title  string       `json:"title"`
	Status int          `json:"status"`
	Code   fermata.Code `json:"code" enum:"invalid_request,not_found,unauthenticated,forbidden,not_eligible,question_closed,pending_question_exists,illegal_transition,stale_run,idempotency_conflict,rate_limited,policy_violation,quorum_unreachable,unavailable,internal"`
	Detail string       `json:"detail"`
	Hint   string       `json:"hint,omitempty" doc:"what to do next"`
	// Problems lists every field with an error.
	Problems []fermata.Problem `json:"problems,omitempty"`
	// Question is the closed question that a second answer was for.
	Question   *fermata.Question `json:"question,omitempty"`
	RetryAfter int               `json:"retry_after,omitempty" doc:"seconds"`

	cause error
}

// statuses is the only table from codes to HTTP statuses.
var statuses = map[fermata.Code]int{
	fermata.CodeInvalidRequest:        http.StatusBadRequest,
	fermata.CodeUnauthenticated:       http.StatusUnauthorized,
	fermata.CodeForbidden:             http.StatusForbidden,
	fermata.CodeNotEligible:           http.StatusForbidden,
	fermata.CodeNotFound:              http.StatusNotFound,
	fermata.CodeQuestionClosed:        http.StatusConflict,
	fermata.CodePendingQuestionExists: http.StatusConflict,
	fermata.CodeIllegalTransition:     http.StatusConflict,
	fermata.CodeStaleRun:              http.StatusConflict,
	fermata.CodeIdempotencyConflict:   http.StatusConflict,
	fermata.CodePolicyViolation:       http.StatusUnprocessableEntity,
	fermata.CodeQuorumUnreachable:     http.StatusUnprocessableEntity,
	fermata.CodeRateLimited:           http.StatusTooManyRequests,
	fermata.CodeUnavailable:           http.StatusServiceUnavailable,
	fermata.CodeInternal:              http.StatusInternalServerError,
}

// statusError is an error with another HTTP status than that of its code.
type statusError struct {
	err    *fermata.Error
	status int
}

func (e *statusError) Error() string { return e.err.Error() }

func (e *statusError) Unwrap() error { return e.err }

func withStatus(status int, err *fermata.Error) error { return &statusError{err, status} }

// newProblem is the only function that turns an error into a reply. The reply
// does not contain the cause.
func newProblem(err error) *ProblemDetails {
	var e *fermata.Error
	switch {
	case errors.As(err, &e):
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		e = fermata.Errorf(fermata.CodeUnavailable, "the request was given up")
	default:
		e = fermata.Internal("serve the request", err)
	}
	p := &ProblemDetails{
		Type: "about:blank", Status: statuses[e.Code], Code: e.Code, Detail: e.Message, Hint: e.Hint,
		Problems: e.Problems, Question: e.Question, cause: err,
	}
	var other *statusError
	if errors.As(err, &other) {
		p.Status = other.status
	}
	if p.Status == 0 {
		p.Status = http.StatusInternalServerError
	}
	if p.Status == http.StatusInternalServerError {
		p.Detail, p.Hint = "something went wrong in the server", "its log has the cause"
	}
	p.Title = http.StatusText(p.Status)
	p.RetryAfter = retryAfter(e)
	return p
}

// retryAfter returns the wait before a retry in whole seconds. It is at least
// one if the error is temporary.
func retryAfter(e *fermata.Error) int {
	wait := int(math.Ceil(e.RetryAfter.Seconds()))
	if e.Code == fermata.CodeRateLimited || e.Code == fermata.CodeUnavailable {
		return max(wait, 1)
	}
	return wait
}

// Error returns the detail of the problem.
func (p *ProblemDetails) Error() string { return p.Detail }

// Unwrap returns the error from which the problem was created.
func (p *ProblemDetails) Unwrap() error { return p.cause }

// GetStatus returns the HTTP status of the reply, for huma.
func (p *ProblemDetails) GetStatus() int { return p.Status }

// ContentType returns the content type of the reply, for huma.
func (p *ProblemDetails) ContentType(string) string { return "application/problem+json" }

// GetHeaders returns the headers of the reply, for huma.
func (p *ProblemDetails) GetHeaders() http.Header {
	h := http.Header{}
	p.addHeaders(h)
	return h
}

func (p *ProblemDetails) addHeaders(h http.Header) {
	if p.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(p.RetryAfter))
	}
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="fermata"`)
	}
}

// problem turns an error into a reply of a route, and logs the part that only
// the operator may read.
func (s *Server) problem(ctx context.Context, err error) *ProblemDetails {
	p := newProblem(err)
	if p.Status == http.StatusInternalServerError {
		s.Log.ErrorContext(ctx, "request failed", "error", err)
	}
	// A client that closed the connection was not refused.
	if p.Status == http.StatusServiceUnavailable && ctx.Err() == nil {
		s.refused.add(err)
	}
	return p
}

// writeProblem answers a request outside huma.
func (s *Server) writeProblem(w http.ResponseWriter, r *http.Request, err error) {
	p := s.problem(r.Context(), err)
	p.addHeaders(w.Header())
	if m := s.mounts[r.URL.Path]; p.Status == http.StatusUnauthorized && m.Challenge != nil {
		w.Header().Set("WWW-Authenticate", m.Challenge(r))
	}
	w.Header().Set("Content-Type", p.ContentType(""))
	w.WriteHeader(p.Status)
	// An error means that the client is gone, so there is nothing to do.
	_ = writeJSON(w, p)
}

// writeJSON writes a reply outside huma in the same way as huma: the bytes of
// an action do not change.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// newHumaError turns huma's own errors into problems of the same form.
func newHumaError(status int, message string, errs ...error) huma.StatusError {
	for _, err := range errs {
		var tooLong *http.MaxBytesError
		if errors.As(err, &tooLong) {
			return newProblem(tooLargeError(tooLong.Limit))
		}
	}
	switch {
	case status == 0, status == http.StatusBadRequest, status == http.StatusUnprocessableEntity:
		return newProblem(invalid(message, errs))
	case status == http.StatusUnsupportedMediaType:
		return newProblem(withStatus(status, fermata.Errorf(fermata.CodeInvalidRequest, "the body must be JSON").
			WithHint("send Content-Type: application/json")))
	case message == "cannot read request body":
		return newProblem(fermata.Errorf(fermata.CodeInvalidRequest, "the body ended early"))
	case status >= http.StatusInternalServerError:
		return newProblem(fermata.Internal(message, errors.Join(errs...)))
	default:
		return newProblem(withStatus(status, fermata.Errorf(fermata.CodeInvalidRequest, "%s", message)))
	}
}

// invalid lists the errors that huma found. It leaves out the values, because
// these may be secrets.
func invalid(message string, errs []error) *fermata.Error {
	problems := make([]fermata.Problem, 0, len(errs))
	for _, err := range errs {
		var d *huma.ErrorDetail
		if errors.As(err, &d) {
			problems = append(problems, problemFromDetail(d))
		} else if err != nil {
			problems = append(problems, fermata.Problem{Message: err.Error()})
		}
	}
	if len(problems) == 0 {
		problems = append(problems, fermata.Problem{Message: message})
	}
	return fermata.Invalid(problems...)
}

// problemFromDetail returns a problem with the field as the caller wrote it,
// and with a message in the words of Fermata.
func problemFromDetail(d *huma.ErrorDetail) fermata.Problem {
	field, message := d.Location, d.Message
	for _, location := range []string{"body", "query", "path", "header"} {
		if field == location {
			field = ""
		}
		field = strings.TrimPrefix(field, location+".")
	}
	if at, what, ok := strings.Cut(message, decodeMark); ok {
		field, message = at, what
	}
	if name, ok := strings.CutPrefix(message, "expected required property "); ok {
		field, message = joinPath(field, strings.TrimSuffix(name, " to be present")), "is required"
	}
	if message == "unexpected property" {
		message = "is no known field; names are exact"
	}
	return fermata.Problem{Field: field, Message: message}
}

func joinPath(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
