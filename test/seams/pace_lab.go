//go:build lab

package seams

import "time"

// The lab measures the promised times, while other tests of the lab run at the same time.
var usualPace = pace{busy: 2 * time.Second, restTimeout: 25 * time.Second}

var hurriedPace = usualPace
