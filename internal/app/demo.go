package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/config"
)

// DemoOptions configure [Demo].
type DemoOptions struct {
	config.Demo
	// Program is the path of this program, which is also the agent.
	Program string
	Log     *slog.Logger
	Out     io.Writer
	// Respond lets the person answer in this terminal, as `fermata respond`
	// does. It is nil if no person can type there.
	Respond func(ctx context.Context, url, token, question string) int
}

// demoTimeout limits each part of the demonstration that does not wait for a
// person.
const demoTimeout = time.Minute

// Demo shows the main use: an agent works on a scratch repository, asks and
// stops. After a person has answered, it resumes and commits.
func Demo(ctx context.Context, o DemoOptions) error {
	folder := o.Data
	if folder == "" {
		temp, err := os.MkdirTemp("", "fermata-demo-")
		if err != nil {
			return fmt.Errorf("make the demo's folder: %w", err)
		}
		defer func() { _ = os.RemoveAll(temp) }()
		folder = temp
	}
	repo := filepath.Join(folder, "project")
	if err := scratchRepository(ctx, repo); err != nil {
		return err
	}
	return withServer(ctx, ServeOptions{
		Server: config.Server{
			Listen: o.Listen, Storage: config.Storage{Data: filepath.Join(folder, "data")}, Workers: 1, WorkDir: repo,
			Agents: config.Agents{Command: []string{o.Program, "demo-agent"}},
		},
		WorkerName: "demo-worker", Log: o.Log, Out: io.Discard,
	}, func(ctx context.Context, served RunningServer) error {
		return (&demo{DemoOptions: o, repo: repo, server: served}).run(ctx)
	})
}

// scratchRepository creates a small project without a configuration file.
func scratchRepository(ctx context.Context, dir string) error {
	if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("make the scratch project: %w", err)
	}
	readme := "# Lighthouse\n\nA small web server. It has no configuration file yet.\n"
	if err := os.WriteFile(filepath.Join(dir, "README.md"), []byte(readme), 0o600); err != nil {
		return fmt.Errorf("make the scratch project: %w", err)
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main"},
		{"add", "README.md"},
		{"commit", "--quiet", "--message", "Begin"},
	} {
		if _, err := git(ctx, dir, args...); err != nil {
			return err
		}
	}
	return nil
}

// git runs git with the demonstration's own author.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	args = append([]string{"-C", dir, "-c", "user.name=Fermata demo", "-c", "user.email=demo@localhost"}, args...)
	cmd := exec.CommandContext(ctx, "git", args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return string(out), nil
}

// demo is one demonstration.
type demo struct {
	DemoOptions
	repo   string
	server RunningServer
	person *client.Client
	// token is the person's token.
	token string
}

func (d *demo) run(ctx context.Context) error {
	if err := d.signIn(ctx); err != nil {
		return err
	}
	d.say("A server on SQLite and one worker run at %s.", d.server.URL)
	task, err := d.person.CreateTask(ctx, fermata.NewTask{
		Title: "Add a configuration file",
		Body:  "Give the project a configuration file and describe it in the README.",
	})
	if err != nil {
		return err
	}
	d.say("Task %s: %s. The worker claims it and starts the agent.", task.ID, task.Title)
	q, err := d.awaitQuestion(ctx, task.ID)
	if err != nil {
		return err
	}
	d.say("The agent asked and STOPPED. No process waits: the question is a row, and the draft stays in the task's worktree.\n")
	if err := d.awaitAnswer(ctx, q); err != nil {
		return err
	}
	return d.showResult(ctx, task.ID)
}

// signIn uses the first admin's token, or creates one if an earlier demonstration has left its folder.
func (d *demo) signIn(ctx context.Context) error {
	d.token = d.server.FirstToken
	if d.token == "" {
		t, err := d.server.Engine.CreateToken(ctx, systemCaller, fermata.NewToken{
			Name: "demo", Kind: fermata.ActorHuman, Member: "admin", Role: fermata.RoleAdmin, Scopes: []fermata.Scope{fermata.ScopeAdmin},
			ExpiresIn: "1d",
		})
		if err != nil {
			return err
		}
		d.token = t.Secret
	}
	var err error
	d.person, err = client.New(d.server.URL, d.token)
	return err
}

