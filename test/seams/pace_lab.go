//go:build lab

package seams

import "time"

// The lab measures the promised times, while other tests of the lab run at the same time.
var usual = pace{busy: 2 * time.Second, settles: 25 * time.Second}

var hurried = usual
