package stories

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fermata-hq/fermata/test/patience"
)

// command is a command of a script. Only api and shows can be negated.
type command func(ts *testscript.TestScript, args []string)

var commands = map[string]func(*testscript.TestScript, bool, []string){
	"serve":      plain(cmdServe),
	"stopserver": plain(cmdStop),
	"kill9":      plain(cmdKill9),
	"restart":    plain(cmdRestart),
	"worker":     plain(cmdWorker),
	"stopworker": plain(cmdStopWorker),
	"killworker": plain(cmdKillWorker),
	"fermata":    plain(cmdFermata),
	"exitcode":   plain(cmdExitCode),
	"start":      plain(cmdStart),
	"interrupt":  plain(cmdInterrupt),
	"says":       plain(cmdSays),
	"ends":       plain(cmdEnds),
	"capture":    plain(cmdCapture),
	"until":      plain(cmdUntil),
	"waitfor":    plain(cmdWaitFor),
	"api":        cmdAPI,
	"json":       plain(cmdJSON),
	"jsonvar":    plain(cmdJSONVar),
	"jsonlines":  plain(cmdJSONLines),
	"mode":       plain(cmdMode),
	"screen":     plain(cmdScreen),
	"keys":       plain(cmdKeys),
	"size":       plain(cmdSize),
	"shows":      cmdShows,
}

func plain(c command) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg {
			ts.Fatalf("this command cannot be negated")
		}
		c(ts, args)
	}
}

func usage(ts *testscript.TestScript, ok bool, text string) {
	if !ok {
		ts.Fatalf("usage: %s", text)
	}
}

func cmdServe(ts *testscript.TestScript, args []string) {
	s := of(ts)
	usage(ts, s.server == nil || !s.server.running(), "serve once, or restart")
	s.args = args
	s.serve(ts)
}

func cmdStop(ts *testscript.TestScript, _ []string) {
	finish(ts, "server", of(ts).server, syscall.SIGTERM, 0)
}

func cmdKill9(ts *testscript.TestScript, _ []string) {
	finish(ts, "server", of(ts).server, syscall.SIGKILL, -1)
}

func cmdRestart(ts *testscript.TestScript, _ []string) {
	s := of(ts)
	if s.server.running() {
		cmdStop(ts, nil)
	}
	s.serve(ts)
}

func cmdWorker(ts *testscript.TestScript, args []string) {
	s := of(ts)
	s.workers = append(s.workers, s.launch(ts, "worker.log", append([]string{"worker"}, args...)...))
}

func endWorkers(ts *testscript.TestScript, signal os.Signal, want int) {
	s := of(ts)
	usage(ts, len(s.workers) > 0, "worker first")
	for _, p := range s.workers {
		finish(ts, "worker", p, signal, want)
	}
	s.workers = nil
}

func cmdStopWorker(ts *testscript.TestScript, _ []string) { endWorkers(ts, syscall.SIGTERM, 0) }

func cmdKillWorker(ts *testscript.TestScript, _ []string) { endWorkers(ts, syscall.SIGKILL, -1) }

func cmdFermata(ts *testscript.TestScript, args []string) {
	expect(ts, 0, append([]string{"fermata"}, args...))
}

func cmdExitCode(ts *testscript.TestScript, args []string) {
	usage(ts, len(args) >= 2, "exitcode N CMD...")
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	expect(ts, want, args[1:])
}

// expect runs a command, which must end with the exit code.
func expect(ts *testscript.TestScript, want int, args []string) {
	code := 0
	err := ts.Exec(args[0], args[1:]...)
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		code, err = ended.ExitCode(), nil
	}
	ts.Check(err)
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

func cmdStart(ts *testscript.TestScript, args []string) {
	usage(ts, len(args) >= 2, "start NAME CMD...")
	s := of(ts)
	usage(ts, s.background[args[0]] == nil, "start another NAME")
	name := args[1]
	if name == "fermata" {
		name = folder + "/fermata"
	}
	p, err := launch(s.command(ts, name, args[2:]...), nil)
	ts.Check(err)
	s.background[args[0]] = p
}

// background returns the process that start began under the name.
func background(ts *testscript.TestScript, name string) *program {
	p := of(ts).background[name]
	if p == nil {
		ts.Fatalf("%s was not started", name)
	}
	return p
}

func cmdInterrupt(ts *testscript.TestScript, args []string) {
	usage(ts, len(args) == 1, "interrupt NAME")
	ts.Check(background(ts, args[0]).cmd.Process.Signal(os.Interrupt))
}

func cmdSays(ts *testscript.TestScript, args []string) {
	usage(ts, len(args) == 2, "says NAME PATTERN")
	p := background(ts, args[0])
	pattern, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	found := make(chan bool, 2)
	for _, o := range []*output{p.errors, p.out} {
		go func() { found <- o.match(pattern) != nil }()
	}
	first := <-found
	if !first && !<-found {
		ts.Fatalf("%s does not say %s:\n%s%s", args[0], args[1], p.out, p.errors)
	}
}

