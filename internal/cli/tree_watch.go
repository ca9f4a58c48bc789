package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
)

// watch shows the tree as it changes, until ctx ends.
func (v *treeView) watch(ctx context.Context) error {
	l := v.s.listen(ctx, "")
	show := v.printer()
	var clock <-chan time.Time
	if v.s.outTerm && !v.s.JSON {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		clock = ticker.C
	}
	for {
		select {
		case err := <-l.ended:
			return err
		case <-l.dropped:
			continue
		case <-clock:
			// The lengths of time that are left grow shorter by themselves.
			if v.list == nil {
				continue
			}
		case <-l.opened:
			if err := v.read(ctx); err != nil {
				return err
			}
		case e := <-l.events:
			if !v.concerns(e) {
				continue
			}
			l.drain()
			if err := v.read(ctx); err != nil {
				return err
			}
		}
		if err := show(); err != nil {
			return err
		}
	}
}

// concerns reports whether an event may change what is drawn. A task that is
// new may be below one that is shown.
func (v *treeView) concerns(e *fermata.Event) bool {
	return e.Type == fermata.EventTaskCreated || v.list == nil || v.beside[e.TaskID] != nil
}

// printer returns what shows the tree once more: in place on a terminal, as
// the lines that changed elsewhere.
func (v *treeView) printer() func() error {
	switch {
	case v.s.JSON:
		return v.printJSON()
	case v.s.outTerm && v.s.color:
		return v.redraw()
	default:
		return v.printChanges()
	}
}

func (v *treeView) printJSON() func() error {
	var last string
	return func() error {
		data, err := encode(v.list, "")
		if err != nil || string(data) == last {
			return err
		}
		last = string(data)
		_, err = v.s.out.Write(data)
		return err
	}
}

// redraw draws over what was drawn before.
func (v *treeView) redraw() func() error {
	drawn := 0
	return func() error {
		height := v.s.resize()
		lines := v.lines()
		if room := max(height-2, 3); len(lines) > room {
			more := len(lines) - room + 1
			lines = append(lines[:room-1:room-1], v.s.data().dim(fmt.Sprintf("… and %d lines more", more)))
		}
		up := ""
		if drawn > 0 {
			up = fmt.Sprintf("\x1b[%dA\r", drawn)
		}
		drawn = len(lines)
		_, err := fmt.Fprint(v.s.out, up+"\x1b[J"+strings.Join(lines, "\n")+"\n")
		return err
	}
}

// printChanges prints the whole tree first, and then each row that tells
// something new.
func (v *treeView) printChanges() func() error {
	var before map[string]bool
	return func() error {
		p := v.s.data()
		now := map[string]bool{}
		for _, r := range v.rows() {
			now[r.key] = true
			switch {
			case before == nil:
				p.line("%s", r.indent+r.text)
			case !before[r.key]:
				p.line("%s  %s", v.s.now().UTC().Format("15:04:05"), r.text)
			}
		}
		before = now
		return nil
	}
}
