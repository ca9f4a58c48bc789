package engine_test

import (
	"flag"
	"testing"

	"github.com/fermata-hq/fermata/internal/store/storetest"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("rapid.checks"); raceEnabled && f.Value.String() == f.DefValue {
		// The race detector makes SQLite ten times slower; programs find the
		// same without it.
		_ = f.Value.Set("25")
	}
	storetest.Main(m)
}
