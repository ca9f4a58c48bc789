// Package web holds the interface that people see in a browser. `make web`
// builds it into dist, and the program carries it.
package web

import (
	"embed"
	"io/fs"
	"net/http"
)

//go:embed all:dist
var built embed.FS

// Handler returns the handler that serves the interface. In a program that was
// built without the interface, it serves a page that says how to build it.
func Handler() http.Handler {
	dist, err := fs.Sub(built, "dist")
	if err != nil {
		panic(err) // The folder is part of the program.
	}
	return New(dist)
}
