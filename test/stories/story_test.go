package stories

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/test/patience"
)

// storyKey is the key of the story in the values of a script.
type storyKey struct{}

// story holds the processes that run beside a script.
type story struct {
	folder string
	server *program
	// address is the address of the story's server, whenever it runs.
	address string
	// args are the arguments of the last start.
	args []string
	// signedIn is true once the first admin's token was shown.
	signedIn   bool
	workers    []*program
	background map[string]*program
}

func of(ts *testscript.TestScript) *story {
	s, ok := ts.Value(storyKey{}).(*story)
	if !ok {
		ts.Fatalf("the script has no story")
	}
	return s
}

// end ends the running processes: workers first, because they would leave their agents behind otherwise.
func (s *story) end() {
	for _, p := range s.workers {
		_, _ = p.finish(syscall.SIGTERM)
	}
	for _, p := range s.background {
		_, _ = p.finish(syscall.SIGKILL)
	}
	if s.server != nil {
		_, _ = s.server.finish(syscall.SIGKILL)
	}
}

// launch starts the program beside the script, with the script's environment.
func (s *story) launch(ts *testscript.TestScript, log string, args ...string) *program {
	f, err := os.OpenFile(filepath.Join(s.folder, log), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	ts.Check(err)
	ts.Defer(func() { _ = f.Close() })
	program, err := filepath.Abs(filepath.Join(folder, "fermata"))
	ts.Check(err)
	p, err := launch(s.command(ts, program, args...), f)
	ts.Check(err)
	return p
}

// command returns a command with the folder and the environment of the script.
func (s *story) command(ts *testscript.TestScript, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.Background(), name, args...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range inherited {
		if v := ts.Getenv(name); v != "" {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	return cmd
}

// inherited are the variables of a script that programs beside it get.
var inherited = []string{
	"PATH", "HOME", "TMPDIR", "WORK", "TERM", "EDITOR", "VISUAL", "FERMATA_DATA", "FERMATA_DATABASE", "FERMATA_URL",
	"FERMATA_TOKEN", "FERMATA_TASK", "FERMATA_AGENT_TOKEN",
}

var (
	servesOn = regexp.MustCompile(`fermata serves on (http://\S+)`)
	token    = regexp.MustCompile(`fmt_[0-9A-Za-z]{38}`)
)

// serve starts the server and waits until it is ready.
func (s *story) serve(ts *testscript.TestScript) {
	s.server = s.launch(ts, "server.log", append([]string{"serve", "--listen", s.address}, s.args...)...)
	found := s.server.errors.match(servesOn)
	if found == nil {
		ts.Fatalf("the server does not say where it serves:\n%s", s.server.errors)
	}
	ts.Setenv("FERMATA_URL", found[1])
	if !s.signedIn && !slices.Contains(s.args, "--single-user") {
		found := s.server.errors.match(token)
		if found == nil {
			ts.Fatalf("the first start shows no token:\n%s", s.server.errors)
		}
		s.signedIn = true
		ts.Setenv("ADMIN", found[0])
		ts.Setenv("FERMATA_TOKEN", found[0])
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience.Limit())
	defer cancel()
	_, err := s.client(ts).Ready(ctx)
	ts.Check(err)
}

// client returns a client of the first admin.
func (s *story) client(ts *testscript.TestScript) *client.Client {
	c, err := client.New(ts.Getenv("FERMATA_URL"), ts.Getenv("ADMIN"))
	ts.Check(err)
	return c
}

// finish ends a process with a signal, and fails if its exit code is not want.
func finish(ts *testscript.TestScript, what string, p *program, signal os.Signal, want int) {
	if p == nil || !p.running() {
		ts.Fatalf("the %s does not run", what)
	}
	code, err := p.finish(signal)
	if err != nil || code != want {
		ts.Fatalf("the %s ended with exit code %d, %v; want %d:\n%s", what, code, err, want, p.errors)
	}
}

// errReached ends a stream that has shown the expected event.
var errReached = errors.New("reached")

// waitTask follows the events until the task has the state.
func waitTask(ctx context.Context, c *client.Client, id, want string) error {
	t, err := c.Task(ctx, id)
	if err != nil {
		return err
	}
	err = c.Stream(ctx, client.StreamQuery{TaskID: t.ID, FromStart: true}, func(*fermata.Event) error {
		if t, err = c.Task(ctx, t.ID); err != nil {
			return err
		}
		if string(t.State) == want {
			return errReached
		}
		return nil
	})
	if errors.Is(err, errReached) {
		return nil
	}
	return fmt.Errorf("the task is %s (%s): %w", t.State, t.Summary, err)
}

// waitEvent follows all events until there is one of the type about the task or the question.
func waitEvent(ctx context.Context, c *client.Client, id, want string) error {
	q := client.StreamQuery{FromStart: true, Types: []fermata.EventType{fermata.EventType(want)}}
	err := c.Stream(ctx, q, func(e *fermata.Event) error {
		if e.TaskID == id || e.QuestionID == id {
			return errReached
		}
		return nil
	})
	if errors.Is(err, errReached) {
		return nil
	}
	return err
}

// waitQuestion waits by long poll until the question has the status.
func waitQuestion(ctx context.Context, c *client.Client, id, want string) error {
	for {
		q, err := c.WaitQuestion(ctx, id, patience.Limit())
		if err != nil {
			return err
		}
		if string(q.Status) == want {
			return nil
		}
		if q.Status != fermata.Pending || ctx.Err() != nil {
			return fmt.Errorf("the question is %s", q.Status)
		}
	}
}

func (s *story) waitFor(ts *testscript.TestScript, want, id string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience.Limit())
	defer cancel()
	wait := waitTask
	switch {
	case strings.Contains(want, "."):
		wait = waitEvent
	case strings.HasPrefix(id, fermata.PrefixQuestion+"_"):
		wait = waitQuestion
	}
	if err := wait(ctx, s.client(ts), id, want); err != nil {
		ts.Fatalf("wait until %s is %s: %v", id, want, err)
	}
}

// until calls try until it succeeds or the time limit of tests has passed. Use it for files and logs. If an event
// announces the change, use waitfor.
func until(try func() error) error {
	var err error
	patience.Until(func() bool {
		err = try()
		return err == nil
	})
	return err
}
