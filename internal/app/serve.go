// Package app creates the parts of the programs, connects them, and starts and stops them in order.
package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/api"
	"github.com/fermata-hq/fermata/internal/config"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/insight"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/web"
)

// ServeOptions configure [Serve].
type ServeOptions struct {
	config.Server
	// WorkerName is the name of the workers inside the server; empty means the name of the host.
	WorkerName string
	// Channels are further kinds of channels.
	Channels []delivery.Kind
	Version  string
	Log      *slog.Logger
	// Out is the output for the address and the first token.
	Out io.Writer
	// Ready is called when the server answers requests.
	Ready func(RunningServer)
}

// RunningServer describes how to reach a running server.
type RunningServer struct {
	URL string
	// FirstToken is the first admin's token, and FirstLink is the one-time link with which the first admin signs in.
	// Both are empty in single-user mode, and at later starts unless NewAdminToken is set.
	FirstToken, FirstLink string
	Engine                *engine.Engine
}

// shutdownTimeout is how long requests under way may take when the server stops.
const shutdownTimeout = 10 * time.Second

// Serve opens and migrates the database and serves until ctx ends. Then it takes no new work, hands the tasks of its
// workers back, waits for requests under way, and closes the database.
func Serve(ctx context.Context, o ServeOptions) error {
	if err := errors.Join(checkListen(o), checkAccess(o), checkNetworks(o)); err != nil {
		return err
	}
	if err := checkEmbeddedWorkers(ctx, o); err != nil {
		return err
	}
	if err := checkPort(ctx, o.Listen); err != nil {
		return err
	}
	o.PublicURL = strings.TrimRight(o.PublicURL, "/")
	o.CheckpointEvery = cmp.Or(o.CheckpointEvery, fermata.CheckpointInterval)
	return withUnmigrated(ctx, Storage{Storage: o.Storage, DatabaseRead: o.DatabaseRead, Log: o.Log}, func(db *store.DB) error { return serve(ctx, o, db) })
}

// withDatabase opens and migrates the database, and closes it when use returns. Only this process may use a SQLite
// database meanwhile.
func withDatabase(ctx context.Context, d Storage, use func(db *store.DB) error) error {
	return withUnmigrated(ctx, d, func(db *store.DB) error {
		if err := migrate(ctx, db); err != nil {
			return err
		}
		return use(db)
	})
}

// withUnmigrated is like withDatabase, but leaves the call of migrate to use.
func withUnmigrated(ctx context.Context, d Storage, use func(db *store.DB) error) error {
	opts, err := storeOptions(d)
	if err != nil {
		return err
	}
	unlock, err := lockFile(opts)
	if err != nil {
		return err
	}
	defer unlock()
	if opts.Keys, err = d.keys(ctx, opts); err != nil {
		return err
	}
	opts.Log = d.Log
	db, err := store.Open(ctx, opts)
	if err != nil {
		return err
	}
	if err := db.Check(ctx); err != nil {
		return errors.Join(err, db.Close())
	}
	return errors.Join(use(db), db.Close())
}

// migrate brings the database up to date, and checks that the master keys are its own.
func migrate(ctx context.Context, db *store.DB) error {
	if err := db.Migrate(ctx); err != nil {
		return err
	}
	return db.CheckKeys(ctx)
}

// Migrate only brings a database up to date. It makes a SQLite database where there is none, and says so.
func Migrate(ctx context.Context, d Storage, out io.Writer) error {
	opts, err := storeOptions(d)
	if err != nil {
		return err
	}
	isNew := !hasDatabase(opts)
	return withDatabase(ctx, d, func(db *store.DB) error {
		text := fmt.Sprintf("the %s database is up to date", db.Dialect())
		if isNew {
			text = "there was no database in " + filepath.Dir(opts.URL) + ": a new one was made"
		}
		_, err := fmt.Fprintln(out, text)
		return err
	})
}

// checkListen refuses to serve without sign-in at an address that others can reach.
func checkListen(o ServeOptions) error {
	host, _, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return fermata.Errorf(fermata.CodeInvalidRequest, "--listen: %w", err).WithHint("write it like 127.0.0.1:7433")
	}
	ip := net.ParseIP(host)
	if o.SingleUser && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fermata.Errorf(fermata.CodeInvalidRequest, "--single-user serves without sign-in, so it needs a loopback address such as 127.0.0.1:7433, not %s", o.Listen)
	}
	return nil
}

