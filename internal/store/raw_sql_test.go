package store_test

import (
	"testing"

	"github.com/fermata-hq/fermata/internal/store/storetest"
)

// A test that changes rows without the store waits while the store writes.
func TestAHandWaitsForTheStore(t *testing.T) {
	t.Parallel()
	opts := storetest.SQLite(t)
	db := storetest.Open(t, opts)
	done := make(chan error, 1)
	go func() {
		var err error
		for i := 0; i < 200 && err == nil; i++ {
			err = writeEvent(t, db)
		}
		done <- err
	}()
	for {
		select {
		case err := <-done:
			must(t, err)
			return
		default:
			storetest.Exec(t, opts, "UPDATE workspaces SET name = name")
		}
	}
}