// awaitQuestion waits until the agent has asked and its run has ended.
func (d *demo) awaitQuestion(ctx context.Context, taskID string) (*fermata.Question, error) {
	ctx, cancel := context.WithTimeout(ctx, demoTimeout)
	defer cancel()
	t, err := d.awaitState(ctx, taskID, func(t *fermata.Task) bool { return t.State.IsSuspended() })
	if err != nil {
		return nil, err
	}
	return t.PendingQuestion, nil
}

// errReached ends a stream that has shown the expected state.
var errReached = errors.New("seen")

// awaitState follows the task's events until the task has reached the expected
// state. It returns an error if the task fails.
func (d *demo) awaitState(ctx context.Context, taskID string, reached func(*fermata.Task) bool) (*fermata.Task, error) {
	var task *fermata.Task
	err := d.person.Stream(ctx, client.StreamQuery{TaskID: taskID, FromStart: true}, func(*fermata.Event) error {
		t, err := d.person.Task(ctx, taskID)
		switch {
		case err != nil:
			return err
		case reached(t):
			task = t
			return errReached
		case t.State == fermata.TaskFailed:
			return fmt.Errorf("the task failed: %s", t.Summary)
		}
		return nil
	})
	if errors.Is(err, errReached) {
		err = nil
	}
	return task, err
}

// awaitAnswer waits until the question is answered: by the option, by the person in
// this terminal, or in another place. The first answer counts.
func (d *demo) awaitAnswer(ctx context.Context, q *fermata.Question) error {
	if words := strings.Fields(d.Answer); len(words) > 0 {
		d.say("Answering for you: %s", d.Answer)
		answers := map[string]any{"comments": true, "format": words[0]}
		if len(words) > 1 {
			answers["comments"] = words[1] == "yes" || words[1] == "true"
		}
		_, err := d.person.Answer(ctx, q.ID, fermata.Answer{Answers: answers, Channel: "cli"})
		return err
	}
	where := "Answer here, or in another terminal:"
	if d.Respond == nil {
		where = "Answer in a terminal, or run the demonstration with --answer yaml:"
	}
	d.say("%s\n\n    FERMATA_URL=%s FERMATA_TOKEN=%s \\\n        %s respond %s\n", where, d.server.URL, d.token, d.Program, q.ID)
	prompting, stop := context.WithCancel(ctx)
	defer stop()
	if d.Respond != nil {
		go d.Respond(prompting, d.server.URL, d.token, q.ID)
	}
	for {
		closed, err := d.person.WaitQuestion(ctx, q.ID, 25*time.Second)
		if err != nil {
			return err
		}
		if closed.Status != fermata.Pending {
			d.say("\nThe question was %s.", closed.Resolution.Sentence())
			return nil
		}
	}
}

// showResult waits for the resumed agent and shows what it committed.
func (d *demo) showResult(ctx context.Context, taskID string) error {
	ctx, cancel := context.WithTimeout(ctx, demoTimeout)
	defer cancel()
	t, err := d.awaitState(ctx, taskID, func(t *fermata.Task) bool { return t.State.IsEnded() })
	if err != nil {
		return err
	}
	if t.State != fermata.TaskDone {
		return fmt.Errorf("the task is %s: %s", t.State, t.Reason)
	}
	branch := "fermata/" + taskID
	shown, err := git(ctx, d.repo, "log", "--stat", "--format=%h %s", "main.."+branch)
	if err != nil {
		return err
	}
	d.say("The agent RESUMED with the answer and finished: %s\n\nCommitted on branch %s:\n\n%s", t.Summary, branch, shown)
	report, err := d.person.VerifyAudit(ctx)
	if err != nil {
		return err
	}
	if !report.OK {
		return fmt.Errorf("the audit chain is broken: %s", report.Problem)
	}
	d.say("%d events, chained by hash and verified. That is Fermata.", report.Events)
	return nil
}

func (d *demo) say(format string, args ...any) {
	_, _ = fmt.Fprintf(d.Out, format+"\n", args...)
}
