// Package app puts the parts together, and starts and stops them in order.
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
	"github.com/fermata-hq/fermata/internal/api"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/insight"
	"github.com/fermata-hq/fermata/internal/store"
)

// ServeOptions say how to serve.
type ServeOptions struct {
	Listen string
	// Data is the folder of the SQLite file; Database a PostgreSQL instead.
	Data, Database string
	// SingleUser serves one local user without sign-in; loopback only.
	SingleUser bool
	// NewAdminToken prints a new admin's token, when the first one was lost.
	NewAdminToken bool
	// Workers is how many tasks run inside the server at the same time.
	Workers int
	// Worker says how they run.
	Worker  WorkerOptions
	Version string
	Log     *slog.Logger
	// Out is where the address and the first token are printed.
	Out io.Writer
	// Ready is called when the server answers.
	Ready func(Served)
}

// Served tells where a server is to be reached.
type Served struct {
	URL string
	// FirstToken is the first admin's token; empty at any later start.
	FirstToken string
	Engine     *engine.Engine
}

// stopWithin is how long requests under way may take when the server stops.
const stopWithin = 10 * time.Second

// Serve opens and migrates the database and serves until ctx ends. Then it
// takes no new work, hands the tasks of its workers back, lets requests end,
// and closes the database.
func Serve(ctx context.Context, o ServeOptions) error {
	if err := checkListen(o); err != nil {
		return err
	}
	return withDatabase(ctx, o.Data, o.Database, func(db *store.DB) error { return serve(ctx, o, db) })
}

// withDatabase opens and migrates the database for this process alone, and
// closes it when use returns.
func withDatabase(ctx context.Context, data, database string, use func(db *store.DB) error) error {
	opts, err := storeOptions(data, database)
	if err != nil {
		return err
	}
	unlock, err := lockFile(opts)
	if err != nil {
		return err
	}
	defer unlock()
	db, err := openMigrated(ctx, opts)
	if err != nil {
		return err
	}
	return errors.Join(use(db), db.Close())
}

