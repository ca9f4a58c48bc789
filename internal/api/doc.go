// Package api serves the engine over HTTP: JSON under /v1, live events as SSE,
// problems after RFC 9457, and an OpenAPI 3.1 document made from the routes.
//
// It translates and decides nothing. Who may do what, and what a request comes
// to, is the engine's; who is calling, how much and how fast, is found out
// here, before the engine is asked.
package api
