//go:build agents

package acp

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/test/agent"
	"github.com/fermata-hq/fermata/test/process"
	"github.com/fermata-hq/fermata/test/scriptedmodel"
)

func TestMain(m *testing.M) { agent.Main(m) }

// within is how long one step of a story may take.
const within = 90 * time.Second

// lab is a server, a worker with one real agent, and a repository.
type lab struct {
	*testing.T
	room         *agent.Room
	binary       string
	data, folder string
	command      []string
	env          agent.Env
	server       *process.Server
	worker       *process.Child
	admin        *client.Client
	// The tokens of the first admin, the worker and its agents.
	adminToken, workerToken, agentToken string
}

// start starts a server and a worker whose agent is the command.
func start(t *testing.T, room *agent.Room, env agent.Env, command ...string) *lab {
	t.Helper()
	l := &lab{
		T: t, room: room, binary: agent.Fermata(t), data: t.TempDir(), folder: t.TempDir(), command: command, env: env,
	}
	l.git("init", "--quiet", "--initial-branch=main")
	l.git("add", "--all")
	l.git("commit", "--quiet", "--allow-empty", "--message=Begin")
	l.server = process.Serve(t, l.binary, []string{"--data", l.data})
	l.adminToken = l.server.FirstToken
	l.connect()
	l.workerToken = l.token("worker", fermata.ScopeWork, fermata.ScopeAsk, fermata.ScopeRead)
	l.agentToken = l.token("agents", fermata.ScopeAsk)
	l.startWorker()
	return l
}

func (l *lab) connect() {
	l.Helper()
	var err error
	if l.admin, err = client.New(l.server.URL, l.adminToken); err != nil {
		l.Fatal(err)
	}
}

func (l *lab) token(name string, scopes ...fermata.Scope) string {
	l.Helper()
	made, err := l.admin.CreateToken(l.Context(), fermata.NewToken{Name: name, Kind: fermata.ActorAgent, Scopes: scopes})
	if err != nil {
		l.Fatal(err)
	}
	return made.Secret
}

// startWorker starts the worker. Its agent waits for people a second only.
func (l *lab) startWorker() {
	l.Helper()
	env := append(agent.Env{}, l.env...)
	env = append(env, "FERMATA_URL="+l.server.URL, "FERMATA_TOKEN="+l.workerToken, "FERMATA_AGENT_TOKEN="+l.agentToken)
	args := []string{"worker", "--name", "w", "--lease", "3s", "--workdir", l.room.Work, "--folder", l.folder, "--runner", "acp", "--live-wait", "1s"}
	for _, name := range l.env.Names() {
		args = append(args, "--pass-env", name)
	}
	l.worker = process.Start(l, l.binary, env, append(append(args, "--"), l.command...)...)
}

// crash kills server and worker, and starts both again on the same data.
func (l *lab) crash() {
	l.Helper()
	l.worker.Kill()
	l.server.Kill()
	address := strings.TrimPrefix(l.server.URL, "http://")
	l.server = process.Serve(l, l.binary, []string{"--data", l.data}, "--listen", address)
	l.connect()
	l.startWorker()
}

func (l *lab) create(title string) *fermata.Task {
	l.Helper()
	t, err := l.admin.CreateTask(l.Context(), fermata.NewTask{Title: title})
	if err != nil {
		l.Fatal(err)
	}
	return t
}

// state waits until the task is in the state, and returns it.
func (l *lab) state(id string, want fermata.TaskState) *fermata.Task {
	l.Helper()
	var t *fermata.Task
	process.Await(l, within, "the task is "+string(want), func() bool {
		var err error
		if t, err = l.admin.Task(l.Context(), id); err != nil {
			l.Fatal(err)
		}
		if t.State != want && t.State.Ended() {
			l.Fatalf("the task is %s: %s %s\n%s", t.State, t.Reason, t.Summary, l.log(t))
		}
		return t.State == want
	})
	return t
}

// log is the output of all runs of the task.
func (l *lab) log(t *fermata.Task) string {
	runs, err := l.admin.Runs(l.Context(), t.ID)
	if err != nil {
		return err.Error()
	}
	var sb strings.Builder
	for _, r := range runs {
		sb.WriteString("--- " + r.ID + " " + string(r.State) + " " + string(r.Result) + "\n")
		chunks, _, _, err := l.admin.Log(l.Context(), r.ID, 0, 0)
		if err != nil {
			return err.Error()
		}
		for _, c := range chunks {
			sb.WriteString(c.Text)
		}
	}
	return sb.String()
}

// cli runs a command of the program as another person's terminal would.
func (l *lab) cli(args ...string) {
	l.Helper()
	cmd := exec.CommandContext(l.Context(), l.binary, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + l.room.Temp, "FERMATA_URL=" + l.server.URL, "FERMATA_TOKEN=" + l.adminToken}
	if out, err := cmd.CombinedOutput(); err != nil {
		l.Fatalf("fermata %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func (l *lab) git(args ...string) string {
	l.Helper()
	cmd := exec.CommandContext(l.Context(), "git", append([]string{"-c", "user.name=t", "-c", "user.email=t@localhost"}, args...)...)
	cmd.Dir = l.room.Work
	out, err := cmd.CombinedOutput()
	if err != nil {
		l.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// only is the one request for which the rule replied.
func (l *lab) only(rule string) *scriptedmodel.Conversation {
	l.Helper()
	var found []scriptedmodel.Request
	for _, r := range l.room.Model.Requests() {
		if r.Rule == rule {
			found = append(found, r)
		}
	}
	if len(found) != 1 {
		l.Fatalf("the rule %s replied %d times\n%s", rule, len(found), agent.Transcript(l.room.Model))
	}
	return found[0].Conversation
}

// gone checks that no agent program runs any more: none has the room as its home.
func (l *lab) gone() {
	l.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		l.Fatal(err)
	}
	for _, e := range entries {
		env, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if err == nil && strings.Contains(string(env), "HOME="+l.room.Home) && strings.Contains(string(env), "FERMATA_RUN=") {
			l.Errorf("the process %s is there while the task waits", e.Name())
		}
	}
}
