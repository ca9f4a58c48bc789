// Package api serves the engine over HTTP: JSON under /v1, live events as SSE,
// and problems after RFC 9457. It generates an OpenAPI 3.1 document from the
// routes.
//
// It translates requests, and makes no decisions. The engine decides which
// caller may do what, and what each request results in. Before it calls the
// engine, this package finds the caller, and limits how much and how fast
// callers send.
package api
