//go:build !lab

package workflow_test

// workflows is how many have schedules that come due together, 50 each.
const workflows = 2