func cmdEnds(ts *testscript.TestScript, args []string) {
	usage(ts, len(args) == 2, "ends NAME N")
	p := background(ts, args[0])
	code, err := p.wait()
	delete(of(ts).background, args[0])
	fmt.Fprint(ts.Stdout(), p.out)
	fmt.Fprint(ts.Stderr(), p.errors)
	ts.Check(err)
	if strconv.Itoa(code) != args[1] {
		ts.Fatalf("%s ended with exit code %d, want %s", args[0], code, args[1])
	}
}

func cmdCapture(ts *testscript.TestScript, args []string) {
	usage(ts, len(args) >= 2, "capture VAR CMD...")
	expect(ts, 0, args[1:])
	ts.Setenv(args[0], strings.TrimRight(ts.ReadFile("stdout"), "\n"))
}

func cmdUntil(ts *testscript.TestScript, args []string) {
	usage(ts, len(args) >= 1, "until CMD...")
	try := func() error { return ts.Exec(args[0], args[1:]...) }
	if args[0] == "exists" && len(args) == 2 {
		try = func() error { _, err := os.Stat(ts.MkAbs(args[1])); return err }
	}
	if err := until(try); err != nil {
		ts.Fatalf("%s: %v", strings.Join(args, " "), err)
	}
}

func cmdWaitFor(ts *testscript.TestScript, args []string) {
	usage(ts, len(args) == 2, "waitfor STATE ID")
	of(ts).waitFor(ts, args[0], args[1])
}

// cmdAPI sends a request and prints the reply. Its status must be below 400, or at least 400 if the command is negated.
func cmdAPI(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, len(args) == 2 || len(args) == 3, "api METHOD PATH [JSON]")
	ctx, cancel := context.WithTimeout(context.Background(), patience.Limit())
	defer cancel()
	var body io.Reader
	if len(args) == 3 {
		body = strings.NewReader(args[2])
	}
	req, err := http.NewRequestWithContext(ctx, args[0], ts.Getenv("FERMATA_URL")+"/v1"+args[1], body)
	ts.Check(err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if admin := ts.Getenv("ADMIN"); admin != "" {
		req.Header.Set("Authorization", "Bearer "+admin)
	}
	res, err := http.DefaultClient.Do(req)
	ts.Check(err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	ts.Check(err)
	fmt.Fprintf(ts.Stdout(), "%s\n", bytes.TrimSpace(data))
	fmt.Fprintln(ts.Stderr(), res.StatusCode)
	if (res.StatusCode >= 400) != neg {
		ts.Fatalf("status %s", res.Status)
	}
}

func cmdJSON(ts *testscript.TestScript, args []string) {
	usage(ts, len(args) == 1 || len(args) == 2, "json PATH [VALUE]")
	v := at(ts, args[0])
	if len(args) == 2 && v != args[1] {
		ts.Fatalf("%s is %q, want %q", args[0], v, args[1])
	}
}

func cmdJSONVar(ts *testscript.TestScript, args []string) {
	usage(ts, len(args) == 2, "jsonvar VAR PATH")
	ts.Setenv(args[0], at(ts, args[1]))
}

// at returns the value at a path such as items.0.key in the JSON that was printed last. A string is returned as it is,
// any other value as JSON.
func at(ts *testscript.TestScript, path string) string {
	var v any
	if err := json.Unmarshal([]byte(ts.ReadFile("stdout")), &v); err != nil {
		ts.Fatalf("what was printed is no JSON: %v", err)
	}
	for key := range strings.SplitSeq(path, ".") {
		next, ok := below(v, key)
		if !ok {
			ts.Fatalf("there is no %s at %s", key, path)
		}
		v = next
	}
	if text, ok := v.(string); ok {
		return text
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	ts.Check(enc.Encode(v))
	return strings.TrimSpace(text.String())
}

// below returns the value of an object or a list under a key. # is the length.
func below(v any, key string) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		next, ok := v[key]
		return next, ok
	case []any:
		if key == "#" {
			return len(v), true
		}
		i, err := strconv.Atoi(key)
		if err != nil || i < 0 || i >= len(v) {
			return nil, false
		}
		return v[i], true
	}
	return nil, false
}

func cmdJSONLines(ts *testscript.TestScript, args []string) {
	usage(ts, len(args) == 1, "jsonlines N")
	least, err := strconv.Atoi(args[0])
	ts.Check(err)
	lines := strings.Split(strings.TrimRight(ts.ReadFile("stdout"), "\n"), "\n")
	for _, line := range lines {
		if !json.Valid([]byte(line)) {
			ts.Fatalf("this line is no JSON: %s", line)
		}
	}
	if len(lines) < least {
		ts.Fatalf("there are %d lines, want %d", len(lines), least)
	}
}

func cmdMode(ts *testscript.TestScript, args []string) {
	usage(ts, len(args) == 2, "mode FILE OCTAL")
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if mode := fmt.Sprintf("%o", info.Mode().Perm()); mode != args[1] {
		ts.Fatalf("%s has mode %s, want %s", args[0], mode, args[1])
	}
}
