package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

// start measures the size of the program, and the times from an empty folder to the first answered request and to the
// first answered question. Both include the start of the program.
func (b *bench) start(ctx context.Context) error {
	if err := b.programSize(); err != nil {
		return err
	}
	if err := b.coldStart(ctx); err != nil {
		return err
	}
	const tries, bar = 3, 2 * time.Second
	var worst time.Duration
	for i := range tries {
		took, err := b.firstAnswer(ctx, filepath.Join(b.folder, fmt.Sprintf("start_%d", i)))
		if err != nil {
			return err
		}
		worst = max(worst, took)
	}
	b.judge("empty folder to first answered question", title(sqlite), fmt.Sprintf("%s (worst of %d)", ms(worst), tries), "≤ 2 s", worst <= bar)
	return nil
}

// programSize judges the size of the program as it is installed, and packed as a download.
func (b *bench) programSize() error {
	const bar, packedBar = 40_000_000, 15_000_000
	program, err := os.ReadFile(b.program)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	writer, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := writer.Write(program); err != nil {
		return err
	}
	if err := writer.Close(); err != nil {
		return err
	}
	where := runtime.GOOS + "/" + runtime.GOARCH
	b.judge("size of the program", where, mb(int64(len(program))), "≤ 40 MB", len(program) <= bar)
	b.judge("size of the program, packed by gzip", where, mb(int64(packed.Len())), "≤ 15 MB", packed.Len() <= packedBar)
	return nil
}

// coldStart judges the time from the start of the program, with an empty folder, to its first answer to a request.
func (b *bench) coldStart(ctx context.Context) error {
	const tries, bar = 20, 100 * time.Millisecond
	times := make([]time.Duration, tries)
	for i := range times {
		var err error
		if times[i], err = b.firstReply(ctx, filepath.Join(b.folder, fmt.Sprintf("cold_%d", i))); err != nil {
			return err
		}
	}
	p50 := median(times)
	b.judge("empty folder to first answered request", title(sqlite), fmt.Sprintf("p50 %s, worst %s of %d", ms(p50), ms(slices.Max(times)), tries),
		"p50 ≤ 100 ms", p50 <= bar)
	return nil
}

func (b *bench) firstReply(ctx context.Context, folder string) (took time.Duration, err error) {
	began := time.Now()
	server, err := launch(ctx, b.program, "serve", "--listen", "127.0.0.1:0", "--data", folder, "--log-level", "warn")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	_, err = newCaller(pool(), server.url, "").get(ctx, "/healthz")
	return time.Since(began), err
}

func (b *bench) firstAnswer(ctx context.Context, folder string) (took time.Duration, err error) {
	began := time.Now()
	server, err := launch(ctx, b.program, "serve", "--listen", "127.0.0.1:0", "--data", folder, "--log-level", "warn")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	var token string
	select {
	case token = <-server.firstToken:
	case <-time.After(startTimeout):
		return 0, errors.New("the server did not print the first token")
	}
	c := newCaller(pool(), server.url, token)
	reply, err := c.post(ctx, "/v1/questions", []byte(`{"question":"Go on?","response_type":"boolean"}`))
	if err != nil {
		return 0, err
	}
	path := "/v1/questions/" + quotedAfter(reply, `"id":"`)
	if _, err := c.post(ctx, path+"/answer", []byte(`{"answer":true}`)); err != nil {
		return 0, err
	}
	reply, err = c.get(ctx, path)
	took = time.Since(began)
	if err == nil && !bytes.Contains(reply, []byte(`"status":"answered"`)) {
		err = fmt.Errorf("the question is not answered: %s", reply)
	}
	return took, err
}
