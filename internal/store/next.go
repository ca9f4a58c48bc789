//go:build !schema_next && !schema_breaking

package store

import "github.com/pressly/goose/v3"

// nextMigrations are those that only builds for tests of mixed versions have.
func nextMigrations() []*goose.Migration { return nil }
