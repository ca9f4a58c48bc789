package cli

import (
	"fmt"
	"time"

	"github.com/fermata-hq/fermata"
)

// shortID returns the ending of an id that tables show. Every command accepts
// it.
func shortID(id string) string {
	return id[max(0, len(id)-fermata.MinIDSuffix):]
}

// idText returns the ending of an id for people, and the whole id for scripts.
func (s *console) idText(id string) string {
	if s.outTerm {
		return shortID(id)
	}
	return id
}

// agoText returns the time since an instant for people, and the instant for
// scripts.
func (s *console) agoText(t time.Time) string {
	if !s.outTerm {
		return t.UTC().Format(time.RFC3339)
	}
	return formatDuration(s.now().Sub(t))
}

// leftText returns the time until an instant for people, and the instant for
// scripts. Without an instant, scripts get "".
func (s *console) leftText(t *time.Time) string {
	switch {
	case t == nil && s.outTerm:
		return "no end"
	case t == nil:
		return ""
	case !s.outTerm:
		return t.UTC().Format(time.RFC3339)
	}
	d := t.Sub(s.now())
	if d <= 0 {
		return "now"
	}
	return formatDuration(d)
}

// formatDuration returns a duration in its two largest units.
func formatDuration(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < 10*time.Minute:
		return joinUnits(int(d.Minutes()), "m", int(d.Seconds())%60, "s")
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 24*time.Hour:
		return joinUnits(int(d.Hours()), "h", int(d.Minutes())%60, "m")
	default:
		return joinUnits(int(d.Hours())/24, "d", int(d.Hours())%24, "h")
	}
}

func joinUnits(a int, unitA string, b int, unitB string) string {
	if b == 0 {
		return fmt.Sprintf("%d%s", a, unitA)
	}
	return fmt.Sprintf("%d%s%d%s", a, unitA, b, unitB)
}
