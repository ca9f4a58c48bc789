package agent

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/scriptedmodel"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/ports"
	"github.com/fermata-hq/fermata/test/process"
)

// Lab is a server, a worker whose agent is sealed off in its room, and a repository that they work on.
type Lab struct {
	testing.TB
	Room *Room
	// Binary is the program under test. Folder is the worker's folder.
	Binary, Folder string
	Server         *process.Server
	Admin          *client.Client
	// AgentToken is the token with which agents ask.
	AgentToken string
	// Command holds the worker's arguments after --: the agent program, or further arguments of it, depending on the
	// runner.
	Command []string

	adminToken, workerToken, data, address string
	env                                    Env
	// runner holds the worker's flags that choose the agent program.
	runner []string
	worker *process.Child
}

// NewLab starts a server. Its worker will have the environment and these flags.
func NewLab(tb testing.TB, room *Room, env Env, runner ...string) *Lab {
	tb.Helper()
	l := &Lab{
		TB: tb, Room: room, Binary: Fermata(tb), data: tb.TempDir(), Folder: process.TempFolder(tb), env: env, runner: runner,
	}
	l.RunGit("init", "--quiet", "--initial-branch=main")
	l.RunGit("add", "--all")
	l.RunGit("commit", "--quiet", "--allow-empty", "--message=Begin")
	l.address = ports.Address(tb)
	l.serve()
	l.adminToken = l.Server.FirstToken
	l.connect()
	l.workerToken = l.newToken("worker", fermata.ScopeWork, fermata.ScopeAsk, fermata.ScopeRead)
	l.AgentToken = l.newToken("agents", fermata.ScopeAsk)
	return l
}

func (l *Lab) connect() {
	l.Helper()
	var err error
	if l.Admin, err = client.New(l.Server.URL, l.adminToken); err != nil {
		l.Fatal(err)
	}
}

// WorkerClient returns a client that calls the server as the worker does.
func (l *Lab) WorkerClient() *client.Client {
	l.Helper()
	c, err := client.New(l.Server.URL, l.workerToken, client.WithAgentToken(l.AgentToken))
	if err != nil {
		l.Fatal(err)
	}
	l.Cleanup(c.CloseIdleConnections)
	return c
}

func (l *Lab) newToken(name string, scopes ...fermata.Scope) string {
	l.Helper()
	made, err := l.Admin.CreateToken(l.Context(), fermata.NewToken{Name: name, Kind: fermata.ActorAgent, Scopes: scopes})
	if err != nil {
		l.Fatal(err)
	}
	return made.Secret
}

// StartWorker starts the worker that [Lab.Crash] kills.
func (l *Lab) StartWorker() {
	l.Helper()
	l.worker = l.LaunchWorker()
}

// LaunchWorker starts a worker with further flags.
func (l *Lab) LaunchWorker(flags ...string) *process.Child {
	l.Helper()
	env := append(Env{}, l.env...)
	env = append(env, "FERMATA_URL="+l.Server.URL, "FERMATA_TOKEN="+l.workerToken, "FERMATA_AGENT_TOKEN="+l.AgentToken)
	args := slices.Concat([]string{"worker", "--name", "w", "--workdir", l.Room.Work, "--folder", l.Folder}, l.runner, flags)
	for _, name := range l.env.Names() {
		args = append(args, "--pass-env", name)
	}
	return process.Start(l, l.Binary, env, append(append(args, "--"), l.Command...)...)
}

// RunWorkerOnce runs a worker until there is nothing to do.
func (l *Lab) RunWorkerOnce() {
	l.Helper()
	if err := l.LaunchWorker("--once").Wait(); err != nil {
		l.Fatal(err)
	}
}

// Crash kills server and worker, and starts both again on the same data. No run may be in progress, because Crash does
// not wait for the end of its lease.
func (l *Lab) Crash() {
	l.Helper()
	l.worker.Kill()
	l.Restart()
	l.StartWorker()
}

// Restart kills the server, and starts it again at the same address.
func (l *Lab) Restart() {
	l.Helper()
	l.Server.Kill()
	l.serve()
	l.connect()
}

func (l *Lab) serve() {
	l.Helper()
	l.Server = process.Serve(l, l.Binary, []string{"--data", l.data}, "--listen", l.address)
}

