package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// onceBroken is a Go file whose function fails is true in the first process that calls it.
const onceBroken = `package sample

import "os"

func fails() bool {
	file, err := os.OpenFile("failed", os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return false
	}
	_ = file.Close()
	return true
}
`

// TestRepeatsAreJudged runs small modules through scripts/test-group, as the gate runs its
// groups: a test that fails once may pass when repeated, everything else stays red.
func TestRepeatsAreJudged(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	tools := t.TempDir()
	script := filepath.Join(root, "scripts", "test-group")
	if out, err := exec.CommandContext(t.Context(), script, "--build", tools).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const repeated = "passed only when repeated: example.org/sample.TestIt"
	for name, tt := range map[string]struct {
		test  string // the body of TestIt
		more  string // what else the file holds
		flags []string
		green bool
		says  string
	}{
		"passes":            {test: ``, green: true, says: "DONE 1 tests"},
		"fails once":        {test: `if fails() { t.Error("too late") }`, green: true, says: repeated},
		"a part fails once": {test: `t.Run("part", func(t *testing.T) { if fails() { t.Error("too late") } })`, green: true, says: repeated + "/part"},
		"fails always":      {test: `t.Error("wrong")`, says: "red: example.org/sample.TestIt failed"},
		"never ran again":   {test: `t.Run(fmt.Sprint("part ", fails()), func(t *testing.T) { if strings.HasSuffix(t.Name(), "true") { t.Error("too late") } })`, says: "TestIt/part_true failed"},
		"panics once":       {test: `if fails() { panic("lost") }`, says: "red: example.org/sample: panic: lost"},
		"ends once":         {test: `if fails() { os.Exit(0) }`, says: "red: example.org/sample: panic: unexpected call to os.Exit(0)"},
		"is killed once":    {test: `if fails() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) }`, says: "red: example.org/sample: signal: killed"},
		"hangs once":        {test: `if fails() { select {} }`, flags: []string{"-timeout=2s"}, says: "red: example.org/sample: panic: test timed out"},
		"leaks once": {
			more: `func TestMain(m *testing.M) { code := m.Run(); if fails() { code = 1 }; os.Exit(code) }`,
			says: "red: example.org/sample failed without a failed test",
		},
		"leaks beside a failure": {
			test: `if fails() { t.Error("too late") }`,
			more: `func TestMain(m *testing.M) { code := m.Run(); if code != 0 { fmt.Println("goroutines outlived the tests:") }; os.Exit(code) }`,
			says: "red: example.org/sample: goroutines outlived the tests",
		},
		"races once": {
			test:  `if fails() { n := 0; done := make(chan bool); go func() { n++; close(done) }(); n++; <-done }`,
			flags: []string{"-race"}, says: "red: example.org/sample: ",
		},
		"draws values":      {test: `if fails() { t.Error("[rapid] failed after 3 tests") }`, says: "red: example.org/sample.TestIt failed; a property test"},
		"does not compile":  {test: `wrong()`, says: "red: example.org/sample does not compile"},
		"guards data":       {more: `func TestMigrates(t *testing.T) { if fails() { t.Error("lost") } }`, says: "red: example.org/sample.TestMigrates failed; its repeats do not count"},
		"loses another one": {test: `if fails() { t.Error("too late") }`, more: `func TestOther(t *testing.T) { if _, err := os.Stat("failed"); err == nil { runtime.Goexit() } }`, says: "red: "},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			write(t, folder, "go.mod", "module example.org/sample\n\ngo 1.26\n")
			write(t, folder, "once.go", onceBroken)
			write(t, folder, "it_test.go", "package sample\n\nimport (\n\t\"fmt\"\n\t\"os\"\n\t\"runtime\"\n\t\"strings\"\n\t\"syscall\"\n\t\"testing\"\n)\n\n"+
				"var _, _, _, _, _ = fmt.Sprint, os.Exit, runtime.Goexit, strings.HasSuffix, syscall.Kill\n\n"+
				"func TestIt(t *testing.T) { "+tt.test+" }\n\n"+tt.more+"\n")
			green, out := runGroup(t.Context(), script, tools, folder, tt.flags)
			if green != tt.green || !strings.Contains(out, tt.says) {
				t.Errorf("green: %v, said:\n%s", green, out)
			}
		})
	}
}

// runGroup tests the module in the folder and reports whether the group is green.
func runGroup(ctx context.Context, script, tools, folder string, flags []string) (green bool, out string) {
	args := append([]string{filepath.Join(folder, "events.json"), "./...", "-vet=off", "-count=1"}, flags...)
	cmd := exec.CommandContext(ctx, script, args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "FERMATA_TEST_TOOLS="+tools, "CGO_ENABLED=1", "GOFLAGS=", "GOWORK=off")
	text, err := cmd.CombinedOutput()
	return err == nil, string(text)
}

func write(t *testing.T, folder, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
