package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// caller is one client of a server. It is plain net/http with hand-written bodies, so that the cost of measuring is the
// same for every server. It belongs to one goroutine.
type caller struct {
	http *http.Client
	base string
	// header holds the token.
	header http.Header
	reply  bytes.Buffer
}

// pool returns the HTTP client whose connections the clients of one measurement share.
func pool() *http.Client {
	return &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: 4096, DisableCompression: true},
		Timeout:   70 * time.Second,
	}
}

func newCaller(shared *http.Client, base, token string) *caller {
	return &caller{http: shared, base: base, header: http.Header{
		"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"},
	}}
}

// post sends a body and returns the reply, which is valid until the next call.
func (c *caller) post(ctx context.Context, path string, body []byte) ([]byte, error) {
	return c.do(ctx, http.MethodPost, path, bytes.NewReader(body))
}

func (c *caller) put(ctx context.Context, path string, body []byte) ([]byte, error) {
	return c.do(ctx, http.MethodPut, path, bytes.NewReader(body))
}

func (c *caller) get(ctx context.Context, path string) ([]byte, error) {
	return c.do(ctx, http.MethodGet, path, http.NoBody)
}

func (c *caller) do(ctx context.Context, method, path string, body io.Reader) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	req.Header = c.header
	res, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	c.reply.Reset()
	if _, err := c.reply.ReadFrom(res.Body); err != nil {
		return nil, err
	}
	if res.StatusCode >= http.StatusMultipleChoices {
		return nil, fmt.Errorf("%s %s: %s: %s", method, path, res.Status, c.reply.Bytes())
	}
	return c.reply.Bytes(), nil
}

// quotedAfter returns the text after a mark in JSON, up to the next quote. It is used for ids, which contain no escapes.
func quotedAfter(data []byte, mark string) string {
	_, rest, ok := bytes.Cut(data, []byte(mark))
	if !ok {
		return ""
	}
	value, _, _ := bytes.Cut(rest, []byte{'"'})
	return string(value)
}

// numberAfter returns the number after a mark in JSON.
func numberAfter(data []byte, mark string) int64 {
	_, rest, _ := bytes.Cut(data, []byte(mark))
	end := bytes.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	n, _ := strconv.ParseInt(string(rest[:max(end, 0)]), 10, 64)
	return n
}
