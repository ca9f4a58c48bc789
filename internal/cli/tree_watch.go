package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
)

// drawing is a view of the server's state that is drawn again after every change.
type drawing interface {
	read(ctx context.Context) error
	// document returns the value that --json prints. It is nil before the first read.
	document() any
	rows() []row
	// isAffectedBy reports whether an event may change the drawing.
	isAffectedBy(e *fermata.Event) bool
	// isOver reports whether the drawing cannot change again.
	isOver() bool
}

// connectionLostText tells the person that the connection broke, so the screen shows nothing new.
const connectionLostText = "(the connection broke; connecting again)"

// retryDelay is the pause before a drawing is read again after the server was unreachable.
const retryDelay = time.Second

// watch shows a drawing and its changes until the drawing cannot change again or ctx ends. A server that is away for a
// while does not end the watch.
func (s *session) watch(ctx context.Context, d drawing) error {
	l := s.listen(ctx, "")
	show := s.drawFunc(d)
	var clock <-chan time.Time
	if s.outTerm && !s.JSON {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		clock = ticker.C
	}
	var retry <-chan time.Time
	for {
		stale := false
		select {
		case err := <-l.ended:
			return err
		case <-l.dropped:
			s.disconnected = true
			if clock == nil {
				s.stderr().line("%s", connectionLostText)
			}
		case <-clock:
			// The remaining times change without an event.
		case <-l.opened:
			s.disconnected, stale = false, true
		case <-retry:
			stale = true
		case e := <-l.events:
			stale = d.document() == nil || d.isAffectedBy(e)
			if !stale {
				continue
			}
			l.drain()
		}
		if stale {
			retry = nil
			switch err := d.read(ctx); {
			case fermata.CodeOf(err) == fermata.CodeUnavailable && ctx.Err() == nil:
				retry = time.After(retryDelay)
			case err != nil:
				return err
			}
		}
		if d.document() == nil {
			continue
		}
		if err := show(); err != nil || d.isOver() {
			return err
		}
	}
}

// isAffectedBy reports whether an event belongs to a shown task. A new task may be below a shown one.
func (v *treeView) isAffectedBy(e *fermata.Event) bool {
	return e.Type == fermata.EventTaskCreated || v.tasksByID[e.TaskID] != nil
}

// isOver returns false, because an ended task may be reopened.
func (v *treeView) isOver() bool { return false }

func (v *treeView) document() any {
	if v.list == nil {
		return nil
	}
	return v.list
}

// drawFunc returns a function that shows a drawing again. On a terminal it redraws in place; elsewhere it prints the
// changed lines.
func (s *session) drawFunc(d drawing) func() error {
	switch {
	case s.JSON:
		return s.jsonDrawFunc(d)
	case s.outTerm && s.color:
		return s.screenDrawFunc(d)
	default:
		return s.changesDrawFunc(d)
	}
}

func (s *session) jsonDrawFunc(d drawing) func() error {
	var last string
	return func() error {
		data, err := encodeJSON(d.document(), "")
		if err != nil || string(data) == last {
			return err
		}
		last = string(data)
		_, err = s.out.Write(data)
		return err
	}
}

// screenDrawFunc returns a function that draws over the earlier drawing.
func (s *session) screenDrawFunc(d drawing) func() error {
	drawn := 0
	return func() error {
		height := s.updateSize()
		lines := s.drawingLines(d)
		if !d.isOver() {
			// Cut a drawing that can still change to the screen. One that cannot stays complete, and scrolls.
			lines = s.cropDrawing(d, max(height-3, 3))
		}
		if s.disconnected {
			lines = append(lines, s.stdout().dim(s.fit(connectionLostText)))
		}
		up := ""
		if drawn > 0 {
			up = fmt.Sprintf("\x1b[%dA\r", drawn)
		}
		drawn = len(lines)
		_, err := fmt.Fprint(s.out, up+"\x1b[J"+strings.Join(lines, "\n")+"\n")
		return err
	}
}

// cropDrawing returns the rows of a drawing, cut to the terminal and to the room on the screen. The last row that is
// under way stays visible.
func (s *session) cropDrawing(d drawing, room int) []string {
	return s.cropLines(s.drawingLines(d), lastActiveRow(d), room)
}

// lastActiveRow returns the index of the last row that is under way, or 0 if there is none.
func lastActiveRow(d drawing) int {
	last := 0
	for i, r := range d.rows() {
		if r.isActive {
			last = i
		}
	}
	return last
}

// headLines is the number of first lines that stay visible if a drawing is longer than the screen.
const headLines = 2

// cropLines cuts lines to the room on the screen, so that the line in focus is visible.
func (s *console) cropLines(lines []string, focus, room int) []string {
	if len(lines) <= room {
		return lines
	}
	dim := s.stdout().dim
	if focus < room-1 {
		return append(lines[:room-1:room-1], dim("… and "+countText(len(lines)-room+1, "line")+" more"))
	}
	head := headLines
	if room < 3*headLines {
		head = 0
	}
	end := min(len(lines), focus+max(head, 1))
	from := end - max(room-head-2, 1)
	shown := slices.Concat(lines[:head], []string{dim("… " + countText(from-head, "line"))}, lines[from:end])
	if end < len(lines) {
		shown = append(shown, dim("… and "+countText(len(lines)-end, "line")+" more"))
	}
	return shown
}

// changesDrawFunc returns a function that prints the whole drawing the first time, and then each row with new content.
func (s *session) changesDrawFunc(d drawing) func() error {
	var before map[string]bool
	return func() error {
		p := s.stdout()
		now := map[string]bool{}
		for _, r := range d.rows() {
			now[r.key] = true
			switch {
			case before == nil:
				p.line("%s", r.indent+r.text)
			case !before[r.key]:
				p.line("%s  %s", s.now().UTC().Format("15:04:05"), r.text)
			}
		}
		before = now
		return nil
	}
}

// drawingLines returns the rows of a drawing, cut to the terminal.
func (s *session) drawingLines(d drawing) []string {
	rows := d.rows()
	lines := make([]string, 0, len(rows))
	for _, r := range rows {
		lines = append(lines, s.fit(r.indent+r.text))
	}
	return lines
}
