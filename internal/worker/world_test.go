//go:build unix

package worker_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/api"
	"github.com/fermata-hq/fermata/internal/runner/command"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/internal/testkit"
	"github.com/fermata-hq/fermata/internal/worker"
	"github.com/fermata-hq/fermata/test/patience"
)

// world is a server with its own database, a person and a repository.
type world struct {
	testkit.World
	server *httptest.Server
	person *client.Client
	agent  *client.Client
	repo   string
	// folder is the folder in which the worker keeps worktrees.
	folder string
	copies worker.Copies
	// grace is the grace of the world's agents. 0 means half a second.
	grace time.Duration
	// beat is how often its worker renews leases. 0 means the worker's own interval.
	beat time.Duration
	// late is how far the worker's clock is ahead.
	late atomic.Int64
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{World: testkit.New(t, storetest.SQLite(t)), repo: newRepo(t), folder: t.TempDir()}
	w.copies = worker.Copies{Folder: w.folder, WorkDir: w.repo}
	w.server = testkit.Serve(t, api.New(api.Config{Engine: w.Engine}))
	secret, err := w.Engine.CreateFirstToken(t.Context())
	w.OK(err)
	w.person = testkit.NewClient(t, w.server.URL, secret)
	token, err := w.person.CreateToken(t.Context(), fermata.NewToken{
		Name: "worker", Scopes: []fermata.Scope{fermata.ScopeWork, fermata.ScopeAsk, fermata.ScopeRead},
	})
	testkit.OK(t, err)
	w.agent = testkit.NewClient(t, w.server.URL, token.Secret)
	return w
}

// task creates a task whose agent is a shell script.
func (w *world) task(title, script string) *fermata.Task {
	w.Helper()
	spec, err := json.Marshal(map[string]any{"command": []string{"sh", "-c", script}})
	w.OK(err)
	t, err := w.person.CreateTask(w.Context(), fermata.NewTask{Title: title, Spec: spec})
	w.OK(err)
	return t
}

// start runs a worker until the test ends it or calls stop.
func (w *world) start(opts worker.Options) (stop func()) {
	w.Helper()
	opts.Name, opts.Copies = "w1", w.copies
	opts.Runners = []worker.Runner{command.NewShell(command.Options{Grace: cmp.Or(w.grace, 500*time.Millisecond)})}
	wk, err := worker.New(w.agent, opts)
	w.OK(err)
	if w.beat != 0 {
		worker.SetBeat(wk, w.beat, func() time.Time { return time.Now().Add(time.Duration(w.late.Load())) })
	}
	ctx, cancel := context.WithCancel(context.Background())
	end := make(chan error, 1)
	go func() { end <- wk.Run(ctx) }()
	ended := false
	stop = func() {
		if !ended {
			ended = true
			cancel()
			if err := patience.Receive(w, "the worker ends", end); err != nil {
				w.Errorf("the worker ended with %v", err)
			}
		}
	}
	w.Cleanup(stop)
	return stop
}

// runOnce runs a worker until there is nothing to do.
func (w *world) runOnce() {
	w.Helper()
	wk, err := worker.New(w.agent, worker.Options{
		Name: "w1", Copies: w.copies, Once: true,
		Runners: []worker.Runner{command.NewShell(command.Options{})},
	})
	w.OK(err)
	w.OK(wk.Run(w.Context()))
}

// awaitState waits until a task is in a state.
func (w *world) awaitState(id string, state fermata.TaskState) *fermata.Task {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), patience.Limit())
	defer cancel()
	for after := int64(0); ; {
		t, err := w.person.Task(ctx, id)
		w.OK(err)
		if t.State == state {
			return t
		}
		events, err := w.Engine.Tail().Next(ctx, store.DefaultWorkspace, after)
		if err != nil {
			w.Fatalf("task %q is %s (%s), waited for %s", t.Title, t.State, t.Summary, state)
		}
		after = events[len(events)-1].Seq
	}
}

// answer answers the task's question.
func (w *world) answer(t *fermata.Task, value any) {
	w.Helper()
	_, err := w.person.Answer(w.Context(), t.PendingQuestionID, fermata.Answer{Answer: value})
	w.OK(err)
}

// worktree returns the folder in which a task is worked on.
func (w *world) worktree(t *fermata.Task) string { return filepath.Join(w.folder, t.ID) }

// pipe creates a named pipe by which an agent and the test synchronize.
func pipe(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "pipe")
	testkit.OK(t, syscall.Mkfifo(name, 0o600))
	return name
}

// letGo writes a line for an agent that reads a pipe. It does not block if the agent was ended meanwhile.
func letGo(t *testing.T, name string) {
	t.Helper()
	// On Linux, opening a pipe for both ends does not wait for another process.
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	testkit.OK(t, err)
	t.Cleanup(func() { _ = file.Close() })
	_, err = file.WriteString("go\n")
	testkit.OK(t, err)
}

// awaitReady opens a pipe for reading and waits for the word "ready". If the agent never comes, the test fails; without
// the limit, the open call would wait for ever.
func awaitReady(t *testing.T, name string) *os.File {
	t.Helper()
	comes := time.Now().Add(patience.Limit())
	late := time.AfterFunc(patience.Limit(), func() {
		if file, err := os.OpenFile(name, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
			_ = file.Close()
		}
	})
	defer late.Stop()
	file, err := os.Open(name)
	testkit.OK(t, err)
	t.Cleanup(func() { _ = file.Close() })
	testkit.OK(t, file.SetReadDeadline(comes))
	word := make([]byte, len("ready\n"))
	if _, err := io.ReadFull(file, word); err != nil {
		t.Fatalf("no agent said that it is ready: %v", err)
	}
	testkit.OK(t, file.SetReadDeadline(time.Time{}))
	return file
}

// awaitGone waits until no process holds the pipe.
func awaitGone(t *testing.T, file *os.File) {
	t.Helper()
	testkit.OK(t, file.SetReadDeadline(time.Now().Add(patience.Limit())))
	_, err := io.Copy(io.Discard, file)
	testkit.OK(t, err)
}

// newRepo creates a repository with one commit.
func newRepo(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	testkit.OK(t, os.WriteFile(filepath.Join(dir, "README.md"), []byte("# Fence\n"), 0o600))
	run(t, dir, "init", "--quiet", "--initial-branch=main")
	run(t, dir, "add", ".")
	run(t, dir, "-c", "user.name=ana", "-c", "user.email=ana@example.com", "commit", "--quiet", "-m", "Begin")
	return dir
}

// run runs git and returns its output.
func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, os.ErrNotExist)
}
