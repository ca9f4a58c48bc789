package email

import "time"

// SetClock sets the clock for the limits of a channel.
func (c *Channel) SetClock(now func() time.Time) { c.now = now }
