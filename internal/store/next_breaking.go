//go:build schema_breaking

package store

// nextStatements say that this program may not use the database any more.
var nextStatements = []string{"UPDATE workspaces SET min_compatible_version = 9001"}
