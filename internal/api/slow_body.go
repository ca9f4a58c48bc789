package api

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// readTimeout is how long a client may take to send its body.
const readTimeout = 5 * time.Second

// limitReading returns the request with a body that the client must send in time. The limit ends when the whole body
// was read. If a handler does not read the whole body, the limit stays, because net/http reads the rest before it sends
// a reply, and would wait for it forever. A connection without deadlines, as in a test, has no limit.
func limitReading(w http.ResponseWriter, r *http.Request) *http.Request {
	if r.ContentLength == 0 {
		return r
	}
	conn := http.NewResponseController(w)
	_ = conn.SetReadDeadline(time.Now().Add(readTimeout))
	// The limited body is in a copy, because net/http looks at the type of the body in its own request.
	limited := r.WithContext(r.Context())
	limited.Body = &limitedBody{r.Body, conn}
	return limited
}

type limitedBody struct {
	io.ReadCloser
	conn *http.ResponseController
}

func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		_ = b.conn.SetReadDeadline(time.Time{})
	}
	return n, err
}