func openMigrated(ctx context.Context, opts store.Options) (*store.DB, error) {
	db, err := store.Open(ctx, opts)
	if err != nil {
		return nil, err
	}
	if err := db.Migrate(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// Migrate brings a database up to date and does nothing else.
func Migrate(ctx context.Context, data, database string, out io.Writer) error {
	return withDatabase(ctx, data, database, func(db *store.DB) error {
		_, err := fmt.Fprintf(out, "the %s database is up to date\n", db.Dialect())
		return err
	})
}

// checkListen refuses to serve without sign-in where others can reach it.
func checkListen(o ServeOptions) error {
	host, _, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	ip := net.ParseIP(host)
	if o.SingleUser && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("--single-user serves without sign-in, so it needs a loopback address such as 127.0.0.1:7433, not %s", o.Listen)
	}
	return nil
}

func serve(ctx context.Context, o ServeOptions, db *store.DB) error {
	metrics := insight.NewMetrics()
	e := engine.New(db, engine.Options{Log: o.Log, OnCommit: metrics.Observe})
	metrics.Follow(e.Stats)
	if err := e.Start(ctx); err != nil {
		return err
	}
	server := api.New(api.Config{
		Engine: e, Log: o.Log, Version: o.Version, SingleUser: o.SingleUser, Registry: metrics.Registry(),
	})
	mountMCP(server, e, o)
	first, err := adminToken(ctx, o, e)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	served := Served{URL: "http://" + listener.Addr().String(), FirstToken: first, Engine: e}
	announce(o, db, served)
	return run(ctx, o, server, listener, served)
}

// adminToken returns the token that this start prints: the first admin's, or
// a new one when the operator asks for it.
func adminToken(ctx context.Context, o ServeOptions, e *engine.Engine) (string, error) {
	if o.SingleUser {
		return "", nil
	}
	first, err := e.FirstToken(ctx)
	if first != "" || err != nil || !o.NewAdminToken {
		return first, err
	}
	t, err := e.CreateToken(ctx, systemCaller, fermata.NewToken{
		Name: "admin by the operator", Kind: fermata.ActorHuman, Member: "admin", Role: fermata.RoleAdmin,
		Scopes: []fermata.Scope{fermata.ScopeAdmin},
	})
	if err != nil {
		return "", err
	}
	return t.Secret, nil
}

// announce prints where the server is, and once the first admin's token.
func announce(o ServeOptions, db *store.DB, s Served) {
	_, _ = fmt.Fprintf(o.Out, "fermata serves on %s (%s)\n", s.URL, db.Dialect())
	what := "First start. The token of the first admin"
	if o.NewAdminToken {
		what = "A new token of the admin"
	}
	if s.FirstToken != "" {
		_, _ = fmt.Fprintf(o.Out, `
%s, shown this once:

    %s

    fermata login --url %s     stores it for the command line

`, what, s.FirstToken, s.URL)
	}
}

// run serves until ctx ends or a part fails, and stops the parts in order.
func run(ctx context.Context, o ServeOptions, server *api.Server, listener net.Listener, s Served) error {
	background, stopBackground := context.WithCancel(context.WithoutCancel(ctx))
	defer stopBackground()
	var parts sync.WaitGroup
	failed := make(chan error, 1)
	httpServer := &http.Server{Handler: server, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	parts.Go(func() { s.Engine.RunSweeps(background) })
	parts.Go(func() { s.Engine.RunTail(background) })
	go func() { failed <- httpServer.Serve(listener) }()
	if o.Ready != nil {
		o.Ready(s)
	}

	workersDone := make(chan error, 1)
	go func() { workersDone <- embeddedWorkers(ctx, o, s) }()

	var err error
	select {
	case <-ctx.Done():
		o.Log.Info("stopping")
	case err = <-failed:
	case err = <-workersDone:
		if err == nil {
			// No workers inside: serve on.
			workersDone <- nil
			select {
			case <-ctx.Done():
			case err = <-failed:
			}
		}
	}
	// Workers hand their tasks back while the server still answers.
	if ctx.Err() != nil {
		err = errors.Join(err, <-workersDone)
	}
	server.SetDraining()
	stopping, cancel := context.WithTimeout(background, stopWithin)
	defer cancel()
	if shutdownErr := httpServer.Shutdown(stopping); shutdownErr != nil {
		err = errors.Join(err, httpServer.Close())
	}
	stopBackground()
	parts.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// embeddedToken names the token of a server's own workers, so that the next
// start finds the one that a crash has left.
func embeddedToken(o ServeOptions) string {
	host, err := os.Hostname()
	if err != nil {
		host = "this host"
	}
	return "workers inside " + host + " " + o.Listen
}

// systemCaller is the server itself.
var systemCaller = fermata.Caller{
	WorkspaceID: store.DefaultWorkspace, Kind: fermata.ActorSystem, Scopes: []fermata.Scope{fermata.ScopeAdmin},
}

// embeddedWorkers runs workers against the server's own address until ctx
// ends. They use the API as any worker does, with a token of their own.
func embeddedWorkers(ctx context.Context, o ServeOptions, s Served) error {
	if o.Workers == 0 {
		return nil
	}
	token, err := renewToken(ctx, s, embeddedToken(o), fermata.ScopeWork, fermata.ScopeAsk, fermata.ScopeRead)
	if err != nil {
		return err
	}
	w := o.Worker
	if w.AgentToken == "" && needsAgentToken(w.Runners) {
		if w.AgentToken, err = renewToken(ctx, s, "agents of "+embeddedToken(o), fermata.ScopeAsk); err != nil {
			return err
		}
	}
	if w.Folder == "" && o.Data != "" {
		w.Folder = filepath.Join(o.Data, "work")
	}
	w.URL, w.Token, w.Concurrency, w.Log = s.URL, token, o.Workers, o.Log
	return RunWorker(ctx, w)
}

// renewToken makes a token for an agent and revokes those of the same name.
func renewToken(ctx context.Context, s Served, name string, scopes ...fermata.Scope) (secret string, err error) {
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
