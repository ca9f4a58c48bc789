package command

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
)

// A program that renames its inbox does not read it again. Later messages are not written anywhere, so that the next
// run is handed them.
func TestNothingIsWrittenToAnInboxThatIsGone(t *testing.T) {
	t.Parallel()
	p, err := newRunFiles(&fermata.Claim{Task: &fermata.Task{ID: "task_1"}, Run: &fermata.Run{ID: "run_1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.remove()
	words := &fermata.ResumeContext{TaskID: "task_1", Text: "Use tabs."}
	if !p.appendToInbox(words) {
		t.Fatal("the inbox took no line while it was there")
	}
	if err := os.Rename(p.inbox, p.inbox+".read"); err != nil {
		t.Fatal(err)
	}
	if p.appendToInbox(words) {
		t.Error("a line counts as written though the program had taken its inbox away")
	}
	if _, err := os.Stat(p.inbox); !os.IsNotExist(err) {
		t.Errorf("the inbox is there again: %v", err)
	}
}

// A line that is written while the program takes its inbox away counts as told only if the program can read it.
func TestInboxTakenAwayDuringAWriteHoldsWhatCounts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 2000 {
		p := &runFiles{inbox: filepath.Join(dir, strconv.Itoa(i))}
		if err := os.WriteFile(p.inbox, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		began, told := make(chan time.Time, 1), make(chan bool)
		go func() {
			began <- time.Now()
			told <- p.appendToInbox(&fermata.ResumeContext{TaskID: "task_1", Text: "Use tabs."})
		}()
		// Each iteration hits another moment of the write.
		for start, moment := <-began, time.Duration(i%60)*time.Microsecond; time.Since(start) < moment; {
		}
		if err := os.Rename(p.inbox, p.inbox+".read"); err != nil {
			t.Fatal(err)
		}
		read, err := os.ReadFile(p.inbox + ".read")
		if err != nil {
			t.Fatal(err)
		}
		if <-told && len(read) == 0 {
			t.Fatalf("round %d: what the program did not read counts as told", i)
		}
	}
}
