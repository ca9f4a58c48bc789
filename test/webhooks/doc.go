// Package webhooks sends webhooks from the real server to receivers with
// faults. It verifies the signatures with the reference library of another
// language.
package webhooks
