package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/agentcheck"
	"github.com/fermata-hq/fermata/internal/config"
	"github.com/fermata-hq/fermata/internal/process"
	"github.com/fermata-hq/fermata/internal/scriptedmodel"
)

// AgentCheckOptions name the agent program to check.
type AgentCheckOptions struct {
	// Agent is the runner's name; Path is the path of its program.
	Agent, Path string
	// Program is the path of this program, which is also the worker.
	Program string
}

// Time limits of one step of an agent check, and of the whole check.
const (
	agentCheckStepTimeout = time.Minute
	agentCheckTimeout     = 3 * time.Minute
)

// CheckAgent checks whether an agent program stops when it asks, continues with the answer, and does nothing that a
// rule denies. Its server, worker, model and home are temporary, and everything runs on loopback. The error says why
// the agent could not be checked.
func CheckAgent(ctx context.Context, o AgentCheckOptions) (steps []agentcheck.Result, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, agentCheckTimeout, fmt.Errorf("not done within %s", agentCheckTimeout))
	defer cancel()
	folder, err := os.MkdirTemp("", "fermata-doctor-")
	if err != nil {
		return nil, fmt.Errorf("make a folder to throw away: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	model := scriptedmodel.New(agentcheck.Script(o.Agent))
	url, stop, err := serveModel(ctx, model)
	if err != nil {
		return nil, err
	}
	defer stop()
	room, err := agentcheck.NewIsolatedHome(folder, url)
	if err != nil {
		return nil, err
	}
	serve := ServeOptions{
		Server: config.Server{Listen: "127.0.0.1:0", Storage: config.Storage{Data: filepath.Join(folder, "data")}}, Log: slog.New(slog.DiscardHandler), Out: io.Discard,
	}
	err = withServer(ctx, serve, func(ctx context.Context, served RunningServer) error {
		person, err := client.New(served.URL, served.FirstToken)
		if err != nil {
			return err
		}
		defer person.CloseIdleConnections()
		worker, err := agentCheckWorker(ctx, o, room, served)
		if err != nil {
			return err
		}
		stage := &agentcheck.Checker{Program: o.Agent, Model: model, Person: person, Folder: filepath.Join(room.Temp, "work"), Limit: agentCheckStepTimeout}
		return withProgram(ctx, worker, func(ctx context.Context) error {
			steps, err = stage.Check(ctx)
			return err
		})
	})
	return steps, err
}

// serveModel serves the model on loopback until stop is called.
func serveModel(ctx context.Context, m *scriptedmodel.Model) (url string, stop func(), err error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("listen: %w", err)
	}
	server := &http.Server{Handler: m, ReadHeaderTimeout: time.Minute}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(listener)
	}()
	return "http://" + listener.Addr().String(), func() {
		_ = server.Close()
		<-ended
	}, nil
}

// agentCheckWorker returns a worker program without the user's environment, so that its agent does not have it either.
func agentCheckWorker(ctx context.Context, o AgentCheckOptions, room *agentcheck.IsolatedHome, served RunningServer) (process.Program, error) {
	env, err := room.Env(o.Agent)
	if err != nil {
		return process.Program{}, err
	}
	token, err := renewToken(ctx, served, "worker", fermata.ScopeWork, fermata.ScopeAsk, fermata.ScopeRead)
	if err != nil {
		return process.Program{}, err
	}
	agents, err := renewToken(ctx, served, "agents", fermata.ScopeAsk)
	if err != nil {
		return process.Program{}, err
	}
	argv := []string{
		o.Program, "worker", "--name", "doctor", "--log-level", "warn", "--folder", filepath.Join(room.Temp, "work"),
		"--runner", o.Agent, "--program", o.Path,
	}
	for _, name := range env.Names() {
		argv = append(argv, "--pass-env", name)
	}
	return process.Program{
		Argv: argv, Dir: room.Work,
		Env: append(env, "FERMATA_URL="+served.URL, "FERMATA_TOKEN="+token, "FERMATA_AGENT_TOKEN="+agents),
	}, nil
}

// withProgram runs a program while use runs. If the program ends first, the context of use ends, too, with the
// program's output in its cause.
func withProgram(ctx context.Context, p process.Program, use func(context.Context) error) error {
	running, stop := context.WithCancel(ctx)
	defer stop()
	useCtx, end := context.WithCancelCause(ctx)
	defer end(nil)
	out := &outputTail{}
	p.Stdout, p.Stderr = out, out
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		state, err := p.Run(running)
		if running.Err() == nil {
			end(errors.Join(fmt.Errorf("the worker ended (%v): %s", state, out.text), err))
		}
	}()
	err := use(useCtx)
	stop()
	<-ended
	return err
}

// outputTail keeps the end of a program's output. Its two streams are copied at the same time.
type outputTail struct {
	mu   sync.Mutex
	text []byte
}

// maxOutputTail is the size of the kept output in bytes.
const maxOutputTail = 4000

// Write adds output and drops the oldest part. It never fails.
func (w *outputTail) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, p...)
	w.text = w.text[max(0, len(w.text)-maxOutputTail):]
	return len(p), nil
}
