package agents

import (
	"context"
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

// finishes is how long an agent may take for a run.
const finishes = time.Minute

// world is a server on a data folder, a repository, and a room for one kind of
// agent.
type world struct {
	*testing.T
	kind    kind
	room    *agent.Room
	env     agent.Env
	fermata string
	data    string
	work    string
	server  *process.Server
	// admin is a person's token, worker a worker's, ask an agent's.
	admin, worker, ask string
}

// kind is what tests need to know of an agent program.
type kind struct {
	name string
	env  func(*agent.Room, testing.TB) agent.Env
	// args are further arguments of the program.
	args []string
	// write is the call with which this agent writes a file of the working copy.
	write func(name, text string) scriptedmodel.Part
	// ask is how the model calls the tool that asks.
	ask string
}

func newWorld(t *testing.T, k kind, script scriptedmodel.Script) *world {
	t.Helper()
	w := &world{T: t, kind: k, room: agent.NewRoom(t, script), fermata: agent.Fermata(t), data: t.TempDir(), work: t.TempDir()}
	w.env = k.env(w.room, t)
	w.git("init", "--quiet", "--initial-branch=main")
	w.git("-c", "user.name=ana", "-c", "user.email=ana@example.com", "commit", "--quiet", "--allow-empty", "-m", "Begin")
	w.serve()
	w.admin = w.server.FirstToken
	w.worker = w.token("worker", fermata.ScopeWork, fermata.ScopeAsk, fermata.ScopeRead)
	w.ask = w.token("agents", fermata.ScopeAsk)
	return w
}

// serve starts the server on its data folder, at an address of its own.
func (w *world) serve() {
	w.Helper()
	w.server = process.Serve(w, w.fermata, []string{"--data", w.data})
}

func (w *world) token(name string, scopes ...fermata.Scope) string {
	w.Helper()
	made, err := w.client().CreateToken(w.Context(), fermata.NewToken{Name: name, Kind: fermata.ActorAgent, Scopes: scopes})
	if err != nil {
		w.Fatal(err)
	}
	return made.Secret
}

// client speaks for a person.
func (w *world) client() *client.Client {
	w.Helper()
	token := w.admin
	if token == "" {
		token = w.server.FirstToken
	}
	return process.NewFront(w, w.server).Client(w, token)
}

func (w *world) task(title, body string) *fermata.Task {
	w.Helper()
	t, err := w.client().CreateTask(w.Context(), fermata.NewTask{Title: title, Body: body, Runner: w.kind.name})
	if err != nil {
		w.Fatal(err)
	}
	return t
}

func (w *world) look(id string) *fermata.Task {
	w.Helper()
	t, err := w.client().Task(w.Context(), id)
	if err != nil {
		w.Fatal(err)
	}
	return t
}

// start starts a worker; with "--once" it ends when there is nothing to do.
func (w *world) start(args ...string) *process.Child {
	w.Helper()
	env := append([]string{"FERMATA_TOKEN=" + w.worker, "FERMATA_URL=" + w.server.URL, "FERMATA_AGENT_TOKEN=" + w.ask}, w.env...)
	all := []string{
		"worker", "--name", "w1", "--workdir", w.room.Work, "--folder", w.work,
		"--runner", w.kind.name, "--program", agent.Program(w, w.kind.name),
	}
	for _, name := range w.env.Names() {
		all = append(all, "--pass-env", name)
	}
	all = append(append(all, args...), "--")
	return process.Start(w, w.fermata, env, append(all, w.kind.args...)...)
}

// once runs a worker until there is nothing to do.
func (w *world) once() {
	w.Helper()
	if err := w.start("--once").Wait(finishes); err != nil {
		w.Fatal(err)
	}
}

// await waits for a task to be in a state.
func (w *world) await(id string, state fermata.TaskState) *fermata.Task {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), finishes)
	defer cancel()
	c := w.client()
	found := w.look(id)
	if found.State == state {
		return found
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	err := c.Stream(ctx, client.StreamQuery{}, func(*fermata.Event) error {
		if found = w.look(id); found.State == state {
			stop()
		}
		return nil
	})
	if found.State != state {
		w.Fatalf("the task is %s (%s), waited for %s: %v", found.State, found.Summary, state, err)
	}
	return found
}

// command runs fermata as a person in another terminal does.
func (w *world) command(args ...string) string {
	w.Helper()
	cmd := exec.CommandContext(w.Context(), w.fermata, args...)
	cmd.Env = append(os.Environ(), "FERMATA_URL="+w.server.URL, "FERMATA_TOKEN="+w.admin, "HOME="+w.data, "XDG_CONFIG_HOME="+w.data)
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.Fatalf("fermata %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// git runs git in the project.
func (w *world) git(args ...string) string {
	w.Helper()
	cmd := exec.CommandContext(w.Context(), "git", args...)
	cmd.Dir = w.room.Work
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// copyOf is where a task is worked on.
func (w *world) copyOf(t *fermata.Task) string { return filepath.Join(w.work, t.ID) }

// log is what the runs of a task wrote.
func (w *world) log(t *fermata.Task) string {
	w.Helper()
	runs, err := w.client().Runs(w.Context(), t.ID)
	if err != nil {
		w.Fatal(err)
	}
	var sb strings.Builder
	for _, r := range runs {
		chunks, _, _, err := w.client().Log(w.Context(), r.ID, 0, 0)
		if err != nil {
			w.Fatal(err)
		}
		for _, c := range chunks {
			sb.WriteString(c.Text)
		}
	}
	return sb.String()
}
