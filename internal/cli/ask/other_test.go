package ask_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/clitest"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

// The value of --other is sent, even if it is false.
func TestOtherIsSentAsItIsSaid(t *testing.T) {
	t.Parallel()
	for flag, want := range map[string]string{"--other": "true", "--other=true": "true", "--other=false": "false", "--multi": ""} {
		var sent map[string]json.RawMessage
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
				t.Error(err)
			}
			_ = json.NewEncoder(w).Encode(fermata.Question{ID: "q_1"})
		}))
		code, _, talk := clitest.Run(t, "", "--url", server.URL, "ask", "Which?", "-o", "a", "-o", "b", flag)
		server.Close()
		if got := string(sent["other"]); code != session.ExitOK || got != want {
			t.Errorf("%s: exit %d, other is %q, not %q\n%s", flag, code, got, want, talk)
		}
	}
}
