package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRepeatsAreJudged runs the gate on small modules. A test that fails once may pass when it is repeated; every other
// failure stays red.
func TestRepeatsAreJudged(t *testing.T) {
	const (
		green    = "==> green ("
		repeated = "==> green, but 1 passed only when repeated ("
		red      = "==> red: 1 failed ("
	)
	for name, tt := range map[string]struct {
		test    string // the body of TestIt
		more    string // the rest of the file
		flags   string
		verdict string
		says    string
	}{
		"passes":            {test: ``, verdict: green, says: "DONE 1 tests"},
		"fails once":        {test: `if fails() { t.Error("too late") }`, verdict: repeated, says: "passed only when repeated: example.org/sample.TestIt\n"},
		"a part fails once": {test: `t.Run("part", func(t *testing.T) { if fails() { t.Error("too late") } })`, verdict: repeated, says: "example.org/sample.TestIt/part\n"},
		"fails always":      {test: `t.Log("FERMATA_SEED=7"); t.Error("wrong")`, verdict: red, says: "once more: FERMATA_SEED=7 make test GROUP=rooms PACKAGE=. RUN='^TestIt$$'"},
		"never ran again":   {test: `t.Run(fmt.Sprint("part ", fails()), func(t *testing.T) { if strings.HasSuffix(t.Name(), "true") { t.Error("too late") } })`, verdict: red, says: "TestIt/part_true failed"},
		"panics once":       {test: `if fails() { panic("lost") }`, verdict: red, says: "example.org/sample.TestIt: panic: lost"},
		"ends once":         {test: `if fails() { os.Exit(0) }`, verdict: red, says: "example.org/sample.TestIt: panic: unexpected call to os.Exit(0)"},
		"is killed once":    {test: `if fails() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) }`, verdict: red, says: "example.org/sample.TestIt: signal: killed"},
		"hangs once":        {test: `if fails() { select {} }`, flags: "-timeout=2s", verdict: red, says: "example.org/sample.TestIt: panic: test timed out"},
		"leaks once": {
			more:    `func TestMain(m *testing.M) { code := m.Run(); if fails() { code = 1 }; os.Exit(code) }`,
			verdict: red, says: "example.org/sample failed without a failed test",
		},
		"leaks beside a failure": {
			test:    `if fails() { t.Error("too late") }`,
			more:    `func TestMain(m *testing.M) { code := m.Run(); if code != 0 { fmt.Println("goroutines outlived the tests:") }; os.Exit(code) }`,
			verdict: red, says: "example.org/sample: goroutines outlived the tests",
		},
		"races once": {
			test:  `if fails() { n := 0; done := make(chan bool); go func() { n++; close(done) }(); n++; <-done }`,
			flags: "-race", verdict: red, says: "red: rooms: example.org/sample.TestIt: ",
		},
		"draws values":      {test: `if fails() { t.Error("[rapid] failed after 3 tests") }`, verdict: red, says: "example.org/sample.TestIt failed; a property test"},
		"does not compile":  {test: `wrong()`, verdict: red, says: "example.org/sample does not compile"},
		"guards data":       {more: `func TestMigrates(t *testing.T) { if fails() { t.Error("lost") } }`, verdict: red, says: "example.org/sample.TestMigrates failed; its repeats do not count"},
		"loses another one": {test: `if fails() { t.Error("too late") }`, more: `func TestOther(t *testing.T) { if _, err := os.Stat("failed"); err == nil { runtime.Goexit() } }`, verdict: "==> red: "},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSample(t, tt.test, tt.more)
			s.env = append(s.env, "TEST_FLAGS=-count=1 "+tt.flags, "CGO_ENABLED=1")
			s.run().wantOutput(tt.verdict, tt.says)
		})
	}
}

// If test/flakes.md names a test, the gate reports it as known, even if only a subtest of it failed.
func TestAKnownFlakeIsToldAsOne(t *testing.T) {
	s := newSample(t, `t.Run("part", func(t *testing.T) { if fails() { t.Error("too late") } })`, "")
	s.write("test/flakes.md", "| `TestIt` | too late | nobody knows |\n")
	rows := filepath.Join(s.folder, "rows.md")
	s.env = append(s.env, "GATE_ROW="+rows)
	s.run().wantOutput("passed only when repeated: example.org/sample.TestIt/part\n", "test/flakes.md knows it")
	if row, err := os.ReadFile(rows); err != nil || !strings.HasSuffix(string(row), " | TestIt/part |\n") {
		t.Errorf("the row of the run is %q: %v", row, err)
	}
}
