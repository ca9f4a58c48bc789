package slack

import "time"

// SetPatience sets how long the channel waits for the outcome of a click before it acknowledges. Call it before the
// first request.
func SetPatience(c *Channel, d time.Duration) { c.patience = d }
