// Package client calls the HTTP API of a Fermata server.
//
// The client has one method for each call. It uses the structs of package
// fermata, and returns a refusal of the server as a [*fermata.Error]. It
// retries a call when the connection broke, or when the server asked it to
// wait. Every write carries an idempotency key, so that a retry never acts
// twice. The package keeps no state besides its connections.
package client
