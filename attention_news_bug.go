//go:build bug_attention_silent

package fermata

import "time"

// News is wrong on purpose: the test suites must find that a worker then gets
// no news before its next heartbeat.
func (w *WatchedRun) News(AttentionRun, time.Time) (News, bool) { return News{}, false }
