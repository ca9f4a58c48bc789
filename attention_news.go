//go:build !bug_attention_silent

package fermata

import "time"

// News returns the news of the waiting run, and false if there is none.
func (w *Watched) News(waits AttentionRun, now time.Time) (News, bool) {
	n := News{RunID: waits.RunID, Stop: w.stop(waits.Token, now)}
	if n.Stop == "" && w.Run.State == RunRunning && !waits.StopsOnly {
		n.Unread = w.Task.Unread
		if w.Deadline != nil && (waits.Deadline == nil || !waits.Deadline.Equal(*w.Deadline)) {
			n.Deadline = w.Deadline
		}
	}
	return n, n.Stop != "" && n.Stop != waits.Stop || n.Unread > 0 || n.Deadline != nil
}
