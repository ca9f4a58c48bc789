package engine_test

import (
	"flag"
	"testing"
	"time"

	// This makes the zone known on every machine.
	_ "time/tzdata"

	"github.com/fermata-hq/fermata/internal/store/storetest"
)

func TestMain(m *testing.M) {
	flag.Parse()
	// The process runs in a zone with summer time, to show that nothing depends
	// on the zone.
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		panic(err)
	}
	time.Local = zone
	if f := flag.Lookup("rapid.checks"); raceEnabled && f.Value.String() == f.DefValue {
		// The race detector makes SQLite ten times slower, and fewer programs
		// find the same faults without it.
		_ = f.Value.Set("25")
	}
	storetest.Main(m)
}
