//go:build lab

package seams

import "time"

// busy is added to the promised time, because other tests of the lab run at the same time.
const busy = 2 * time.Second
