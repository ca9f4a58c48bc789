package client

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/fermata-hq/fermata"
)

// problem is an RFC 9457 problem document as the API writes it.
type problem struct {
	Title      string            `json:"title"`
	Status     int               `json:"status"`
	Code       fermata.Code      `json:"code"`
	Detail     string            `json:"detail"`
	Hint       string            `json:"hint"`
	Problems   []fermata.Problem `json:"problems"`
	Question   *fermata.Question `json:"question"`
	RetryAfter float64           `json:"retry_after"`
}

// asError returns the problem as an error of package fermata.
func (p *problem) asError() *fermata.Error {
	message := p.Detail
	if message == "" {
		message = p.Title
	}
	return &fermata.Error{
		Code: p.Code, Message: message, Hint: p.Hint, Problems: p.Problems, Question: p.Question,
		RetryAfter: seconds(p.RetryAfter),
	}
}

// readProblem reads the error from a reply. If the reply is not from the API, such
// as a proxy's page, its status decides the code.
func (c *Client) readProblem(res *http.Response, data []byte) *fermata.Error {
	var p problem
	if json.Unmarshal(data, &p) != nil || p.Code == "" {
		p = problem{Code: codeOfStatus(res.StatusCode), Detail: c.base.Host + " replied " + res.Status}
		if p.Code == fermata.CodeInternal || p.Code == fermata.CodeNotFound {
			p.Hint = "is " + c.URL() + " the address of a Fermata server?"
		}
	}
	e := p.asError()
	if after, err := strconv.ParseFloat(res.Header.Get("Retry-After"), 64); err == nil && e.RetryAfter == 0 {
		e.RetryAfter = seconds(after)
	}
	return e
}

// codeOfStatus returns the error code for the status of a reply without a code.
func codeOfStatus(status int) fermata.Code {
	switch status {
	case http.StatusUnauthorized:
		return fermata.CodeUnauthenticated
	case http.StatusForbidden:
		return fermata.CodeForbidden
	case http.StatusNotFound:
		return fermata.CodeNotFound
	case http.StatusTooManyRequests:
		return fermata.CodeRateLimited
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return fermata.CodeUnavailable
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		return fermata.CodeInvalidRequest
	default:
		return fermata.CodeInternal
	}
}

// unreachableError returns the error of a failed connection. If ctx has ended, it
// returns the cause of ctx instead.
func (c *Client) unreachableError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return c.connectionError(err)
}

// connectionError returns the error of a connection that the network or the
// server broke.
func (c *Client) connectionError(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		// The hint names the address.
		err = u.Err
	}
	return fermata.Errorf(fermata.CodeUnavailable, "cannot reach the server: %w", err).
		WithHint("is `fermata serve` running at %s?", c.URL())
}

// seconds converts a number of seconds to a duration of at most an hour.
func seconds(s float64) time.Duration {
	if math.IsNaN(s) || s <= 0 {
		return 0
	}
	return time.Duration(min(s, 3600) * float64(time.Second))
}
