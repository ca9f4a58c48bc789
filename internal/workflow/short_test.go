//go:build !lab

package workflow_test

// workflows is how many workflows there are. Each has 50 schedules that come
// due together.
const workflows = 2