// listen listens at an address of this machine.
func listen(ctx context.Context, address string) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fermata.Errorf(fermata.CodeUnavailable, "listen at %s: %w", address, err).
			WithHint("end the program that listens there, which may be another fermata, or name another address with --listen")
	}
	return listener, nil
}

// checkPort refuses an address at which the server could not listen, before a key or a database is created. The server
// listens later, when it can answer: until then, programs that try to connect are refused and do not wait.
func checkPort(ctx context.Context, address string) error {
	listener, err := listen(ctx, address)
	if err != nil {
		return err
	}
	return listener.Close()
}

// checkNetworks refuses lists of networks that cannot be read.
func checkNetworks(o ServeOptions) error {
	_, allowErr := parseNetworks("--allow-networks", o.AllowNetworks)
	_, proxyErr := parseNetworks("--trusted-proxies", o.TrustedProxies)
	return errors.Join(allowErr, proxyErr)
}

func serve(ctx context.Context, o ServeOptions, db *store.DB) error {
	metrics := insight.NewMetrics()
	e, err := newEngine(ctx, o, db, metrics)
	if err != nil {
		return err
	}
	// Making the routes takes about as long as making a database, and neither needs the other.
	routes := make(chan *api.Server, 1)
	go func() { routes <- api.Prepare(e, o.Version) }()
	if err := migrate(ctx, db); err != nil {
		return err
	}
	if err := e.CheckWitnesses(ctx); err != nil {
		return err
	}
	listener, err := listen(ctx, o.Listen)
	if err != nil {
		return err
	}
	served := RunningServer{URL: "http://" + listener.Addr().String(), Engine: e}
	if o.PublicURL == "" {
		o.PublicURL = browserURL(listener.Addr())
	}
	deliveries, err := newDelivery(o, db, e, metrics)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	workflows, err := newWorkflows(o, db, e, deliveries)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	if err := startServices(ctx, o, e, deliveries, workflows); err != nil {
		return errors.Join(err, listener.Close())
	}
	signIn, err := newSignInMethods(o, e)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	proxies, err := parseNetworks("--trusted-proxies", o.TrustedProxies)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	server := <-routes
	server.Configure(signIn.addTo(api.Config{
		TrustedProxies: proxies,
		Engine:         e, Log: o.Log, Version: o.Version, SingleUser: o.SingleUser, Registry: metrics.Registry(), PublicURL: o.PublicURL,
		Web: web.Handler(), Delivery: deliveries, Workflows: workflows.Service,
	}))
	mountMCP(server, e, deliveries, o)
	if served.FirstToken, served.FirstLink, err = adminAccess(ctx, o, e); err != nil {
		return errors.Join(err, listener.Close())
	}
	announceServer(o, db, served)
	return runServer(ctx, o, served, serverParts{server, listener, signIn, deliveries, workflows})
}

// startServices starts the engine and the services that follow it.
func startServices(ctx context.Context, o ServeOptions, e *engine.Engine, deliveries *delivery.Service, workflows *workflowService) error {
	if err := e.Start(ctx); err != nil {
		return err
	}
	if !store.IsPostgres(o.Database) {
		if err := workflows.TakeOver(ctx); err != nil {
			return fmt.Errorf("take over the runs of workflows: %w", err)
		}
	}
	if err := deliveries.Start(ctx); err != nil {
		return fmt.Errorf("add the channels that come with the server: %w", err)
	}
	return nil
}

// newEngine returns the engine, which signs the audit log and reports to the metrics.
func newEngine(ctx context.Context, o ServeOptions, db *store.DB, metrics *insight.Metrics) (*engine.Engine, error) {
	signer, witnesses, err := newAudit(ctx, o, db)
	if err != nil {
		return nil, err
	}
	e := engine.New(db, engine.Options{
		Log: o.Log, OnCommit: metrics.Observe, Signer: signer, Witnesses: witnesses, CheckpointEvery: o.CheckpointEvery,
	})
	metrics.AddGauges(e.Stats)
	metrics.AddHealthGauges(func() insight.Health {
		trouble := e.Trouble()
		return insight.Health{Writable: trouble == nil, Malformed: trouble != nil && trouble.Malformed}
	})
	metrics.AddStandbyCounters(db.StandbyReads)
	return e, nil
}

