package slack

import "time"

// SetPatience sets how long Slack waits for the outcome of a click. Call it before the first request.
func SetPatience(c *Channel, d time.Duration) { c.patience = d }
