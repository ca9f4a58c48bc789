package session

import (
	"time"

	"github.com/fermata-hq/fermata"
)

// CheckAtLeast refuses a duration that is shorter than the flag allows.
func CheckAtLeast(flag string, d, minimum time.Duration) error {
	if d >= minimum {
		return nil
	}
	return fermata.Errorf(fermata.CodeInvalidRequest, "%s must be at least %s, and not %s", flag, minimum, d)
}
