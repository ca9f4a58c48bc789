package github

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	gh "github.com/google/go-github/v89/github"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// refusal is a request that GitHub refused, with the HTTP status of the response.
type refusal struct {
	*notice.SendError
	status int
}

// Unwrap returns the error that says how to continue.
func (r *refusal) Unwrap() error { return r.SendError }

// defaultRetryWait is how long to wait if GitHub names no time. Its documentation asks for at least one minute.
const defaultRetryWait = time.Minute

// apiFailure turns an error of the API into one with a code, a hint and the next step.
func apiFailure(act string, err error) error {
	if err == nil {
		return nil
	}
	var known *notice.SendError
	if errors.As(err, &known) {
		return err
	}
	var primary *gh.RateLimitError
	var secondary *gh.AbuseRateLimitError
	var moved *gh.RedirectionError
	var refused *gh.ErrorResponse
	switch {
	case errors.As(err, &primary):
		return limitFailure(act, max(time.Until(primary.Rate.Reset.Time), 0)+time.Second)
	case errors.As(err, &secondary):
		wait := defaultRetryWait
		if secondary.RetryAfter != nil {
			wait = *secondary.RetryAfter
		}
		return limitFailure(act, wait)
	case errors.As(err, &moved):
		// The request does not follow a repository that moved, because another owner may take its old name.
		return &refusal{status: moved.StatusCode, SendError: notice.Permanent(fermata.Errorf(fermata.CodeNotFound, "%s: GitHub says that it has moved", act).
			WithHint("name the repository as it is called now, in the channel's settings and in the questions"))}
	case errors.As(err, &refused) && refused.Response != nil:
		return responseFailure(act, refused)
	default:
		return unsureFailure(fermata.Errorf(fermata.CodeUnavailable, "%s: GitHub cannot be reached: %w", act, err).
			WithHint("check that the server may reach GitHub's API, and api_url"))
	}
}

// unsureFailure marks an error after which the comment may have been written.
func unsureFailure(err error) *notice.SendError {
	e := &notice.SendError{Err: err}
	var known *notice.SendError
	if errors.As(err, &known) {
		*e = *known
		e.Err = err
	}
	e.MayHaveArrived = true
	return e
}

func limitFailure(act string, wait time.Duration) error {
	e := fermata.Errorf(fermata.CodeRateLimited, "%s: GitHub asks to wait for %s", act, wait.Round(time.Second)).
		WithHint("a GitHub App has limits of its own; a longer poll needs fewer requests")
	e.RetryAfter = wait
	return &refusal{status: http.StatusTooManyRequests, SendError: &notice.SendError{Err: e, Wait: wait}}
}

func responseFailure(act string, r *gh.ErrorResponse) error {
	status := r.Response.StatusCode
	if seconds, err := strconv.Atoi(r.Response.Header.Get("Retry-After")); err == nil && status != http.StatusServiceUnavailable {
		return limitFailure(act, time.Duration(seconds)*time.Second)
	}
	failureWith := func(code fermata.Code, final bool, hint string) error {
		err := fermata.Errorf(code, "%s: GitHub answered %s", act, strings.TrimSpace(strconv.Itoa(status)+" "+describeFaults(r))).WithHint("%s", hint)
		return &refusal{status: status, SendError: &notice.SendError{Err: err, Final: final}}
	}
	switch status {
	case http.StatusUnauthorized:
		return failureWith(fermata.CodeUnauthenticated, false, "the token or the App's key is wrong, revoked or expired: make a new one and set it")
	case http.StatusForbidden:
		return failureWith(fermata.CodeForbidden, false, "give the token or the App the permission Issues: read and write (for pull requests also Pull requests: read and write); a locked conversation takes no comment")
	case http.StatusNotFound, http.StatusGone:
		return failureWith(fermata.CodeNotFound, true, "check owner, repository and number, and that the token or the App's installation includes the repository")
	case http.StatusUnprocessableEntity:
		return failureWith(fermata.CodeInvalidRequest, true, "GitHub does not take what was sent")
	case http.StatusTooManyRequests:
		return limitFailure(act, defaultRetryWait)
	default:
		return unsureFailure(failureWith(fermata.CodeUnavailable, false, "GitHub has a problem; see githubstatus.com"))
	}
}

// describeFaults returns GitHub's message with every problem that it lists.
func describeFaults(r *gh.ErrorResponse) string {
	wrong := make([]string, 0, len(r.Errors))
	for _, e := range r.Errors {
		wrong = append(wrong, cmp.Or(e.Message, strings.TrimSpace(e.Field+" is "+e.Code)))
	}
	if len(wrong) == 0 {
		return r.Message
	}
	return r.Message + " (" + strings.Join(wrong, "; ") + ")"
}

// StatusOf returns the HTTP status of GitHub's response, or 0 for another error.
func StatusOf(err error) int {
	var r *refusal
	if errors.As(err, &r) {
		return r.status
	}
	return 0
}

// isRefused reports whether GitHub refused the request for good: the object does not exist, the account may not access
// it, or GitHub rejects the content.
func isRefused(err error) bool {
	switch StatusOf(err) {
	case http.StatusForbidden, http.StatusNotFound, http.StatusGone, http.StatusUnprocessableEntity:
		return true
	}
	return false
}

// asError returns the error in the form that has a code and a hint.
func asError(err error) *fermata.Error {
	var e *fermata.Error
	if errors.As(err, &e) {
		return e
	}
	return fermata.Internal("ask GitHub", err)
}
