//go:build !lab

package claude

import (
	"time"

	"github.com/fermata-hq/fermata/test/process"
)

// searched is how long sequences are begun.
const searched = 25 * time.Second

// One database for each kind; make crash takes both for each.
var (
	calmOn  = databases{"sqlite": process.SQLite}
	roughOn = databases{"postgres": process.Postgres}
)
