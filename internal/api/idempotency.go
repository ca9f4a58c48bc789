package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"unicode/utf8"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

const (
	idempotencyHeader = "Idempotency-Key"
	maxIdempotencyKey = 200
)

// idempotency is the key of a request, and the digest of its contents.
type idempotency struct{ key, fingerprint string }

type idempotencyKey struct{}

// withIdempotency passes the request's idempotency key to the engine, which
// returns the first result to a repeated request. The fingerprint covers the
// caller, the method, the path and the body.
func withIdempotency(r *http.Request, c *fermata.Caller) (*http.Request, error) {
	key := r.Header.Get(idempotencyHeader)
	if key == "" || r.Method != http.MethodPost {
		return r, nil
	}
	if len(key) > maxIdempotencyKey || !utf8.ValidString(key) {
		return r, fermata.Invalid(fermata.Problem{
			Field: idempotencyHeader, Message: fmt.Sprintf("must be valid UTF-8 of at most %d bytes", maxIdempotencyKey),
		})
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return r, bodyError(err)
	}
	id := idempotency{key, fingerprint(r, c, body)}
	ctx := context.WithValue(r.Context(), idempotencyKey{}, id)
	r = r.WithContext(engine.WithIdempotency(ctx, id.key, id.fingerprint))
	r.Body = io.NopCloser(bytes.NewReader(body))
	return r, nil
}

func fingerprint(r *http.Request, c *fermata.Caller, body []byte) string {
	h := sha256.New()
	for _, part := range []string{c.WorkspaceID, c.TokenID, c.MemberID, r.Method, r.URL.Path} {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	h.Write(body)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// withPartKey returns a context in which a part of a batch has its own key.
func withPartKey(ctx context.Context, part int) context.Context {
	id, ok := ctx.Value(idempotencyKey{}).(idempotency)
	if !ok {
		return ctx
	}
	return engine.WithIdempotency(ctx, fmt.Sprintf("%s#%d", id.key, part), id.fingerprint)
}

// bodyError returns the error for a body that could not be read to its end.
func bodyError(err error) error {
	var limit *http.MaxBytesError
	if errors.As(err, &limit) {
		return tooLargeError(limit.Limit)
	}
	return fermata.Errorf(fermata.CodeInvalidRequest, "the body ended early")
}
