package process

import (
	"bytes"
	"io"
	"os"
	"slices"
)

// Pipe carries the output of a process to a writer. The output ends with the process, even if programs that the process
// started hold the pipe open for longer.
type Pipe struct {
	// File is the end to which the process writes.
	File *os.File

	read *os.File
	to   io.Writer
	// drained is closed when the writer has all output of the process.
	drained chan struct{}
}

// endMark follows the last output of a process. A write of this length is never split.
var endMark = []byte("\x00the process has ended\x00")

// NewPipe returns a pipe to the writer, which is called by one goroutine at a time.
func NewPipe(to io.Writer) (*Pipe, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p := &Pipe{File: write, read: read, to: to, drained: make(chan struct{})}
	go p.carry()
	return p, nil
}

// End waits until the writer has all output of the process. The process must have ended.
func (p *Pipe) End() {
	_, _ = p.File.Write(endMark)
	_ = p.File.Close()
	<-p.drained
}

// carry passes each write of the process on to the writer in one write.
func (p *Pipe) carry() {
	defer func() { _ = p.read.Close() }()
	buffer, kept := make([]byte, 64<<10), []byte(nil)
	ended := false
	for {
		n, err := p.read.Read(buffer)
		text := slices.Concat(kept, buffer[:n])
		kept = nil
		if before, after, found := bytes.Cut(text, endMark); found && !ended {
			_, _ = p.to.Write(before)
			ended = true
			close(p.drained)
			text = after
		}
		if !ended {
			text, kept = holdBack(text)
		}
		if len(text) > 0 {
			_, _ = p.to.Write(text)
		}
		if err != nil {
			if !ended {
				close(p.drained)
			}
			return
		}
	}
}

// holdBack cuts off the end of the text if it may be the beginning of the mark.
func holdBack(text []byte) (now, later []byte) {
	for n := min(len(text), len(endMark)-1); n > 0; n-- {
		if bytes.HasSuffix(text, endMark[:n]) {
			return text[:len(text)-n], bytes.Clone(text[len(text)-n:])
		}
	}
	return text, nil
}
