package webhook

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/outbound"
)

// maxRetryAfter is the longest delay that a receiver may ask for.
const maxRetryAfter = 24 * time.Hour

// checkResponse decides by the HTTP status alone whether the receiver accepted the
// message.
func checkResponse(res *http.Response, now time.Time) error {
	status := res.StatusCode
	if status >= 200 && status < 300 {
		return nil
	}
	gone := status == http.StatusGone
	return &notice.SendError{
		Err: fermata.Errorf(fermata.CodeUnavailable, "the receiver responded %d %s", status, http.StatusText(status)).
			WithHint("%s", remedy(status)),
		Wait:  outbound.RetryAfter(res.Header.Get("Retry-After"), now, maxRetryAfter),
		Final: gone, Ended: gone,
	}
}

// remedy says what to do about a status.
func remedy(status int) string {
	switch {
	case status >= 300 && status < 400:
		return "redirects are not followed: set the address that it leads to"
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return "the receiver refuses the request: compare its secret with the channel's, and its clock with this one"
	case status == http.StatusNotFound || status == http.StatusMethodNotAllowed:
		return "the receiver takes no POST at this address: compare the path"
	case status == http.StatusGone:
		return "the receiver wants nothing more, so the channel is switched off: switch it on again when that has changed"
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
		return "the receiver is busy: it is tried again when it says, or later"
	case status >= 500:
		return "the receiver has failed: its log says why; it is tried again"
	default:
		return "the receiver takes what it responds 2xx to: its log says why it did not"
	}
}

// unreachedError says why there was no response. It leaves out the address,
// which may contain a secret.
func unreachedError(err error) error {
	if inner, ok := errors.AsType[*url.Error](err); ok {
		err = inner.Err
	}
	message, hint := "the receiver was not reached: "+err.Error(), "it is tried again"
	_, dns := errors.AsType[*net.DNSError](err)
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	_, authority := errors.AsType[x509.UnknownAuthorityError](err)
	switch {
	case outbound.IsRefused(err):
		message = err.Error()
		hint = "only public addresses of the web are used: for a receiver in your own network set allow_private, or start the server with --allow-networks"
	case errors.Is(err, context.DeadlineExceeded):
		message = "the receiver did not respond within " + responseTimeout.String()
		hint = "respond first and work afterwards; it is tried again"
	case dns:
		hint = "compare the name in the address; it is tried again"
	case certificate || authority:
		hint = "the receiver's certificate is not one that this machine trusts: give it one for its name"
	}
	return fermata.Errorf(fermata.CodeUnavailable, "%s", message).WithHint("%s", hint)
}
