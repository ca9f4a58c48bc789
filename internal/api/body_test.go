package api_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"
)

// endless is a body of many spaces that counts how many of them were read.
type endless struct {
	left, read int64
	announced  bool
}

func (e *endless) Read(p []byte) (int, error) {
	n := min(int64(len(p)), e.left)
	if n == 0 {
		return 0, io.EOF
	}
	copy(p, bytes.Repeat([]byte{' '}, int(n)))
	e.left -= n
	e.read += n
	return int(n), nil
}

// send posts the body as a task. The server may close the connection before the
// whole body is sent, so only the reply counts.
func (w *world) send(body *endless) reply {
	w.Helper()
	req, err := http.NewRequestWithContext(w.Context(), http.MethodPost, w.url+"/v1/tasks", body)
	w.OK(err)
	if body.announced {
		req.ContentLength = body.left
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+w.agent)
	req.Header.Set("Expect", "100-continue")
	client := &http.Client{Transport: &http.Transport{ExpectContinueTimeout: 1 << 40}}
	w.Cleanup(client.CloseIdleConnections)
	res, err := client.Do(req)
	w.OK(err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	w.OK(err)
	return reply{res.StatusCode, res.Header, data}
}

func TestLargeBodyIsNotReadWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, headers := range [][]string{nil, {"Idempotency-Key", "k"}} {
		body := &endless{left: 10 << 20}
		if status := w.createTaskFrom("192.0.2.1:9", "x", body, append(headers, "Authorization", "Bearer "+w.agent)...); status != http.StatusRequestEntityTooLarge {
			t.Errorf("got %d", status)
		}
		if most := int64(1<<20 + 64<<10); body.read > most {
			t.Errorf("%d bytes were read", body.read)
		}
	}
}

func TestBodyAtTheLimitIsRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if r := w.send(&endless{left: 1 << 20, announced: true}); r.status != http.StatusBadRequest {
		t.Errorf("a body of exactly 1 MiB got %d %s", r.status, r.body)
	}
}
