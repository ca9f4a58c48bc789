package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/process"
)

// leaves is the body of a test that starts a process in its own session, writes its process id to a file and leaves it.
const leaves = `
	cmd := exec.Command("sleep", "600")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil { t.Fatal(err) }
	if err := os.WriteFile("new", []byte(fmt.Sprint(cmd.Process.Pid)), 0o600); err != nil { t.Fatal(err) }
	if err := os.Rename("new", "pid"); err != nil { t.Fatal(err) }
`

func TestWhatATestLeavesBehindIsRed(t *testing.T) {
	t.Parallel()
	s := newSample(t, leaves, "")
	s.run().wantOutput("==> red: rooms: left a process behind, which is ended now", "sleep 600 (in ", "==> red: 1 failed (")
	s.assertGone()
}

func TestAnInterruptedGateLeavesNothing(t *testing.T) {
	t.Parallel()
	s := newSample(t, leaves+"select {}", "")
	cmd := s.start()
	s.await("pid")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit status %d", code)
	}
	s.wantOutput("==> interrupted in the group rooms", "prepare ")
	s.assertGone()
}

func TestTwoGatesTakeTurns(t *testing.T) {
	t.Parallel()
	first := newSample(t, `for { if _, err := os.Stat("go on"); err == nil { return }; if _, err := os.Stat("begun"); err != nil { _ = os.WriteFile("begun", nil, 0o600) }; time.Sleep(20*time.Millisecond) }`, "")
	second := newSample(t, "", "")
	second.env = append(second.env, "XDG_CACHE_HOME="+envValue(first.env, "XDG_CACHE_HOME"))
	a := first.start()
	first.await("begun")
	b := second.start()
	patience.Await(t, "the second gate waits", func() bool { return strings.Contains(second.out.String(), "waits for its turn") })
	first.write("go on", "")
	_, _ = a.Wait(), b.Wait()
	first.wantOutput("==> green (")
	second.wantOutput("==> green (")
}

func TestWhatCannotBeHadIsNotRed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		env  []string
		says []string
	}{
		"no network":    {[]string{"SAMPLE_STEP=go mod download golang.org/x/sys@v0.0.1-none", "SAMPLE_FETCHES=yes", "GOPROXY=off"}, []string{"==> infrastructure: the step could not be had"}},
		"no PostgreSQL": {[]string{"SAMPLE_WITH_POSTGRES=false"}, []string{"==> infrastructure: PostgreSQL"}},
		"a full disk":   {[]string{fmt.Sprintf("SAMPLE_DISK=%d", uint64(1)<<60)}, []string{"infrastructure: ", "make clean"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSample(t, `t.Error("wrong")`, "")
			s.env = append(s.env, tt.env...)
			cmd := s.start()
			_ = cmd.Wait()
			s.wantOutput(tt.says...)
			if code := cmd.ProcessState.ExitCode(); code != exitInfrastructure {
				t.Errorf("exit status %d", code)
			}
		})
	}
}

func TestEveryGroupRuns(t *testing.T) {
	t.Parallel()
	s := newSample(t, "", "")
	s.env = append(s.env, "SAMPLE_STEP=false", "SAMPLE_BESIDE=ls /no/such/{folder}")
	s.run().wantOutput("==> red: prepare: the step\n", "==> red: prepare: the step beside it\n", "cannot access '/no/such/{folder}'", "once more: ls '/no/such/{folder}'\n", "DONE 1 tests", "==> red: 2 failed (")
}

func TestPartsOfAGroup(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		env  []string
		says string
	}{
		"one test":          {[]string{"GROUP=rooms", "RUN=^TestOther$"}, "==> green ("},
		"a folder":          {[]string{"GROUP=rooms", "PACKAGE=part"}, "==> green ("},
		"folders":           {[]string{"GROUP=rooms", "PACKAGE=./part/... ./part"}, "==> green ("},
		"no test":           {[]string{"GROUP=rooms", "RUN=^TestNone$"}, "==> red: rooms: no test was run: none has a name that RUN='^TestNone$' matches"},
		"no such folder":    {[]string{"GROUP=rooms", "PACKAGE=./none"}, "there is no folder ./none; a package is named by its folder"},
		"another group":     {[]string{"GROUP=rooms", "PACKAGE=other"}, "./other belongs to the group others: set GROUP=others"},
		"no group of tests": {[]string{"GROUP=prepare", "PACKAGE=part"}, "the group prepare holds checks of everything"},
		"no pattern":        {[]string{"GROUP=rooms", "RUN=["}, "RUN is no pattern of go test -run: error parsing regexp"},
		"no such group":     {[]string{"GROUP=room"}, `there is no group "room"; the groups are prepare, rooms, others`},
		"of which group":    {[]string{"RUN=^TestOther$"}, "set GROUP too"},
		"a row of a table":  {[]string{"GROUP=rooms", "RUN=^TestOther$", "GATE_ROW=rows"}, "==> green ("},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSample(t, `t.Error("wrong")`, "func TestOther(t *testing.T) {}")
			s.env = append(append(s.env, "SAMPLE_OTHERS=yes"), tt.env...)
			for _, folder := range []string{"part", "other"} {
				s.write(folder+"/it_test.go", "package it\n\nimport \"testing\"\n\nfunc TestPart(*testing.T) {}\n")
			}
			s.run().wantOutput(tt.says)
			if row, err := os.ReadFile(filepath.Join(s.folder, "rows")); name == "a row of a table" && !strings.Contains(string(row), "| green |") {
				t.Errorf("the row: %s (%v)", row, err)
			}
		})
	}
}

func envValue(env []string, name string) string {
	for _, line := range env {
		if text, found := strings.CutPrefix(line, name+"="); found {
			return text
		}
	}
	return ""
}

// await waits until the test of the sample has written a file.
func (s *sample) await(name string) {
	s.Helper()
	patience.Await(s.T, "the test writes "+name, func() bool {
		_, err := os.Stat(filepath.Join(s.folder, name))
		return err == nil
	})
}

// assertGone fails the test if the process is alive. A zombie counts as dead. The sample wrote its process id to the
// file pid.
func (s *sample) assertGone() {
	s.Helper()
	text, err := os.ReadFile(filepath.Join(s.folder, "pid"))
	if err != nil {
		s.Fatal(err)
	}
	pid, err := strconv.Atoi(string(text))
	if err != nil {
		s.Fatal(err)
	}
	if process.IsRunning(pid) {
		s.Errorf("process %d lives on", pid)
	}
}

func TestScratch(t *testing.T) {
	t.Parallel()
	for name, memory := range map[string]string{"no memory": filepath.Join(t.TempDir(), "none"), "memory": t.TempDir()} {
		folder, err := makeScratch(memory)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(folder) })
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			t.Errorf("%s: %v", name, err)
		}
	}
	memory := t.TempDir()
	abandoned, other := filepath.Join(memory, "fermata-999999999"), filepath.Join(memory, "fermata-other")
	for _, folder := range []string{abandoned, other} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	removeAbandoned(memory)
	if _, err := os.Stat(abandoned); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what a killed gate left: %v", err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Errorf("what is somebody else's: %v", err)
	}
}
