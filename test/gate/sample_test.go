package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// sampleEnv names the variable that makes this test binary the gate of a sample.
const sampleEnv = "GATE_SAMPLE"

func TestMain(m *testing.M) {
	if os.Getenv(sampleEnv) != "" {
		os.Exit(startSample())
	}
	os.Exit(m.Run())
}

// startSample runs a gate with two groups: steps, and the tests of the module in the current folder. SAMPLE_STEP and
// SAMPLE_BESIDE are the commands of two steps that run at the same time. SAMPLE_DISK is the free disk space, in bytes,
// that the gate needs. SAMPLE_OTHERS adds a group for the tests in the folder other.
func startSample() int {
	return start(func(g *gate) {
		repository := os.Getenv(sampleEnv)
		g.tool = filepath.Join(repository, "scripts", "tool")
		g.withPostgres = os.Getenv("SAMPLE_WITH_POSTGRES")
		g.minDiskBytes, _ = strconv.ParseUint(os.Getenv("SAMPLE_DISK"), 10, 64)
		fetches := os.Getenv("SAMPLE_FETCHES") != ""
		first := step{name: "the step", command: strings.Fields(os.Getenv("SAMPLE_STEP")), fetches: fetches, needed: fetches}
		beside := step{name: "the step beside it", command: strings.Fields(os.Getenv("SAMPLE_BESIDE")), concurrent: true}
		g.groups = []*group{
			{name: "prepare", description: "two steps", always: true, run: g.steps(func(*gate) []step { return []step{beside, first} })},
			g.testGroup("rooms", "tests", suite{name: "rooms", packages: allExcept(allPackages, folders("other")), limit: time.Minute, cgo: os.Getenv("CGO_ENABLED") == "1"}),
		}
		if os.Getenv("SAMPLE_OTHERS") != "" {
			g.groups = append(g.groups, g.testGroup("others", "more tests", suite{name: "others", packages: folders("other"), limit: time.Minute}))
		}
	})
}

// onceBroken is a Go file whose function fails returns true only in the first process that calls it.
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

// sample is a small module with one test, and the output of its gate.
type sample struct {
	*testing.T

	folder string
	env    []string
	out    output
}

// newSample creates a module whose TestIt has the body. The file also contains more.
func newSample(t *testing.T, body, more string) *sample {
	t.Helper()
	repository, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	s := &sample{T: t, folder: t.TempDir()}
	s.write("go.mod", "module example.org/sample\n\ngo 1.26\n")
	s.write("once.go", onceBroken)
	s.write("it_test.go", "package sample\n\nimport (\n\t\"fmt\"\n\t\"os\"\n\t\"os/exec\"\n\t\"runtime\"\n\t\"strings\"\n\t\"syscall\"\n\t\"testing\"\n\t\"time\"\n)\n\n"+
		"var _, _, _, _, _, _, _ = fmt.Sprint, os.Exit, exec.Command, runtime.Goexit, strings.HasSuffix, syscall.Kill, time.Now\n\n"+
		"func TestIt(t *testing.T) { "+body+" }\n\n"+more+"\n")
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	// The tools and Go's build cache are shared with this repository. The rest of the cache is the sample's own.
	own := t.TempDir()
	if err := os.MkdirAll(filepath.Join(own, "fermata"), 0o750); err != nil {
		t.Fatal(err)
	}
	for _, kept := range []string{"go-build", "fermata/tools"} {
		if err := os.Symlink(filepath.Join(cache, kept), filepath.Join(own, kept)); err != nil {
			t.Fatal(err)
		}
	}
	s.env = []string{sampleEnv + "=" + repository, "XDG_CACHE_HOME=" + own, "GOFLAGS=", "GOWORK=off", "GROUP=", "PACKAGE=", "RUN=", "GATE_ROW=", "TEST_FLAGS=-count=1",
		"SAMPLE_STEP=true", "SAMPLE_BESIDE=true", "FERMATA_TEST_POSTGRES=none", "SAMPLE_WITH_POSTGRES=" + filepath.Join(repository, "scripts", "with-postgres")}
	return s
}

// start starts the gate of the sample.
func (s *sample) start() *exec.Cmd {
	s.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(s.Context()), os.Args[0])
	cmd.Dir, cmd.Env = s.folder, append(os.Environ(), s.env...)
	cmd.Stdout, cmd.Stderr = &s.out, &s.out
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	return cmd
}

// run runs the gate of the sample to its end.
func (s *sample) run() *sample {
	s.Helper()
	_ = s.start().Wait()
	return s
}

// wantOutput fails the test unless the output of the gate contains each of the texts.
func (s *sample) wantOutput(texts ...string) {
	s.Helper()
	for _, text := range texts {
		if out := s.out.String(); !strings.Contains(out, text) {
			s.Errorf("the gate does not say %q:\n%s", text, out)
		}
	}
}

func (s *sample) write(name, text string) {
	s.Helper()
	path := filepath.Join(s.folder, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o750), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		s.Fatal(err)
	}
}

// output holds the output of a process so far.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