// CreateTask creates a task. If the test fails, the log of the task is shown.
func (l *Lab) CreateTask(title, body string) *fermata.Task {
	l.Helper()
	t, err := l.Admin.CreateTask(l.Context(), fermata.NewTask{Title: title, Body: body})
	if err != nil {
		l.Fatal(err)
	}
	l.Cleanup(func() {
		if l.Failed() {
			l.Logf("the task's log:\n%s", l.RunLog(t))
		}
	})
	return t
}

// Task returns the task in its present state.
func (l *Lab) Task(id string) *fermata.Task {
	l.Helper()
	t, err := l.Admin.Task(l.Context(), id)
	if err != nil {
		l.Fatal(err)
	}
	return t
}

// AwaitState waits until the task is in the state, and returns it.
func (l *Lab) AwaitState(id string, want fermata.TaskState) *fermata.Task {
	l.Helper()
	var t *fermata.Task
	patience.Await(l, "the task is "+string(want), func() bool {
		t = l.Task(id)
		if t.State != want && t.State.IsEnded() {
			l.Fatalf("the task is %s: %s %s", t.State, t.Reason, t.Summary)
		}
		return t.State == want
	})
	return t
}

// RunLog returns the output of all runs of the task.
func (l *Lab) RunLog(t *fermata.Task) string {
	ctx := context.WithoutCancel(l.Context())
	runs, err := l.Admin.Runs(ctx, t.ID)
	if err != nil {
		return err.Error()
	}
	var sb strings.Builder
	for _, r := range runs {
		sb.WriteString("--- " + r.ID + " " + string(r.State) + " " + string(r.Result) + "\n")
		chunks, _, _, err := l.Admin.RunLog(ctx, r.ID, 0, 0)
		if err != nil {
			return err.Error()
		}
		for _, chunk := range chunks {
			sb.WriteString(chunk.Text)
		}
	}
	return sb.String()
}

// RunCLI runs a command of the program as in another person's terminal, and returns its output.
func (l *Lab) RunCLI(args ...string) string {
	l.Helper()
	cmd := exec.CommandContext(l.Context(), l.Binary, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + l.Room.Temp, "FERMATA_URL=" + l.Server.URL, "FERMATA_TOKEN=" + l.adminToken}
	out, err := cmd.CombinedOutput()
	if err != nil {
		l.Fatalf("fermata %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// RunGit runs git in the project, and returns its output.
func (l *Lab) RunGit(args ...string) string {
	l.Helper()
	cmd := exec.CommandContext(l.Context(), "git", append([]string{"-c", "user.name=t", "-c", "user.email=t@localhost"}, args...)...)
	cmd.Dir = l.Room.Work
	out, err := cmd.CombinedOutput()
	if err != nil {
		l.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// RequestsOf returns the requests to the model to which the rule replied.
func (l *Lab) RequestsOf(rule string) []scriptedmodel.Request {
	var found []scriptedmodel.Request
	for _, r := range l.Room.Model.Requests() {
		if r.Rule == rule {
			found = append(found, r)
		}
	}
	return found
}

// OnlyConversation returns the conversation of the one request to which the rule replied.
func (l *Lab) OnlyConversation(rule string) *scriptedmodel.Conversation {
	l.Helper()
	found := l.RequestsOf(rule)
	if len(found) != 1 {
		l.Fatalf("the rule %s replied %d times\n%s", rule, len(found), Transcript(l.Room.Model))
	}
	return found[0].Conversation
}

// CheckAgentsGone checks that no agent program is running.
func (l *Lab) CheckAgentsGone() {
	l.Helper()
	for _, pid := range l.AgentPIDs() {
		l.Errorf("the process %s is there while the task waits", pid)
	}
}

// AgentPIDs returns the ids of the agent's processes. It finds them by their home, which is the room's.
func (l *Lab) AgentPIDs() (pids []string) {
	l.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		l.Fatal(err)
	}
	for _, e := range entries {
		env, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if err == nil && strings.Contains(string(env), "HOME="+l.Room.Home) && strings.Contains(string(env), "FERMATA_RUN=") {
			pids = append(pids, e.Name())
		}
	}
	return pids
}

// Freeze stops the worker until the test ends.
func (l *Lab) Freeze() {
	l.Helper()
	l.worker.Freeze()
	l.Cleanup(func() { l.worker.Signal(syscall.SIGCONT) })
}
