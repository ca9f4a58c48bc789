//go:build unix

package acp_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/api"
	"github.com/fermata-hq/fermata/internal/process"
	"github.com/fermata-hq/fermata/internal/runner/acp"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/internal/testkit"
	"github.com/fermata-hq/fermata/internal/worker"
	"github.com/fermata-hq/fermata/test/patience"
)

// world is a server, a person, and a worker that drives the stand-in.
type world struct {
	testkit.World
	person   *client.Client
	agent    *client.Client
	folder   string
	sessions string
	// sandbox is the sandbox of the agent, or nil.
	sandbox *process.Sandbox
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{World: testkit.New(t, storetest.SQLite(t)), folder: t.TempDir(), sessions: t.TempDir()}
	url := testkit.Serve(t, api.New(api.Config{Engine: w.Engine})).URL
	secret, err := w.Engine.CreateFirstToken(t.Context())
	w.OK(err)
	w.person = testkit.NewClient(t, url, secret)
	token, err := w.person.CreateToken(t.Context(), fermata.NewToken{
		Name: "worker", Scopes: []fermata.Scope{fermata.ScopeWork, fermata.ScopeAsk, fermata.ScopeRead},
	})
	w.OK(err)
	w.agent = testkit.NewClient(t, url, token.Secret)
	return w
}

func (w *world) task(body string) *fermata.Task {
	w.Helper()
	t, err := w.person.CreateTask(w.Context(), fermata.NewTask{Title: "Paint the fence", Body: body, Runner: acp.Name})
	w.OK(err)
	return t
}

// With patient, the runner keeps an agent that asks alive for an hour. With impatient, it stops the agent at once.
const (
	patient   = time.Hour
	impatient = -time.Second
)

// mustRun runs a worker until there is nothing to do.
func (w *world) mustRun(does string, wait time.Duration) {
	w.Helper()
	w.OK(w.run(does, wait))
}

// run runs a worker until there is nothing to do, and returns the worker's error.
func (w *world) run(does string, wait time.Duration) error {
	o := standInOptions(w.T, does, 10*time.Second, sessionsEnv+"="+w.sessions)
	o.Asker, o.Wait = w.agent, wait
	wk, err := worker.New(w.agent, worker.Options{
		Name: "w1", Once: true, Sandbox: w.sandbox, Runners: []worker.Runner{acp.New(o)}, Copies: worker.Copies{Folder: w.folder},
	})
	if err != nil {
		return err
	}
	return wk.Run(w.Context())
}

// runInBackground runs a worker in the background. The returned function waits for its end.
func (w *world) runInBackground(does string) (end func()) {
	ended := make(chan error, 1)
	go func() { ended <- w.run(does, patient) }()
	return func() {
		w.Helper()
		w.OK(patience.Receive(w, "the worker has nothing to do any more", ended))
	}
}

// awaitQuestion waits for a question of the task.
func (w *world) awaitQuestion(id string) *fermata.Question {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), patience.Limit())
	defer cancel()
	for after := int64(0); ; {
		t, err := w.person.Task(ctx, id)
		w.OK(err)
		if t.PendingQuestionID != "" {
			q, err := w.person.Question(ctx, t.PendingQuestionID)
			w.OK(err)
			return q
		}
		events, err := w.Engine.Tail().Next(ctx, store.DefaultWorkspace, after)
		if err != nil {
			w.Fatalf("the task is %s (%s), waited for its question", t.State, t.Summary)
		}
		after = events[len(events)-1].Seq
	}
}

// awaitEvent waits for an event of the task.
func (w *world) awaitEvent(id string, typ fermata.EventType) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), patience.Limit())
	defer cancel()
	for after := int64(0); ; {
		events, err := w.Engine.Tail().Next(ctx, store.DefaultWorkspace, after)
		if err != nil {
			w.Fatalf("waited for %s: %v\n%s", typ, err, w.log(&fermata.Task{ID: id}))
		}
		for _, e := range events {
			if after = e.Seq; e.TaskID == id && e.Type == typ {
				return
			}
		}
	}
}

// decide approves or rejects.
func (w *world) decide(q *fermata.Question, value string) {
	w.Helper()
	_, err := w.person.Answer(w.Context(), q.ID, fermata.Answer{Answer: value, ActionHash: q.ActionHash})
	w.OK(err)
}

func (w *world) wantState(id string, state fermata.TaskState, summary string) *fermata.Task {
	w.Helper()
	t, err := w.person.Task(w.Context(), id)
	w.OK(err)
	if t.State != state || !strings.Contains(t.Summary, summary) {
		w.Fatalf("the task is %s %q, want %s with %q\n%s", t.State, t.Summary, state, summary, w.log(t))
	}
	return t
}

// wantRan checks that exactly these commands ran in the task's folder.
func (w *world) wantRan(t *fermata.Task, commands ...string) {
	w.Helper()
	data, err := os.ReadFile(filepath.Join(w.folder, t.ID, "ran"))
	if len(commands) == 0 && os.IsNotExist(err) {
		return
	}
	w.OK(err)
	if got := strings.TrimSpace(string(data)); got != strings.Join(commands, "\n") {
		w.Fatalf("ran %q, want %q", got, commands)
	}
}

// log returns the log of the task's last run.
func (w *world) log(t *fermata.Task) string {
	w.Helper()
	t, err := w.person.Task(w.Context(), t.ID)
	w.OK(err)
	chunks, _, _, err := w.person.RunLog(w.Context(), t.RunID, 0, 0)
	w.OK(err)
	var sb strings.Builder
	for _, c := range chunks {
		sb.WriteString(c.Text)
	}
	return sb.String()
}

func (w *world) wantLog(t *fermata.Task, texts ...string) {
	w.Helper()
	log := w.log(t)
	for _, text := range texts {
		if !strings.Contains(log, text) {
			w.Errorf("the log is\n%s\nwant in it %q", log, text)
		}
	}
}
