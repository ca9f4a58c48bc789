// Package api serves the engine over HTTP: JSON under /v1, live events as SSE,
// and problems after RFC 9457. It makes an OpenAPI 3.1 document from the
// routes.
//
// It translates, and makes no decisions. The engine decides who may do what,
// and the result of each request. Before it calls the engine, this package
// finds the caller, and limits how much and how fast callers send.
package api
