// Package workers kills, stops and suspends workers while agents run. Other
// workers continue the tasks, and the server refuses calls about a lost run.
package workers

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/process"
)

func TestMain(m *testing.M) { process.Main(m) }

// lease is the lease of the workers: how long a run keeps its task without a heartbeat.
const lease = 10 * time.Second

// agent is a shell script. In its first run it waits for the file go; in any other, it
// completes at once. It writes its process id into a file. In the first run, it also
// starts a command in a new session, as coding agents do, and writes that id too.
const agent = `
mark='echo $$ >"$1.part"; mv "$1.part" "$1"; '
if [ "$FERMATA_ATTEMPT" = 1 ]; then
	echo "$FERMATA_RESULT" >"$1/papers"
	setsid sh -c "$mark"'exec sleep 1000' sh "$1/command" </dev/null >/dev/null 2>&1 &
	until [ -e "$1/command" ]; do sleep 0.01; done
fi
echo $$ >"$1/agent.$FERMATA_ATTEMPT.part"
mv "$1/agent.$FERMATA_ATTEMPT.part" "$1/agent.$FERMATA_ATTEMPT"
if [ "$FERMATA_ATTEMPT" = 1 ]; then
	until [ -e "$1/go" ]; do sleep 0.05; done
fi
echo "{\"result\":\"completed\",\"summary\":\"by run $FERMATA_ATTEMPT\"}" >"$FERMATA_RESULT"
`

// shop is a server, with a folder for the files that agents write.
type shop struct {
	*testing.T
	binary string
	marks  string
	server *process.Server
	admin  *client.Client
	// token is the token of a worker.
	token string
}

func newShop(t *testing.T, marks string, database []string, serve ...string) *shop {
	t.Helper()
	s := &shop{T: t, binary: process.Binary(t), marks: marks}
	s.server = process.Serve(t, s.binary, database, serve...)
	s.admin = process.NewLoadBalancer(t, s.server).Client(t, s.server.FirstToken)
	made, err := s.admin.CreateToken(t.Context(), fermata.NewToken{
		Name: "worker", Kind: fermata.ActorAgent, Scopes: []fermata.Scope{fermata.ScopeWork, fermata.ScopeAsk},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.token = made.Secret
	return s
}

// worker starts a worker.
func (s *shop) worker(name string) *process.Child {
	s.Helper()
	env := []string{"FERMATA_TOKEN=" + s.token, "FERMATA_URL=" + s.server.URL}
	return process.Start(s, s.binary, env, "worker", "--name", name, "--lease", lease.String(),
		"--folder", filepath.Join(s.marks, name), "--", "sh", "-c", agent, "agent", s.marks)
}

func (s *shop) create() *fermata.Task {
	s.Helper()
	t, err := s.admin.CreateTask(s.Context(), fermata.NewTask{Title: "Repair the shoe"})
	if err != nil {
		s.Fatal(err)
	}
	return t
}

// agentOf waits for the agent of an attempt and returns its process id.
func (s *shop) agentOf(attempt string) int { return s.processOf("agent." + attempt) }

// command waits for the command of the first agent and returns its process id.
func (s *shop) command() int { return s.processOf("command") }

func (s *shop) processOf(mark string) int {
	s.Helper()
	name := filepath.Join(s.marks, mark)
	patience.Await(s, "the process of "+mark+" runs", func() bool {
		_, err := os.Stat(name)
		return err == nil
	})
	text, err := os.ReadFile(name)
	if err != nil {
		s.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		s.Fatal(err)
	}
	return pid
}

// cleared waits until the first run's folder, which held its result file, is removed.
func (s *shop) cleared() {
	s.Helper()
	papers, err := os.ReadFile(filepath.Join(s.marks, "papers"))
	if err != nil {
		s.Fatal(err)
	}
	patience.Await(s, "the papers of the run are gone", func() bool {
		_, err := os.Stat(filepath.Dir(strings.TrimSpace(string(papers))))
		return errors.Is(err, os.ErrNotExist)
	})
}

// goOn lets the first run's agent complete.
func (s *shop) goOn() {
	s.Helper()
	if err := os.WriteFile(filepath.Join(s.marks, "go"), nil, 0o600); err != nil {
		s.Fatal(err)
	}
}

// becomes waits until the task is in a state and returns it.
func (s *shop) becomes(id string, state fermata.TaskState) *fermata.Task {
	s.Helper()
	var task *fermata.Task
	patience.Await(s, "the task is "+string(state), func() bool {
		t, err := s.admin.Task(s.Context(), id)
		if err != nil {
			s.Fatal(err)
		}
		task = t
		return t.State == state
	})
	return task
}

// runs checks the number and the states of a task's runs, and returns the runs.
func (s *shop) runs(id string, want ...fermata.RunState) []*fermata.Run {
	s.Helper()
	runs, err := s.admin.Runs(s.Context(), id)
	if err != nil {
		s.Fatal(err)
	}
	if len(runs) != len(want) {
		s.Fatalf("the task has %d runs, not %d", len(runs), len(want))
	}
	for i, r := range runs {
		if r.State != want[i] {
			s.Errorf("run %d is %s, not %s", i+1, r.State, want[i])
		}
	}
	return runs
}

// gone waits until a process has ended.
func (s *shop) gone(pid int) {
	s.Helper()
	patience.Await(s, "the agent has ended", func() bool { return !process.IsRunning(pid) })
}
