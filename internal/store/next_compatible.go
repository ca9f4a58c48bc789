//go:build schema_next

package store

// nextStatements add what this program can do without.
var nextStatements = []string{"ALTER TABLE tasks ADD COLUMN next_note TEXT NOT NULL DEFAULT ''"}
