package docs_test

import (
	"bufio"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/ports"
	"github.com/fermata-hq/fermata/test/process"
)

// shell is the shell of a page. It has an empty home, an empty working folder, and an address for one server.
type shell struct {
	t *testing.T
	// ctx ends with the shell.
	ctx     context.Context
	address string
	service service
	// toTest replaces texts of the page by those of the test, and toPage does the opposite.
	toTest, toPage *strings.Replacer
	// outputFile gets the output of all commands. The first readBytes bytes of it were read.
	outputFile string
	readBytes  int
	commands   *os.File
	// end ends all processes of the page.
	end func()
	// statuses gets 0 for each command that succeeded and 1 for each that failed. It is closed when the shell has ended.
	statuses chan string
}

// loop reads commands that end with a zero byte, runs each in the shell itself, and writes its status.
const loop = `
set -e
has_succeeded() {
  for status_of_part; do
    case $status_of_part in 0 | 141) ;; *) return 1 ;; esac
  done
}
while IFS= read -r -d '' page_command <&3; do
  page_status=0
  eval "$page_command" 3<&- 4>&-
  echo $page_status >&4
done
`

// startShell starts the shell of a page, and the remote service that the page needs.
func startShell(t *testing.T, page string) *shell {
	t.Helper()
	home := process.TempFolder(t)
	s := &shell{t: t, ctx: patience.Context(t), address: ports.Address(t), outputFile: filepath.Join(home, "output"), statuses: make(chan string)}
	for _, folder := range []string{"bin", "tmp", "work"} {
		if err := os.Mkdir(filepath.Join(home, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(process.Binary(t), filepath.Join(home, "bin", "fermata")); err != nil {
		t.Fatal(err)
	}
	if start := services[page]; start != nil {
		s.service = start(t, s.address)
	}
	replaced := slices.Concat(s.service.replaced, []string{"127.0.0.1:7433", s.address})
	s.toTest = strings.NewReplacer(replaced...)
	slices.Reverse(replaced)
	s.toPage = strings.NewReplacer(replaced...)
	s.start(home)
	return s
}

// start starts the program. All processes of the page are in its process group, and end with the test.
func (s *shell) start(home string) {
	s.t.Helper()
	output, err := os.OpenFile(s.outputFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	repository, err := filepath.Abs(root)
	if err != nil {
		s.t.Fatal(err)
	}
	commands, commandsWriter := s.openPipe()
	statuses, statusesWriter := s.openPipe()
	ctx, cancel := context.WithCancel(s.ctx)
	cmd := exec.CommandContext(s.ctx, "bash", "-c", loop)
	s.ctx = ctx
	cmd.Dir = filepath.Join(home, "work")
	cmd.Env = slices.Concat(s.service.env, []string{
		"HOME=" + home, "TMPDIR=" + filepath.Join(home, "tmp"), "PATH=" + filepath.Join(home, "bin") + ":" + os.Getenv("PATH"), "LANG=C.UTF-8",
		"FERMATA_LISTEN=" + s.address, "FERMATA_URL=http://" + s.address, "REPOSITORY=" + repository,
	})
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = output, output, []*os.File{commands, statusesWriter}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	for _, file := range []*os.File{output, commands, statusesWriter} {
		_ = file.Close()
	}
	s.commands, s.end = commandsWriter, func() { _ = cmd.Cancel() }
	go func() {
		defer cancel()
		s.readStatuses(statuses)
	}()
	s.t.Cleanup(func() {
		s.end()
		_ = cmd.Wait()
		_ = commandsWriter.Close()
		for range s.statuses { // until the reader has ended
		}
	})
}

func (s *shell) openPipe() (reader, writer *os.File) {
	s.t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		s.t.Fatal(err)
	}
	return reader, writer
}

// readStatuses passes the statuses on until the shell ends.
func (s *shell) readStatuses(from *os.File) {
	defer func() { _ = from.Close() }()
	defer close(s.statuses)
	for lines := bufio.NewScanner(from); lines.Scan(); {
		s.statuses <- lines.Text()
	}
}

// run runs commands in the shell and returns what they print. If mustSucceed, the first one that fails ends the shell.
func (s *shell) run(commands string, mustSucceed bool) (output string, ok bool) {
	s.t.Helper()
	if !mustSucceed {
		commands = "if\n" + commands + "\nthen :; else page_status=1; fi"
	}
	if _, err := s.commands.WriteString(s.toTest.Replace(commands) + "\x00"); err != nil {
		return "the shell has ended", false
	}
	status := <-s.statuses
	data, err := os.ReadFile(s.outputFile)
	if err != nil {
		s.t.Fatal(err)
	}
	output = string(data[s.readBytes:])
	s.readBytes = len(data)
	return s.toPage.Replace(output), status == "0"
}

// awaitServer waits until the server that was started last is ready.
func (s *shell) awaitServer(place string) {
	s.t.Helper()
	isRunning := true
	patience.Until(func() bool {
		_, isRunning = s.run("kill -0 $! 2>/dev/null", false)
		return !isRunning || s.isReady()
	})
	if !isRunning || !s.isReady() {
		output, _ := s.run("cat *.log", false)
		s.t.Fatalf("%s: the server does not become ready\n%s", place, output)
	}
}

func (s *shell) isReady() bool {
	req, err := http.NewRequestWithContext(s.ctx, http.MethodGet, "http://"+s.address+"/readyz", http.NoBody)
	if err != nil {
		return false
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return res.StatusCode == http.StatusOK
}
