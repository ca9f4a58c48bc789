// Command openapi prints the server's OpenAPI document. The types of the web
// interface are generated from it.
package main

import (
	"encoding/json"
	"log"
	"os"

	"github.com/fermata-hq/fermata/internal/api"
	"github.com/fermata-hq/fermata/internal/engine"
)

func main() {
	document, err := json.MarshalIndent(api.New(api.Config{Engine: &engine.Engine{}}).OpenAPI(), "", "  ")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := os.Stdout.Write(append(document, '\n')); err != nil {
		log.Fatal(err)
	}
}
