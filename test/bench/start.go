package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// start measures the time from an empty folder to the first answered question, including the start of the program.
func (b *bench) start(ctx context.Context) error {
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
