package agent

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata/internal/agentcheck"
	"github.com/fermata-hq/fermata/internal/scriptedmodel"
	"github.com/fermata-hq/fermata/test/process"
)

// Room is the sealed-off place in which one agent program runs.
type Room struct {
	*agentcheck.IsolatedHome
	// Model is the scripted model that the program talks to.
	Model *scriptedmodel.Model
}

// NewRoom starts a model that plays the script, and creates the folders.
func NewRoom(tb testing.TB, script scriptedmodel.Script) *Room {
	tb.Helper()
	model := scriptedmodel.New(script)
	server := httptest.NewServer(model)
	tb.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		if tb.Failed() {
			tb.Logf("the model was asked:\n%s", Transcript(model))
		}
	})
	room, err := agentcheck.NewIsolatedHome(process.TempFolder(tb), server.URL)
	if err != nil {
		tb.Fatal(err)
	}
	return &Room{room, model}
}

// Transcript returns the requests to the model and its replies, for people.
func Transcript(m *scriptedmodel.Model) string {
	var sb strings.Builder
	for _, r := range m.AllRequests() {
		sb.WriteString(r.Kind + " " + r.Path + " " + r.Rule + "\n")
		if r.Conversation != nil {
			for _, it := range r.Conversation.Entries {
				sb.WriteString("    " + string(it.Role) + " " + it.Name + " " + clip(it.Text, 500) + "\n")
			}
		}
		for _, line := range r.Reply {
			sb.WriteString("    -> " + clip(line, 500) + "\n")
		}
	}
	return sb.String()
}

func clip(s string, n int) string {
	if len(s) > n {
		return s[:n] + "…"
	}
	return s
}
