package client

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"
)

// maxLine is the longest line of a stream, in bytes.
const maxLine = 16 << 20

// frame is one event of a stream of server-sent events.
type frame struct {
	name string
	data string
}

// sseReader reads a stream of server-sent events as the HTML standard defines
// it.
type sseReader struct {
	lines *bufio.Reader
	// id is the last id of the stream. A frame without data sets it too.
	id string
	// retry is how long the server asks the client to wait before it
	// reconnects.
	retry time.Duration
	// touch is called for every line, also for a comment, because a comment
	// shows that the stream is alive.
	touch func()
}

func newSSEReader(r io.Reader, touch func()) *sseReader {
	return &sseReader{lines: bufio.NewReaderSize(r, 32<<10), touch: touch}
}

// nextFrame returns the next frame with data or a name. If the stream ends
// within a frame, the frame is dropped and its id does not count.
func (s *sseReader) nextFrame() (frame, error) {
	var f frame
	var data []string
	id := s.id
	for {
		line, err := s.line()
		if err != nil {
			return frame{}, err
		}
		s.touch()
		if line == "" {
			s.id = id
			if len(data) == 0 && f.name == "" {
				continue
			}
			f.data = strings.Join(data, "\n")
			return f, nil
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "event":
			f.name = value
		case "data":
			data = append(data, value)
		case "id":
			if !strings.ContainsRune(value, 0) {
				id = value
			}
		case "retry":
			if ms, err := strconv.Atoi(value); err == nil && ms >= 0 {
				s.retry = min(time.Duration(ms)*time.Millisecond, time.Minute)
			}
		}
	}
}

// line returns the next line without its end (LF or CR LF).
func (s *sseReader) line() (string, error) {
	var line []byte
	for {
		part, err := s.lines.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return strings.TrimRight(string(line), "\r\n"), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", err
		case len(line) > maxLine:
			return "", errors.New("a line of the stream is too long")
		}
	}
}
