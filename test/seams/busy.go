//go:build !lab

package seams

import "time"

// busy is added to the promised time, because the verdict of the gate must not depend on the speed of a machine. It is
// less than a heartbeat takes, so a word that waits for one is still found.
const busy = 9 * time.Second
