package terminal

import (
	"fmt"
	"time"
)

// IDText returns the ending of an id for people, and the whole id for scripts.
func (c *Console) IDText(id string) string {
	if c.OutTerm {
		return ShortID(id)
	}
	return id
}

// AgoText returns the time since an instant for people, and the instant for
// scripts.
func (c *Console) AgoText(t time.Time) string {
	if !c.OutTerm {
		return t.UTC().Format(time.RFC3339)
	}
	return FormatDuration(c.Now().Sub(t))
}

// LeftText returns the time until an instant for people, and the instant for
// scripts. Without an instant, scripts get "".
func (c *Console) LeftText(t *time.Time) string {
	switch {
	case t == nil && c.OutTerm:
		return "no end"
	case t == nil:
		return ""
	case !c.OutTerm:
		return t.UTC().Format(time.RFC3339)
	}
	d := t.Sub(c.Now())
	if d <= 0 {
		return "now"
	}
	return FormatDuration(d)
}

// FormatDuration returns a duration in its two largest units.
func FormatDuration(d time.Duration) string {
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
