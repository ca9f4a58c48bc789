package api_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fermata-hq/fermata/internal/api"
)

// readSlowly reads the body of the request, and waits before it replies.
func readSlowly(w http.ResponseWriter, r *http.Request) {
	if _, err := io.ReadAll(r.Body); err != nil {
		http.Error(w, "cut off", http.StatusRequestTimeout)
		return
	}
	select {
	case <-time.After(time.Minute):
		fmt.Fprintln(w, "heard")
	case <-r.Context().Done():
		http.Error(w, "given up", http.StatusInternalServerError)
	}
}

// A client that never ends its request cannot keep a connection forever, even if the request is refused before its
// body is read. A handler that replies late is not cut off.
func TestASlowBodyIsCutOff(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		path           string
		length, status int
	}{
		"a body that ends":                {"/slowly", 3, http.StatusOK},
		"a body that does not":            {"/slowly", 10, http.StatusRequestTimeout},
		"a body without a token":          {"/v1/tasks", 10, http.StatusUnauthorized},
		"a body of a channel that is not": {"/v1/inbound/nose/x", 10, http.StatusNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server := api.New(api.Config{Engine: engineAlone(t)})
				server.Mount(api.Mount{Path: "/slowly", Handler: http.HandlerFunc(readSlowly), Open: true})
				conn := connectTo(t, server)
				if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\nabc", tt.path, tt.length); err != nil {
					t.Fatal(err)
				}
				res, err := http.ReadResponse(bufio.NewReader(conn), nil)
				if err != nil {
					t.Fatal(err)
				}
				defer res.Body.Close()
				if res.StatusCode != tt.status {
					t.Errorf("got %s", res.Status)
				}
			})
		})
	}
}
