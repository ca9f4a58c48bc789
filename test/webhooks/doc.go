// Package webhooks sends webhooks from the real server to receivers with
// faults, and has their signatures verified by the reference library of
// another language.
package webhooks
