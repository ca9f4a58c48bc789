//go:build !lab

package seams

import (
	"time"

	"github.com/fermata-hq/fermata/test/patience"
)

// usual is the pace of a world without a known defect. It is long, because the verdict of the gate must not depend on
// the speed of a machine. The next heartbeat comes later than busy allows, so a word that waits for a heartbeat is
// still found.
var usual = pace{busy: time.Minute, settles: patience.Limit()}

// hurried is the pace of a world with a known defect. Its sequences often wait for an event that never comes.
var hurried = pace{busy: 9 * time.Second, settles: 25 * time.Second}
