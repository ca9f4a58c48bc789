package stories

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// tmux runs tmux with a server for this script, and returns its output.
func tmux(ts *testscript.TestScript, args ...string) (string, error) {
	dir := ts.MkAbs(".tmux")
	ts.Check(os.MkdirAll(dir, 0o700))
	cmd := of(ts).command(ts, "tmux", append([]string{"-u", "-L", "story", "-f", os.DevNull}, args...)...)
	cmd.Env = append(cmd.Env, "TMUX_TMPDIR="+dir, "TERM=xterm-256color", "LANG=C.UTF-8")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// cmdScreen runs a command on a terminal of its own.
func cmdScreen(ts *testscript.TestScript, args []string) {
	usage(ts, len(args) >= 3, "screen NAME WIDTHxHEIGHT CMD...")
	width, height, _ := strings.Cut(args[1], "x")
	if args[2] == "fermata" {
		program, err := filepath.Abs(filepath.Join(folder, "fermata"))
		ts.Check(err)
		args[2] = program
	}
	quoted := make([]string, 0, len(args))
	for _, arg := range args[2:] {
		quoted = append(quoted, "'"+strings.ReplaceAll(arg, "'", `'\''`)+"'")
	}
	line := strings.Join(quoted, " ") + "; echo ended with $?; exec cat"
	out, err := tmux(ts, "new-session", "-d", "-s", args[0], "-x", width, "-y", height, line)
	if err != nil {
		ts.Fatalf("tmux: %v: %s", err, out)
	}
	ts.Defer(func() { _, _ = tmux(ts, "kill-session", "-t", args[0]) })
}

// cmdKeys presses keys, by their names in tmux.
func cmdKeys(ts *testscript.TestScript, args []string) {
	usage(ts, len(args) >= 2, "keys NAME KEY...")
	if out, err := tmux(ts, append([]string{"send-keys", "-t", args[0]}, args[1:]...)...); err != nil {
		ts.Fatalf("tmux: %v: %s", err, out)
	}
}

// cmdSize changes the size of a terminal.
func cmdSize(ts *testscript.TestScript, args []string) {
	usage(ts, len(args) == 2, "size NAME WIDTHxHEIGHT")
	width, height, _ := strings.Cut(args[1], "x")
	if out, err := tmux(ts, "resize-window", "-t", args[0], "-x", width, "-y", height); err != nil {
		ts.Fatalf("tmux: %v: %s", err, out)
	}
}

// cmdShows waits until the terminal matches, or until it does not match if the command is negated. Then it prints the
// screen.
func cmdShows(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, len(args) == 2, "[!] shows NAME PATTERN")
	pattern, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	screen := ""
	err = until(func() error {
		var err error
		if screen, err = tmux(ts, "capture-pane", "-p", "-t", args[0]); err != nil {
			return err
		}
		if pattern.MatchString(screen) == neg {
			return errors.New("not yet")
		}
		return nil
	})
	fmt.Fprint(ts.Stdout(), screen)
	if err != nil {
		ts.Fatalf("%s, looking for %s; it shows:\n%s", err, args[1], screen)
	}
}
