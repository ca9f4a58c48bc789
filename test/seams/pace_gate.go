//go:build !lab

package seams

import (
	"time"

	"github.com/fermata-hq/fermata/test/patience"
)

// usualPace is the pace of a world without a known defect. It is long, because the verdict of the gate must not depend on
// the speed of a machine. The next heartbeat comes later than busy allows, so a word that waits for a heartbeat is
// still found.
var usualPace = pace{busy: time.Minute, restTimeout: patience.Limit()}

// hurriedPace is the pace of a world with a known defect. Its sequences often wait for an event that never comes.
var hurriedPace = pace{busy: 9 * time.Second, restTimeout: 25 * time.Second}
