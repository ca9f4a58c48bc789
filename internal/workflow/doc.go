// Package workflow runs automations written in YAML (spec §6). A run is a task
// of the runner workflow: a process that has a free hand claims it, goes from
// step to step, and leaves it when it waits for a person, a worker or an
// instant. What it needs to go on is in rows, saved with whatever it waits for
// in one transaction; a waiting run is nothing else.
package workflow
