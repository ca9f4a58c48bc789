package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// follower is one client of the stream of events, on its own connection. It uses as little memory as it can, because
// thousands of them run in this process.
type follower struct {
	conn  net.Conn
	lines *bufio.Reader
	// firstSeq is the number at which the stream began.
	firstSeq int64
}

// frame is one event of a stream.
type frame struct {
	seq  int64
	data []byte
}

// follow opens a stream after an event. A negative number means from now on. It returns when the server has sent the
// number of the event at which the stream begins.
func follow(ctx context.Context, url, token, query string, after int64) (*follower, error) {
	address := strings.TrimPrefix(url, "http://")
	dialer := net.Dialer{Timeout: 20 * time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	f := &follower{conn: conn}
	if err := f.open(ctx, address, token, query, after); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

func (f *follower) open(ctx context.Context, address, token, query string, after int64) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/v1/events"+query, http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Accept", "text/event-stream")
	if after >= 0 {
		req.Header.Set("Last-Event-ID", strconv.FormatInt(after, 10))
	}
	if err := f.conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		return err
	}
	if err := req.Write(f.conn); err != nil {
		return err
	}
	res, err := http.ReadResponse(bufio.NewReaderSize(f.conn, 1024), req) //nolint:bodyclose // closing the connection ends it
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("the stream was refused: %s", res.Status)
	}
	f.lines = bufio.NewReaderSize(res.Body, 2048)
	first, err := f.readBlock()
	f.firstSeq = first.seq
	if err == nil {
		err = f.conn.SetDeadline(time.Time{})
	}
	return err
}

// next returns the next event. It returns an error at the end of the stream or when the server resets it.
func (f *follower) next() (frame, error) {
	for {
		fr, err := f.readBlock()
		if err != nil || len(fr.data) > 0 {
			return fr, err
		}
	}
}

// readBlock reads up to the next empty line.
func (f *follower) readBlock() (frame, error) {
	var fr frame
	for {
		line, err := f.lines.ReadBytes('\n')
		if err != nil {
			return fr, err
		}
		line = bytes.TrimRight(line, "\n")
		name, value, _ := bytes.Cut(line, []byte(": "))
		switch string(name) {
		case "":
			return fr, nil
		case "id":
			if fr.seq, err = strconv.ParseInt(string(value), 10, 64); err != nil {
				return fr, err
			}
		case "event":
			if string(value) == "reset" {
				return fr, fmt.Errorf("the stream was reset")
			}
		case "data":
			fr.data = value
		}
	}
}

func (f *follower) close() { _ = f.conn.Close() }
