package acp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/coder/acp-go-sdk"
)

// maxMessage is the longest message, in bytes, that the library accepts.
const maxMessage = 9 << 20

// wire splits the agent's output: messages go to the connection, updates of the session to the conversation, and
// anything else to the log. An update is handled here before any later message is passed on, so that no request or
// response arrives before it.
type wire struct {
	out    *io.PipeWriter
	log    io.Writer
	update func(params json.RawMessage)
	line   []byte
	// noise is true if the rest of the line is not part of the protocol.
	noise bool
}

// Write takes a piece of the stream. It never fails.
func (w *wire) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		piece, rest, whole := bytes.Cut(p, []byte{'\n'})
		w.add(piece)
		if whole {
			w.end()
		}
		p = rest
	}
	return n, nil
}

// add takes a piece of a line. Text that cannot be a message goes to the log at once.
func (w *wire) add(piece []byte) {
	w.line = append(w.line, piece...)
	start := bytes.TrimLeft(w.line, " \t\r")
	if len(start) > 0 && start[0] != '{' {
		w.noise = true
	}
	if len(w.line) > maxMessage {
		if !w.noise {
			fmt.Fprintf(w.log, "fermata: The agent wrote a message of more than %d MB; it is not read.\n", maxMessage>>20)
		}
		w.noise = true
	}
	if w.noise {
		w.log.Write(w.line) //nolint:errcheck // the log never fails
		w.line = w.line[:0]
	}
}

// end handles the collected line.
func (w *wire) end() {
	line, noise := bytes.TrimSpace(w.line), w.noise
	w.line, w.noise = w.line[:0], false
	if noise {
		fmt.Fprintln(w.log)
		return
	}
	if len(line) == 0 {
		return
	}
	var head struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	switch err := json.Unmarshal(line, &head); {
	case err != nil || head.ID == nil && head.Method == "":
		fmt.Fprintf(w.log, "%s\n", line)
	case head.Method == acp.ClientMethodSessionUpdate:
		w.update(head.Params)
	default:
		// After the connection has ended, the pipe has no reader, so this write may fail.
		w.out.Write(append(line, '\n')) //nolint:errcheck // see above
	}
}

// close ends the stream.
func (w *wire) close() {
	w.end()
	w.out.Close() //nolint:errcheck // a pipe
}
