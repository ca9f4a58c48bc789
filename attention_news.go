//go:build !bug_attention_silent

package fermata

import "time"

// News returns the news of the waiting run, and false if there is none.
func (w *WatchedRun) News(waiter AttentionRun, now time.Time) (News, bool) {
	n := News{RunID: waiter.RunID, Stop: w.stopReason(waiter.Token, now)}
	if n.Stop == "" && w.Run.State == RunRunning && !waiter.StopsOnly {
		n.Unread = w.Task.Unread
		if w.Deadline != nil && (waiter.Deadline == nil || !waiter.Deadline.Equal(*w.Deadline)) {
			n.Deadline = w.Deadline
		}
	}
	return n, n.Stop != "" && n.Stop != waiter.Stop || n.Unread > 0 || n.Deadline != nil
}
