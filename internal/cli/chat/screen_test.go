package chat

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

// TestChatKeepsTheOrderOfTheChain checks that entries appear in the order of
// their events, even if they come fast, and if the person's own lines print
// between them.
func TestChatKeepsTheOrderOfTheChain(t *testing.T) {
	t.Parallel()
	const entries = 2000
	s := &session.Session{Console: terminal.Console{Now: time.Now, Width: 80}}
	m := &screen{chat: &conversation{s: s, thread: newThread(s, "task_1")}, ctx: t.Context(), input: textinput.New(), width: 80}
	// bubbletea writes from two goroutines. A file allows that, a buffer does
	// not.
	out, err := os.Create(filepath.Join(t.TempDir(), "screen"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close() //nolint:errcheck // only read from here on
	program := tea.NewProgram(m, tea.WithContext(t.Context()), tea.WithInput(strings.NewReader("")), tea.WithOutput(out),
		tea.WithoutSignalHandler(), tea.WithWindowSize(80, 24))
	go func() {
		for i := range entries {
			if i%7 == 0 {
				program.Send(lineResult{text: fmt.Sprintf("own-%d.", i)})
			}
			data, _ := json.Marshal(fermata.Progress{Message: fmt.Sprintf("entry-%d.", i)})
			program.Send(&entry{Event: &fermata.Event{Seq: int64(i), Type: fermata.EventProgressReported, Data: data}})
		}
		program.Send(streamEnded{})
	}()
	if _, err := program.Run(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile(`(entry|own)-(\d+)\.`).FindAllStringSubmatch(string(text), -1)
	last, own := -1, 0
	for _, found := range shown {
		n, _ := strconv.Atoi(found[2])
		if found[1] == "own" {
			own++
			if n != last+1 {
				t.Fatalf("the line of the person before entry %d stands behind entry %d", n, last)
			}
			continue
		}
		if n != last+1 {
			t.Fatalf("entry %d stands behind entry %d", n, last)
		}
		last = n
	}
	if last != entries-1 || own != (entries+6)/7 {
		t.Errorf("%d entries and %d lines of the person were shown", last+1, own)
	}
}
