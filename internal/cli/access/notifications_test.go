package access_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/clitest"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

func TestNotificationsTellWhichDeadlinesComeThrough(t *testing.T) {
	t.Parallel()
	for deadlines, want := range map[fermata.QuietDeadlines]string{
		"":                    "deadlines: an urgent question comes through if its deadline is before the end of the quiet hours\n",
		fermata.DeadlinesAll:  "deadlines: every question comes through if its deadline is before the end of the quiet hours\n",
		fermata.DeadlinesNone: "deadlines: no question comes through because of its deadline\n",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_ = json.NewEncoder(w).Encode(fermata.Preferences{Quiet: &fermata.QuietHours{From: "22:00", To: "07:00", Deadlines: deadlines}})
		}))
		code, out, talk := clitest.Run(t, "", "--url", server.URL, "notifications")
		server.Close()
		if code != session.ExitOK || !strings.HasSuffix(out, want) {
			t.Errorf("%q: exit code %d, it printed %q and %q", deadlines, code, out, talk)
		}
	}
}
