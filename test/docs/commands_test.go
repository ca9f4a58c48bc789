package docs_test

import (
	"bytes"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/ports"
	"github.com/fermata-hq/fermata/test/process"
)

func TestMain(m *testing.M) { process.Main(m) }

// TestCommandsOfPages runs the commands of each page: its blocks that begin with ```sh, one after the other in one shell, in
// an empty home. Blocks that begin with ```sh no-run need what a test does not have, such as root or an account.
func TestCommandsOfPages(t *testing.T) {
	t.Parallel()
	pages := readPages(t)
	found := 0
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		commands := commandsOf(t, name, pages[name].source)
		if len(commands) == 0 {
			continue
		}
		found += len(commands)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runCommands(t, commands)
		})
	}
	if found < 100 {
		t.Errorf("only %d commands were found", found)
	}
}

// command is one command of a page.
type command struct {
	place, text string
	// isServer reports whether the command starts a server in the background.
	isServer bool
}

var shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// commandsOf returns the commands of a page. A reader who waits for something sleeps; the test waits for the next command
// to succeed instead.
func commandsOf(t *testing.T, name, source string) []command {
	t.Helper()
	var commands []command
	for _, block := range shellBlock.FindAllStringSubmatchIndex(source, -1) {
		firstLine := 1 + strings.Count(source[:block[2]], "\n")
		file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(source[block[2]:block[3]]), name)
		if err != nil {
			t.Fatalf("%s, the block at line %d: %v", name, firstLine, err)
		}
		for _, statement := range file.Stmts {
			var text bytes.Buffer
			if err := syntax.NewPrinter().Print(&text, statement); err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(text.String(), "sleep ") {
				continue
			}
			commands = append(commands, command{
				place: fmt.Sprintf("%s:%d", name, firstLine+int(statement.Pos().Line())-1), text: text.String(),
				isServer: statement.Background && strings.HasPrefix(text.String(), "fermata serve "),
			})
		}
	}
	return commands
}

// shellStart begins the script of a page. The function again waits a moment before a command is tried again, and ends the
// script when a command never succeeds.
const shellStart = `
again() {
  if [ $SECONDS -gt $LIMIT ]; then echo "$1 never succeeded" >&2; exit 1; fi
  sleep 0.2
}
`

// runCommands runs commands in one shell, each until it succeeds: the answer of an agent or a server may take its time.
func runCommands(t *testing.T, commands []command) {
	t.Helper()
	folder, address := process.TempFolder(t), ports.Address(t)
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	script := shellStart
	for _, c := range commands {
		text := strings.ReplaceAll(c.text, "127.0.0.1:7433", address)
		script += fmt.Sprintf("echo '+ %s'\nuntil {\n%s\n}; do again %s; done\n", c.place, text, c.place)
		if c.isServer {
			script += fmt.Sprintf("until (exec 3<>/dev/tcp/127.0.0.1/%s) 2>/dev/null; do again %s; done\n", port, c.place)
		}
	}
	programs := filepath.Join(folder, "bin")
	if err := os.Mkdir(programs, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(process.Binary(t), filepath.Join(programs, "fermata")); err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(folder, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	shell := exec.CommandContext(t.Context(), "bash", "-c", script)
	shell.Dir = work
	shell.Env = []string{
		"HOME=" + folder, "PATH=" + programs + ":" + os.Getenv("PATH"), "FERMATA_LISTEN=" + address, "FERMATA_URL=http://" + address,
		fmt.Sprintf("LIMIT=%.0f", patience.Limit().Seconds()), "LANG=C.UTF-8",
	}
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var output bytes.Buffer
	pipe, err := process.NewPipe(&output)
	if err != nil {
		t.Fatal(err)
	}
	shell.Stdout, shell.Stderr = pipe.File, pipe.File
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	err = shell.Wait()
	// The servers and workers of the page are in the shell's group.
	_ = syscall.Kill(-shell.Process.Pid, syscall.SIGKILL)
	pipe.End()
	if err != nil {
		t.Errorf("%v\n%s", err, output.String())
	}
}
