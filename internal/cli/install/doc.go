// Package install sets agent programs up for a person's desk. It edits the configuration of the programs and keeps
// everything else in these files as it is.
package install
