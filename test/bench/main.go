// Command bench measures Fermata's speed and size and compares them with the limits of the specification. It starts
// real servers on the loopback address, on SQLite in a temporary folder and on the PostgreSQL that
// FERMATA_TEST_POSTGRES names, and prints one table.
//
// It checks correctness only as far as its own numbers need it. The tests prove correctness.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// bench is one run of the program.
type bench struct {
	short bool
	// profile is the folder for CPU profiles of the server. If it is empty, no profiles are written.
	profile string
	clients []int
	kinds   []string
	// folder holds everything that the run creates, and is removed at its end.
	folder string
	// program is the server, built by the run itself.
	program string
	// postgres is the URL with which a superuser connects to PostgreSQL.
	postgres string
	report   *report
	started  time.Time
}

// part is one of the measurements that -run selects.
type part struct {
	name string
	run  func(*bench, context.Context) error
}

var parts = []part{
	{"throughput", (*bench).throughput},
	{"workers", (*bench).workers},
	{"bare", (*bench).bare},
	{"idle", (*bench).idle},
	{"latency", (*bench).latency},
	{"waiting", (*bench).waiting},
	{"streams", (*bench).streams},
	{"start", (*bench).start},
	{"gates", (*bench).gates},
	{"agentstart", (*bench).agentStart},
	{"attention", (*bench).attention},
	{"channels", (*bench).channels},
	{"workflows", (*bench).workflows},
	{"steps", (*bench).steps},
	{"web", (*bench).web},
	{"big", (*bench).big},
	{"day", (*bench).day},
	{"workspaces", (*bench).workspaces},
}

func main() {
	// The bench starts itself as the servers and agents that are not part of the product.
	if len(os.Args) > 1 && os.Args[1] == rawCommand {
		exit(rawServer(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == agentCommand {
		exit(runAgentProcess(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == listenCommand {
		exit(runListeningAgent(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == profiledCommand {
		exit(profiledServer(os.Args[2:]))
	}
	exit(run())
}

// errMissed means that a limit was missed. The table shows which one.
var errMissed = errors.New("a bar was missed")

func exit(err error) {
	if err == nil {
		os.Exit(0)
	}
	fmt.Fprintln(os.Stderr, "bench:", err)
	os.Exit(1)
}

func run() error {
	b := &bench{postgres: os.Getenv("FERMATA_TEST_POSTGRES"), started: time.Now()}
	names := make([]string, len(parts))
	for i, p := range parts {
		names[i] = p.name
	}
	selected := flag.String("run", strings.Join(names, ","), "the parts to run")
	out := flag.String("out", "", "also write the result to this Markdown file, in place of the same lines of a former run")
	databases := flag.String("databases", sqlite+","+postgres, "the databases to measure")
	clients := flag.String("clients", "1,8,64", "how many clients the throughput is measured with")
	flag.BoolVar(&b.short, "short", false, "a quick run with small numbers, about six minutes")
	flag.StringVar(&b.profile, "profile", "", "write CPU profiles of the server under throughput into this folder")
	flag.Parse()
	if err := b.choose(*databases, *clients); err != nil {
		return err
	}
	for _, name := range strings.Split(*selected, ",") {
		if !slices.Contains(names, name) {
			return fmt.Errorf("-run: there is no part %q; there are %s", name, strings.Join(names, ", "))
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := b.prepare(ctx); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(b.folder) }()
	for _, p := range parts {
		if !slices.Contains(strings.Split(*selected, ","), p.name) {
			continue
		}
		if err := p.run(b, ctx); err != nil {
			// What was measured before counts.
			return errors.Join(fmt.Errorf("%s: %w", p.name, err), b.finish(*out))
		}
	}
	return b.finish(*out)
}

// choose reads the flags that are lists.
func (b *bench) choose(databases, clients string) error {
	b.kinds = strings.Split(databases, ",")
	for _, kind := range b.kinds {
		if kind != sqlite && kind != postgres {
			return fmt.Errorf("-databases: %q is neither %s nor %s", kind, sqlite, postgres)
		}
	}
	if slices.Contains(b.kinds, postgres) && b.postgres == "" {
		return errors.New("FERMATA_TEST_POSTGRES is not set: run this by make bench or scripts/with-postgres, or with -databases sqlite")
	}
	for _, field := range strings.Split(clients, ",") {
		var n int
		if _, err := fmt.Sscan(field, &n); err != nil || n < 1 {
			return fmt.Errorf("-clients: %q is no number of clients", field)
		}
		b.clients = append(b.clients, n)
	}
	return nil
}

// prepare creates the folder and builds the server.
func (b *bench) prepare(ctx context.Context) error {
	if err := raiseFileLimit(); err != nil {
		return err
	}
	var err error
	if b.folder, err = os.MkdirTemp("", "fermata-bench-"); err != nil {
		return err
	}
	if b.profile != "" {
		if err := os.MkdirAll(b.profile, 0o750); err != nil {
			return err
		}
	}
	b.program = filepath.Join(b.folder, "fermata")
	b.say("building the server")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-buildvcs=false", "-o", b.program, "github.com/fermata-hq/fermata/cmd/fermata")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if message, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the server: %w\n%s", err, message)
	}
	b.report, err = b.newReport(ctx)
	return err
}

// finish prints the table and writes it to the file that -out names. It keeps the rows of that file that this run did not
// measure.
func (b *bench) finish(out string) error {
	if page, err := os.ReadFile(out); err == nil {
		b.report.mergePage(string(page))
	}
	text := b.report.markdown(time.Since(b.started))
	fmt.Print(text)
	if out != "" {
		if err := os.WriteFile(out, []byte(text), 0o644); err != nil { //nolint:gosec // documentation is for everybody
			return err
		}
	}
	if b.report.missed > 0 {
		return errMissed
	}
	return nil
}

// say reports progress on standard error, because standard output is for the result.
func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%4.0fs  %s\n", time.Since(b.started).Seconds(), fmt.Sprintf(format, args...))
}