// browserURL returns the address at which a browser on this machine opens a listener.
func browserURL(addr net.Addr) string {
	host, port, err := net.SplitHostPort(addr.String())
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		return "http://localhost:" + port
	}
	return "http://" + addr.String()
}

// adminAccess returns the token and the sign-in link that this start prints: the first admin's, or new ones if the
// operator asked for them.
func adminAccess(ctx context.Context, o ServeOptions, e *engine.Engine) (token, link string, err error) {
	if o.SingleUser {
		return "", "", nil
	}
	token, err = e.CreateFirstToken(ctx)
	if err != nil || token == "" && !o.NewAdminToken {
		return "", "", err
	}
	if token == "" {
		t, err := e.CreateToken(ctx, systemCaller, fermata.NewToken{
			Name: "admin by the operator", Kind: fermata.ActorHuman, Member: "admin", Role: fermata.RoleAdmin,
			Scopes: []fermata.Scope{fermata.ScopeAdmin},
		})
		if err != nil {
			return "", "", err
		}
		token = t.Secret
	}
	l, err := e.MakeLink(ctx, systemCaller, "admin")
	if err != nil {
		return "", "", err
	}
	return token, api.LinkURL(o.PublicURL, l.Secret), nil
}

// announceServer prints the server's address. If there is a new admin token, it also prints how the admin signs in. It prints
// all in one write, so that a program that reads the address can read all of it.
func announceServer(o ServeOptions, db *store.DB, s RunningServer) {
	text := fmt.Sprintf("fermata serves on %s (%s)\n", s.URL, db.Dialect())
	what := "First start. The token of the first admin"
	if o.NewAdminToken {
		what = "A new token of the admin"
	}
	if s.FirstToken != "" {
		text += fmt.Sprintf(`
%s, shown this once:

    %s

    fermata login --url %s     stores it for the command line

To sign in with a browser, open this link. It works once, within a day:

    %s

`, what, s.FirstToken, s.URL, s.FirstLink)
	}
	_, _ = io.WriteString(o.Out, text)
}

// serverParts are the server and the services that run beside it.
type serverParts struct {
	server     *api.Server
	listener   net.Listener
	signIn     signInMethods
	deliveries *delivery.Service
	workflows  *workflowService
}

// runServer serves until ctx ends or a part fails, and stops the parts in order.
func runServer(ctx context.Context, o ServeOptions, s RunningServer, p serverParts) error {
	background, stopBackground := context.WithCancel(context.WithoutCancel(ctx))
	defer stopBackground()
	var running sync.WaitGroup
	failed := make(chan error, 2)
	httpServer := &http.Server{Handler: p.server, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	running.Go(func() { s.Engine.RunSweeps(background) })
	running.Go(func() { s.Engine.RunTail(background) })
	running.Go(func() { s.Engine.RunHealth(background) })
	running.Go(func() { s.Engine.RunCheckpoints(background) })
	running.Go(func() { s.Engine.RunRetention(background) })
	running.Go(func() { p.deliveries.Run(background) })
	running.Go(func() { p.workflows.run(background) })
	if p.signIn.mail != nil {
		running.Go(func() { p.signIn.mail.Run(background) })
	}
	go func() { failed <- httpServer.Serve(p.listener) }()
	if o.Ready != nil {
		o.Ready(s)
	}

	stopWorkers := startWorkers(ctx, o, s, failed)
	var err error
	select {
	case <-ctx.Done():
		o.Log.Info("stopping")
	case err = <-failed:
	}
	// Workers hand their tasks back while the server still answers.
	err = errors.Join(err, stopWorkers())
	p.server.SetDraining()
	stopping, cancel := context.WithTimeout(background, shutdownTimeout)
	defer cancel()
	if shutdownErr := httpServer.Shutdown(stopping); shutdownErr != nil {
		o.Log.Warn("requests under way were cut off", "after", shutdownTimeout)
		err = errors.Join(err, httpServer.Close())
	}
	stopBackground()
	running.Wait()
	return err
}

// systemCaller is the caller for actions of the server itself.
var systemCaller = fermata.Caller{
	WorkspaceID: store.DefaultWorkspace, Kind: fermata.ActorSystem, Scopes: []fermata.Scope{fermata.ScopeAdmin},
}
