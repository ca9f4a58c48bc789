//go:build !lab

package seams

import (
	"time"

	"github.com/fermata-hq/fermata/test/patience"
)

// The verdict of the gate must not depend on the speed of a machine. A heartbeat takes longer than busy, so a word that
// waits for one is still found.
var usual = pace{busy: time.Minute, settles: patience.Limit()}

// hurried is the pace where a defect is known to be: there the search waits for what never comes.
var hurried = pace{busy: 9 * time.Second, settles: 25 * time.Second}
