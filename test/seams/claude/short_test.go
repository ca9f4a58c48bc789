//go:build !lab

package claude

import (
	"time"

	"github.com/fermata-hq/fermata/test/process"
)

// searched is the time during which new sequences are started.
const searched = 25 * time.Second

// Each kind uses one database. `make crash` uses both for each kind.
var (
	calmOn  = databases{"sqlite": process.SQLite}
	roughOn = databases{"postgres": process.Postgres}
)
