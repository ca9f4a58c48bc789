package workflows

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/testkit"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/process"
)

func TestMain(m *testing.M) { process.Main(m) }

// world is a server with an example's project beside it.
type world struct {
	testkit.Test
	binary   string
	database []string
	server   *process.Server
	admin    *client.Client
	// project is the copy of the example, home the user's own folder.
	project, home string
}

// newWorld starts a server, and copies an example.
func newWorld(t *testing.T, example string, database []string) *world {
	t.Helper()
	w := &world{Test: testkit.Test{T: t}, binary: process.Binary(t), database: database, project: filepath.Join(t.TempDir(), example), home: t.TempDir()}
	w.serve()
	w.admin = process.NewLoadBalancer(t, w.server).Client(t, w.server.FirstToken)
	w.OK(os.CopyFS(w.project, os.DirFS(filepath.Join("..", "..", "examples", example))))
	policy, err := w.admin.Policy(t.Context())
	w.OK(err)
	policy.MinTimeout = "1s"
	_, err = w.admin.SetPolicy(t.Context(), policy)
	w.OK(err)
	return w
}

// serve starts the server, which may reach stand-ins on this machine.
func (w *world) serve() {
	w.Helper()
	token := ""
	if w.server != nil {
		token = w.server.FirstToken
	}
	w.server = process.Serve(w, w.binary, w.database, "--allow-networks", "127.0.0.0/8")
	if token != "" {
		w.server.FirstToken = token
		w.admin = process.NewLoadBalancer(w.T, w.server).Client(w, token)
	}
}

// env returns the environment of a person who is signed in with the token.
func (w *world) env(token string) []string {
	return append(os.Environ(),
		"HOME="+w.home, "XDG_DATA_HOME="+w.home, "XDG_CONFIG_HOME="+w.home,
		"PATH="+filepath.Dir(w.binary)+string(os.PathListSeparator)+os.Getenv("PATH"),
		"FERMATA_URL="+w.server.URL, "FERMATA_TOKEN="+token,
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.com", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.com",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
	)
}

// script runs lines of a shell in the project, as the admin, and returns their
// output. Programs that it leaves running end with the test.
func (w *world) script(lines string) string {
	w.Helper()
	out, err := w.try(lines)
	if err != nil {
		w.Fatalf("%v\n%s\n%s", err, lines, out)
	}
	return out
}

func (w *world) try(lines string) (string, error) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), patience.Limit())
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-eu", "-c", lines)
	cmd.Dir, cmd.Env = w.project, w.env(w.server.FirstToken)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	log, err := os.CreateTemp(w.home, "script")
	w.OK(err)
	defer func() { _ = log.Close() }()
	cmd.Stdout, cmd.Stderr = log, log
	err = cmd.Start()
	w.OK(err)
	group := cmd.Process.Pid
	w.Cleanup(func() {
		if text, err := os.ReadFile(log.Name()); w.Failed() && err == nil {
			w.Logf("the script printed\n%s", text)
		}
		if err := syscall.Kill(-group, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			w.Error(err)
		}
	})
	err = cmd.Wait()
	text, readErr := os.ReadFile(log.Name())
	w.OK(readErr)
	return string(text), err
}

// readme returns the commands in the shell blocks of the example's README. A command that answers is repeated until its
// question exists, because people answer later, too. This takes the place of the README's loop, which ends after a minute.
func (w *world) readme() string {
	w.Helper()
	text, err := os.ReadFile(filepath.Join(w.project, "README.md"))
	w.OK(err)
	var script []string
	inside := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```sh"
		case inside && (strings.Contains(line, "fermata approve") || strings.Contains(line, "fermata respond")):
			line = strings.TrimSuffix(strings.TrimPrefix(line, "for i in $(seq 60); do "), " && break; sleep 1; done")
			script = append(script, "until "+line+"; do fermata list --awaiting --json >/dev/null; done")
		case inside:
			script = append(script, line)
		}
	}
	if len(script) == 0 {
		w.Fatal("the README has no commands")
	}
	return strings.Join(script, "\n")
}

// run waits until the only run of a workflow is in a state, and returns it.
func (w *world) run(workflow string, state fermata.TaskState) *fermata.WorkflowRun {
	w.Helper()
	var last *fermata.WorkflowRun
	w.Cleanup(func() {
		if w.Failed() && last != nil {
			text, _ := json.MarshalIndent(last, "", " ")
			w.Logf("the last run is\n%s", text)
		}
	})
	patience.Await(w, "the run of "+workflow+" is "+string(state), func() bool {
		runs, _, err := w.admin.WorkflowRuns(w.Context(), client.WorkflowRunQuery{Workflow: workflow})
		w.OK(err)
		if len(runs) > 1 {
			w.Fatalf("%d runs of %s", len(runs), workflow)
		}
		if len(runs) == 0 {
			return false
		}
		last, err = w.admin.WorkflowRun(w.Context(), runs[0].ID)
		w.OK(err)
		if last.State != state && last.State.IsEnded() {
			w.Fatalf("the run is %s: %s", last.State, last.Summary)
		}
		return last.State == state
	})
	return last
}

// step returns the latest row of a step.
func (w *world) step(run *fermata.WorkflowRun, id string) *fermata.WorkflowStep {
	w.Helper()
	var found *fermata.WorkflowStep
	for _, s := range run.Steps {
		if s.Step == id {
			found = s
		}
	}
	if found == nil {
		w.Fatalf("the run has no step %s", id)
	}
	return found
}

// git runs git in a folder and returns its output.
func (w *world) git(folder string, args ...string) string {
	w.Helper()
	cmd := exec.CommandContext(w.Context(), "git", args...)
	cmd.Dir, cmd.Env = folder, w.env("")
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(bytes.TrimSpace(out))
}

// edit replaces texts in a file of the project. Each old text must occur.
func (w *world) edit(name string, oldnew ...string) {
	w.Helper()
	path := filepath.Join(w.project, name)
	raw, err := os.ReadFile(path)
	w.OK(err)
	text := string(raw)
	for i := 0; i < len(oldnew); i += 2 {
		if !strings.Contains(text, oldnew[i]) {
			w.Fatalf("%s has no %q", name, oldnew[i])
		}
		text = strings.ReplaceAll(text, oldnew[i], oldnew[i+1])
	}
	w.OK(os.WriteFile(path, []byte(text), 0o600))
}
