// Package workflow holds the commands for automations in YAML: they check, store, draw, run, follow and test workflows.
package workflow
