package docs_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/process"
)

// At least so many commands of the pages run, and at most so many do not. Otherwise marks would spread.
const (
	minRunCommands     = 230
	maxSkippedCommands = 40
)

func TestMain(m *testing.M) { process.Main(m) }

// TestCommandsOfPages runs the commands of each page in one shell: its blocks that begin with ```sh, one after the other.
// A block of text right behind them shows what they print. Blocks that begin with ```sh no-run need something that a test
// does not have, such as root or an account.
func TestCommandsOfPages(t *testing.T) {
	t.Parallel()
	blocks := readBlocks(t)
	ran, skipped := 0, 0
	for _, name := range slices.Sorted(maps.Keys(blocks)) {
		var run []block
		for _, b := range blocks[name] {
			switch {
			case b.isRun():
				run = append(run, b)
				ran += len(b.statements)
			case name != generatedPage:
				skipped += len(b.statements)
			}
		}
		if len(run) > 0 {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				runPage(t, run)
			})
		}
	}
	t.Logf("%d commands run, %d do not", ran, skipped)
	if ran < minRunCommands || skipped > maxSkippedCommands {
		t.Errorf("%d commands run, and %d do not: at least %d must run, and at most %d may be left out", ran, skipped, minRunCommands, maxSkippedCommands)
	}
}

// runPage runs the blocks of a page.
func runPage(t *testing.T, blocks []block) {
	t.Helper()
	s := startShell(t, blocks[0].page)
	for _, b := range blocks {
		preparation := block{page: b.page, line: b.line, kind: "sh", source: b.prepare}
		parseBlock(t, &preparation)
		s.runBlock(preparation)
		s.runBlock(b)
	}
	if s.service.check != nil {
		s.service.check()
	}
}

// runBlock runs a block and compares what it prints with the page. Where the page sleeps, a reader waits for something
// that happens in the background. The test does not sleep: it repeats the commands behind the sleep until they succeed
// and, at the end of the block, print what the page shows.
func (s *shell) runBlock(b block) {
	s.t.Helper()
	stages := splitAtSleeps(s.t, b)
	printed := ""
	for i, stage := range stages {
		isLast := i == len(stages)-1
		if i == 0 {
			printed += s.runOnce(stage)
			continue
		}
		output, problem := "", ""
		if !patience.Until(func() bool {
			if output, problem = s.tryStage(stage); problem == "" && isLast {
				problem = compareOutput(b.output, printed+output)
			}
			return problem == "" || s.ctx.Err() != nil
		}) || problem != "" {
			s.t.Fatalf("%s:%d: %s\nThe commands printed:\n%s", b.page, b.line, problem, output)
		}
		printed += output
	}
	if problem := compareOutput(b.output, printed); problem != "" {
		s.t.Errorf("%s:%d: %s\nThe commands printed:\n%s", b.page, b.line, problem, printed)
	}
}

// runOnce runs commands that must succeed at once, and returns what they print.
func (s *shell) runOnce(stage []command) string {
	s.t.Helper()
	printed := ""
	for _, c := range stage {
		if c.isForegroundServer() {
			s.serve(c)
			continue
		}
		person := s.startPerson(c)
		output, ok := s.run(c.checkedText(), true)
		if err := person.wait(); err != nil {
			s.t.Fatalf("%s: nobody could answer: %v", c.place, err)
		}
		if !ok {
			s.t.Fatalf("%s failed: %s\n%s", c.place, c.text, output)
		}
		printed += output
		if c.isServer() {
			s.awaitServer(c.place)
		}
	}
	return printed
}

// serve starts a server that a reader starts in another terminal. It replaces the one before it. Its first admin signs in.
func (s *shell) serve(c command) {
	s.t.Helper()
	output, ok := s.run("if [ -n \"$page_server\" ]; then kill $page_server; wait $page_server; fi\n"+
		c.text+" > serve.log 2>&1 &\npage_server=$!", true)
	if !ok {
		s.t.Fatalf("%s: the server before this one did not stop well:\n%s", c.place, output)
	}
	s.awaitServer(c.place)
	const login = "if grep -q '^First start' serve.log; then grep -o 'fmt_[A-Za-z0-9]*' serve.log | head -n 1 | fermata login --url http://127.0.0.1:7433; fi"
	if output, ok = s.run(login, true); !ok {
		s.t.Fatalf("%s: the first admin cannot sign in:\n%s", c.place, output)
	}
}

// tryStage runs commands until one fails, and returns what they print and the problem.
func (s *shell) tryStage(stage []command) (printed, problem string) {
	s.t.Helper()
	for _, c := range stage {
		output, ok := s.run(c.checkedText(), false)
		printed += output
		if !ok {
			return printed, fmt.Sprintf("%s never succeeds: %s", c.place, c.text)
		}
	}
	return printed, ""
}
