package agent

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata/test/scriptedmodel"
)

// Room is where one agent program runs, sealed off.
type Room struct {
	// Model is what the program talks to, at the address URL.
	Model *scriptedmodel.Model
	URL   string
	// Home, Work and Temp are its folders; it starts in Work.
	Home, Work, Temp string
}

// NewRoom starts a model that plays the script, and makes the folders.
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
	base := tb.TempDir()
	r := &Room{
		Model: model, URL: server.URL,
		Home: filepath.Join(base, "home"), Work: filepath.Join(base, "work"), Temp: filepath.Join(base, "tmp"),
	}
	for _, dir := range []string{r.Home, r.Work, r.Temp} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			tb.Fatal(err)
		}
	}
	return r
}

// Transcript is what the model was asked and what it replied, for people.
func Transcript(m *scriptedmodel.Model) string {
	var sb strings.Builder
	for _, r := range m.Everything() {
		sb.WriteString(r.Kind + " " + r.Path + " " + r.Rule + "\n")
		if r.Conversation != nil {
			for _, it := range r.Conversation.Items {
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
