package engine_test

import (
	"flag"
	"testing"
	"time"
	// The zone is known on every machine.
	_ "time/tzdata"

	"github.com/fermata-hq/fermata/internal/store/storetest"
)

func TestMain(m *testing.M) {
	flag.Parse()
	// The process lives where there is summer time; nothing depends on it.
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		panic(err)
	}
	time.Local = zone
	if f := flag.Lookup("rapid.checks"); raceEnabled && f.Value.String() == f.DefValue {
		// The race detector makes SQLite ten times slower; programs find the
		// same without it.
		_ = f.Value.Set("25")
	}
	storetest.Main(m)
}
