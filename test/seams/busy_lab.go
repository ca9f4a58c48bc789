//go:build lab

package seams

import "time"

// busy is added to what is promised, for a machine that does much else.
const busy = 2 * time.Second
