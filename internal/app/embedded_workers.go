package app

import (
	"context"
	"os"
	"path/filepath"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/config"
	"github.com/fermata-hq/fermata/internal/keys"
)

// startWorkers starts the server's own workers. Their failure ends the server. The function stop ends the workers and
// waits until they have ended.
func startWorkers(ctx context.Context, o ServeOptions, s RunningServer, failed chan<- error) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		err := runEmbeddedWorkers(ctx, o, s)
		if err != nil && ctx.Err() == nil {
			failed <- err
			err = nil
		}
		done <- err
	}()
	return func() error {
		cancel()
		return <-done
	}
}

// embeddedTokenName returns the name of the token of a server's own workers. By this name, the next start finds a token
// that a crash has left.
func embeddedTokenName(o ServeOptions) string {
	host, err := os.Hostname()
	if err != nil {
		host = "this host"
	}
	return "workers inside " + host + " " + o.Listen
}

// checkEmbeddedWorkers refuses options with which the workers inside the server could not start.
func checkEmbeddedWorkers(ctx context.Context, o ServeOptions) error {
	if o.Workers == 0 {
		return nil
	}
	w := o.workerOptions()
	w.URL = "http://" + o.Listen
	if w.Agents.AgentToken == "" {
		// The server creates the agents' token once it has a database.
		w.Agents.AgentToken = fermata.NewSecret()
	}
	if _, err := runners(w); err != nil {
		return err
	}
	if err := w.check(); err != nil {
		return err
	}
	_, err := findSandboxProgram(ctx, w.Agents.Isolation)
	return err
}

// runEmbeddedWorkers runs workers against the server's own address until ctx ends. They use the API like other workers,
// with a token of their own.
func runEmbeddedWorkers(ctx context.Context, o ServeOptions, s RunningServer) error {
	if o.Workers == 0 {
		return nil
	}
	token, err := renewToken(ctx, s, embeddedTokenName(o), fermata.ScopeWork, fermata.ScopeAsk, fermata.ScopeRead)
	if err != nil {
		return err
	}
	w := o.workerOptions()
	if w.Agents.AgentToken == "" && needsAgentToken(w.Agents.Runners) {
		if w.Agents.AgentToken, err = renewToken(ctx, s, "agents of "+embeddedTokenName(o), fermata.ScopeAsk); err != nil {
			return err
		}
	}
	if o.Data != "" {
		w.Folder = filepath.Join(o.Data, "work")
	}
	if w.hiddenPaths, err = o.secretPaths(); err != nil {
		return err
	}
	w.URL, w.Token = s.URL, token
	return RunWorker(ctx, w)
}

// workerOptions returns the options of the workers inside the server.
func (o ServeOptions) workerOptions() WorkerOptions {
	return WorkerOptions{
		Worker: config.Worker{Name: o.WorkerName, Concurrency: o.Workers, WorkDir: o.WorkDir, Agents: o.Agents}, Log: o.Log,
	}
}

// secretPaths returns the data folder and the file of the master keys. No agent in a sandbox may see these.
func (o ServeOptions) secretPaths() ([]string, error) {
	folder, err := DataFolder(o.Data)
	if err != nil {
		return nil, err
	}
	location, err := keys.Locate(o.MasterKeyFile, folder)
	return []string{folder, location.Path}, err
}

// renewToken creates a token for an agent, and revokes earlier tokens with the same name.
func renewToken(ctx context.Context, s RunningServer, name string, scopes ...fermata.Scope) (secret string, err error) {
	tokens, err := s.Engine.Tokens(ctx, systemCaller)
	if err != nil {
		return "", err
	}
	for _, t := range tokens {
		if t.Name == name && t.RevokedAt == nil {
			if _, err := s.Engine.RevokeToken(ctx, systemCaller, t.ID); err != nil {
				return "", err
			}
		}
	}
	token, err := s.Engine.CreateToken(ctx, systemCaller, fermata.NewToken{Name: name, Kind: fermata.ActorAgent, Scopes: scopes})
	if err != nil {
		return "", err
	}
	return token.Secret, nil
}
