// Package client calls the HTTP API of a Fermata server.
//
// There is one method for each call. It speaks the structs of package fermata,
// and what the server refuses comes back as a [*fermata.Error]. A call that
// met a broken connection or a server that asks for patience is tried again;
// every write carries an idempotency key, so that a second try never acts
// twice. The package keeps no state besides its connections.
package client
