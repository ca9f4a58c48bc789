//go:build unix

package attack

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/testkit"
	"github.com/fermata-hq/fermata/test/process"
	"github.com/fermata-hq/fermata/test/script"
)

func TestMain(m *testing.M) { process.Main(m) }

// yard is a server for hostile agents.
type yard struct {
	binary, url, token string
	admin              *client.Client
}

func newYard(t *testing.T) *yard {
	t.Helper()
	y := &yard{binary: process.Binary(t)}
	server := process.Serve(t, y.binary, process.SQLite(t))
	y.url, y.admin = server.URL, process.NewLoadBalancer(t, server).Client(t, server.FirstToken)
	made, err := y.admin.CreateToken(t.Context(), fermata.NewToken{
		Name: "worker", Kind: fermata.ActorAgent, Scopes: []fermata.Scope{fermata.ScopeWork, fermata.ScopeAsk},
	})
	testkit.OK(t, err)
	y.token = made.Secret
	return y
}

// plot is one project with a repository, a worker and a hostile agent.
type plot struct {
	*testing.T
	*yard
	project string
	// repo is the repository, folder the worker's folder and home the user's home. outside
	// is a folder that no agent may touch.
	repo, folder, home, outside string
	// flags and env are added to those that the worker of every plot gets.
	flags, env []string
}

// plotsMade counts the plots. The numbers name the projects.
var plotsMade atomic.Int64

// canary is the file that the payload writes if a program other than the agent starts it.
const canary = "canary"

// payload writes a line into canary if it does not run as a part of the agent. It copies
// its input to its output.
const payload = `[ -n "$FERMATA_PROCESS" ] || echo "$0 $* in $(pwd)" >>"$(dirname "$0")/` + canary + `"
exec cat`

func (y *yard) plot(t *testing.T, flags ...string) *plot {
	t.Helper()
	base := process.TempFolder(t)
	p := &plot{T: t, yard: y, project: "p" + strconv.FormatInt(plotsMade.Add(1), 10), flags: flags}
	for name, dir := range map[string]*string{"repo": &p.repo, "folder": &p.folder, "home": &p.home, "outside": &p.outside} {
		*dir = filepath.Join(base, name)
		testkit.OK(t, os.Mkdir(*dir, 0o700))
	}
	script.Write(t, filepath.Join(p.outside, "payload"), payload)
	p.write(filepath.Join(p.outside, "secret"), "the secret\n")
	p.write(filepath.Join(p.repo, "README.md"), "# Shop\n")
	p.git(p.repo, "init", "--quiet", "--initial-branch=main")
	p.git(p.repo, "add", ".")
	p.git(p.repo, "commit", "--quiet", "-m", "Begin")
	return p
}

func (p *plot) write(name, text string) {
	p.Helper()
	testkit.OK(p, os.MkdirAll(filepath.Dir(name), 0o700))
	testkit.OK(p, os.WriteFile(name, []byte(text), 0o600))
}

// git runs git as a person, and returns its output.
func (p *plot) git(dir string, args ...string) string {
	p.Helper()
	cmd := exec.CommandContext(p.Context(), "git", append([]string{"-c", "user.name=ana", "-c", "user.email=ana@example.com"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// task creates a task whose agent is a shell script. In the script, $P is the path of the
// payload and $OUT the folder outside.
func (p *plot) task(script string, more map[string]any) *fermata.Task {
	p.Helper()
	begin := "P=" + fermata.QuoteShellWord(filepath.Join(p.outside, "payload")) + "; OUT=" + fermata.QuoteShellWord(p.outside) + "; G=$(git rev-parse --path-format=absolute --git-common-dir)\n"
	spec := map[string]any{"command": []string{"sh", "-ec", begin + script}}
	for key, value := range more {
		spec[key] = value
	}
	raw, err := json.Marshal(spec)
	testkit.OK(p, err)
	t, err := p.admin.CreateTask(p.Context(), fermata.NewTask{Title: "Repair the shoe", Project: p.project, Spec: raw})
	testkit.OK(p, err)
	return t
}

// run runs the worker until no task is left for it.
func (p *plot) run() {
	p.Helper()
	env := []string{"FERMATA_TOKEN=" + p.token, "FERMATA_URL=" + p.url, "HOME=" + p.home, "FERMATA_SECRET_OF_THE_WORKER=plum"}
	args := append([]string{"worker", "--name", p.project, "--project", p.project, "--workdir", p.repo, "--folder", p.folder,
		"--allow-task-commands", "--once", "--log-level", "warn"}, p.flags...)
	if err := process.Start(p, p.binary, append(env, p.env...), args...).Wait(); err != nil {
		p.Fatalf("the worker: %v", err)
	}
}

// currentTask returns the task in its present state.
func (p *plot) currentTask(t *fermata.Task) *fermata.Task {
	p.Helper()
	task, err := p.admin.Task(p.Context(), t.ID)
	testkit.OK(p, err)
	return task
}

// checkDone fails the test unless the task is done. It returns the task.
func (p *plot) checkDone(t *fermata.Task) *fermata.Task {
	p.Helper()
	task := p.currentTask(t)
	if task.State != fermata.TaskDone {
		p.Fatalf("the task is %s: %s", task.State, task.Summary)
	}
	return task
}

// checkCaught fails the test unless the task has failed and its summary contains the words.
func (p *plot) checkCaught(t *fermata.Task, words string) {
	p.Helper()
	if task := p.currentTask(t); task.State != fermata.TaskFailed || !strings.Contains(task.Summary, words) {
		p.Fatalf("the task is %s, and says %q; it should say %q", task.State, task.Summary, words)
	}
}

// checkUnharmed fails the test if the payload ran outside the agent.
func (p *plot) checkUnharmed() {
	p.Helper()
	if text, err := os.ReadFile(filepath.Join(p.outside, canary)); err == nil {
		p.Errorf("the payload ran as the worker:\n%s", text)
	}
}

// copyOf returns the path of the task's working copy.
func (p *plot) copyOf(t *fermata.Task) string { return filepath.Join(p.folder, t.ID) }
