// Package workflow runs automations that are written in YAML (docs/inside/contract.md#workflows). A run is a task of
// the runner "workflow". Any free server process claims it and does step after step. It releases the run when the run
// must wait for a person, a worker or an instant. The data to continue is stored in rows, in the same transaction as
// the question, task or time that the run waits for. A waiting run consists only of these rows.
package workflow
