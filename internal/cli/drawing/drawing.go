package drawing

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

// Row is one line of a drawing.
type Row struct {
	// Indent is the place of the row in the tree, as lines and spaces. Text is the text after it.
	Indent, Text string
	// Key changes when the row has new content. The clock changes only text.
	Key string
	// IsActive reports whether the row is under way. A screen that is too small
	// shows such a row first.
	IsActive bool
}

// Drawing is a view of the server's state that is drawn again after every change.
type Drawing interface {
	// Read reads the state from the server.
	Read(ctx context.Context) error
	// Document returns the value that --json prints. It is nil before the first read.
	Document() any
	// Rows returns the lines of the drawing from the top down, as of the last read.
	Rows() []Row
	// IsAffectedBy reports whether an event may change the drawing.
	IsAffectedBy(e *fermata.Event) bool
	// IsOver reports whether the drawing cannot change again.
	IsOver() bool
}

// Lines returns the rows of a drawing, cut to the terminal.
func Lines(s *session.Session, d Drawing) []string {
	rows := d.Rows()
	lines := make([]string, 0, len(rows))
	for _, r := range rows {
		lines = append(lines, s.Fit(r.Indent+r.Text))
	}
	return lines
}
