package slack

import "time"

// SetPatience sets how long Slack is kept waiting for what became of a click. Set it before a request comes.
func SetPatience(c *Channel, d time.Duration) { c.patience = d }
