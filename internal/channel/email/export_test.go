package email

import "time"

// SetClock gives the limits of a channel another clock.
func (c *Channel) SetClock(now func() time.Time) { c.now = now }
