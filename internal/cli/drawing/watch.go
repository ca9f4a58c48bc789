package drawing

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

// Watch shows a drawing and its changes until the drawing cannot change again or ctx ends. A server that is away for a
// while does not end the watch.
func Watch(ctx context.Context, s *session.Session, d Drawing) error {
	l := s.Listen(ctx, "")
	show := drawFunc(s, d)
	var clock <-chan time.Time
	if s.OutTerm && !s.JSON {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		clock = ticker.C
	}
	var retry <-chan time.Time
	for {
		stale := false
		select {
		case err := <-l.Ended:
			return err
		case <-l.Dropped:
			s.Disconnected = true
			if clock == nil {
				s.Stderr().Line("%s", session.ConnectionLostText)
			}
		case <-clock:
			// The remaining times change without an event.
		case <-l.Opened:
			s.Disconnected, stale = false, true
		case <-retry:
			stale = true
		case e := <-l.Events:
			stale = d.Document() == nil || d.IsAffectedBy(e)
			if !stale {
				continue
			}
			l.Drain()
		}
		if stale {
			retry = nil
			switch err := d.Read(ctx); {
			case fermata.CodeOf(err) == fermata.CodeUnavailable && ctx.Err() == nil:
				retry = time.After(session.RetryDelay)
			case err != nil:
				return err
			}
		}
		if d.Document() == nil {
			continue
		}
		if err := show(); err != nil || d.IsOver() {
			return err
		}
	}
}

// drawFunc returns a function that shows a drawing again. On a terminal it redraws in place; elsewhere it prints the
// changed lines.
func drawFunc(s *session.Session, d Drawing) func() error {
	switch {
	case s.JSON:
		return jsonDrawFunc(s, d)
	case s.OutTerm && s.Color:
		return screenDrawFunc(s, d)
	default:
		return changesDrawFunc(s, d)
	}
}

func jsonDrawFunc(s *session.Session, d Drawing) func() error {
	var last string
	return func() error {
		data, err := terminal.EncodeJSON(d.Document(), "")
		if err != nil || string(data) == last {
			return err
		}
		last = string(data)
		_, err = s.Out.Write(data)
		return err
	}
}

// screenDrawFunc returns a function that draws over the earlier drawing.
func screenDrawFunc(s *session.Session, d Drawing) func() error {
	drawn := 0
	return func() error {
		height := s.UpdateSize()
		lines := Lines(s, d)
		if !d.IsOver() {
			// Cut a drawing that can still change to the screen. One that cannot stays complete, and scrolls.
			lines = CropDrawing(s, d, max(height-3, 3))
		}
		if s.Disconnected {
			lines = append(lines, s.Stdout().Dim(s.Fit(session.ConnectionLostText)))
		}
		up := ""
		if drawn > 0 {
			up = fmt.Sprintf("\x1b[%dA\r", drawn)
		}
		drawn = len(lines)
		_, err := fmt.Fprint(s.Out, up+"\x1b[J"+strings.Join(lines, "\n")+"\n")
		return err
	}
}

// CropDrawing returns the rows of a drawing, cut to the terminal and to the room on the screen. The last row that is
// under way stays visible.
func CropDrawing(s *session.Session, d Drawing, room int) []string {
	return cropLines(&s.Console, Lines(s, d), lastActiveRow(d), room)
}

// lastActiveRow returns the index of the last row that is under way, or 0 if there is none.
func lastActiveRow(d Drawing) int {
	last := 0
	for i, r := range d.Rows() {
		if r.IsActive {
			last = i
		}
	}
	return last
}

// headLines is the number of first lines that stay visible if a drawing is longer than the screen.
const headLines = 2

// cropLines cuts lines to the room on the screen, so that the line in focus is visible.
func cropLines(c *terminal.Console, lines []string, focus, room int) []string {
	if len(lines) <= room {
		return lines
	}
	dim := c.Stdout().Dim
	if focus < room-1 {
		return append(lines[:room-1:room-1], dim("… and "+terminal.CountText(len(lines)-room+1, "line")+" more"))
	}
	head := headLines
	if room < 3*headLines {
		head = 0
	}
	end := min(len(lines), focus+max(head, 1))
	from := end - max(room-head-2, 1)
	shown := slices.Concat(lines[:head], []string{dim("… " + terminal.CountText(from-head, "line"))}, lines[from:end])
	if end < len(lines) {
		shown = append(shown, dim("… and "+terminal.CountText(len(lines)-end, "line")+" more"))
	}
	return shown
}

// changesDrawFunc returns a function that prints the whole drawing the first time, and then each row with new content.
func changesDrawFunc(s *session.Session, d Drawing) func() error {
	var before map[string]bool
	return func() error {
		p := s.Stdout()
		now := map[string]bool{}
		for _, r := range d.Rows() {
			now[r.Key] = true
			switch {
			case before == nil:
				p.Line("%s", r.Indent+r.Text)
			case !before[r.Key]:
				p.Line("%s  %s", s.Now().UTC().Format("15:04:05"), r.Text)
			}
		}
		before = now
		return nil
	}
}
