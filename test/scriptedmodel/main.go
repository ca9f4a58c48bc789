// Command scriptedmodel serves the scripted model, to try an agent program by hand.
//
//	go run ./test/scriptedmodel -script script.json [-log requests.jsonl] [-listen 127.0.0.1:0] [-portfile FILE]
//
// It prints its address P. The base address for a client is
//
//	Anthropic  http://P       (ANTHROPIC_BASE_URL)
//	OpenAI     http://P/v1    (Responses and Chat Completions)
//	Gemini     http://P       (GOOGLE_GEMINI_BASE_URL)
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/fermata-hq/fermata/internal/scriptedmodel"
)

func main() {
	script := flag.String("script", "", "script file (JSON)")
	log := flag.String("log", "", "append a line of JSON for each request to this file")
	listen := flag.String("listen", "127.0.0.1:0", "where to listen")
	portFile := flag.String("portfile", "", "write the port into this file")
	flag.Parse()
	if err := serve(*script, *log, *listen, *portFile); err != nil {
		fmt.Fprintln(os.Stderr, "scriptedmodel:", err)
		os.Exit(1)
	}
}

func serve(script, log, listen, portFile string) error {
	data, err := os.ReadFile(script)
	if err != nil {
		return err
	}
	s, err := scriptedmodel.Parse(data)
	if err != nil {
		return err
	}
	model := scriptedmodel.New(s)
	if log != "" {
		file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }()
		model.LogTo(file)
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", listen)
	if err != nil {
		return err
	}
	fmt.Println("listening on http://" + listener.Addr().String())
	if portFile != "" {
		_, port, err := net.SplitHostPort(listener.Addr().String())
		if err != nil {
			return err
		}
		if err := os.WriteFile(portFile, []byte(port), 0o600); err != nil {
			return err
		}
	}
	return (&http.Server{Handler: model, ReadHeaderTimeout: time.Minute}).Serve(listener)
}
