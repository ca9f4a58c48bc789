package workflow

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// Servers gives the tools of the MCP servers that a workspace has configured.
type Servers interface {
	// Tools lists the tools of a server, named server.tool.
	Tools(ctx context.Context, name string, s fermata.ToolServer) ([]tool.Info, error)
	// Call calls one of them.
	Call(ctx context.Context, name string, s fermata.ToolServer, tool string, c tool.Call) (tool.Result, error)
}

// Options are what a service needs. DB and Engine are required.
type Options struct {
	DB     *store.DB
	Engine *engine.Engine
	// Tools are those that run in this process.
	Tools   []tool.Tool
	Servers Servers
	// Secret returns what expressions call secrets.NAME.
	Secret func(name string) (string, error)
	// MayUseSecret refuses a secret to the workflows of a project; nil allows every secret to all.
	MayUseSecret func(project, name string) *fermata.Error
	// SecretNames lists every secret of the server: none leaves in what a run tells, named by its definition or not.
	SecretNames func() []string
	// Executors bounds how many runs are moved on at the same time.
	Executors int
	// Lease is for how long a run is this process's without a heartbeat.
	Lease time.Duration
	// PublicURL is where the server is called.
	PublicURL string
	// ChannelKinds are the kinds of channels that this server has; without them, the names
	// of channels in definitions are not checked.
	ChannelKinds []string
	// Stub takes the place of every tool that has an effect outside; tests of
	// definitions set it.
	Stub func(ctx context.Context, name string, c tool.Call) (tool.Result, error)
	// Point is called before and after every commit of a run; tests end the
	// process there.
	Point func(name string)
	Log   *slog.Logger
}

// Limits and intervals.
const (
	defaultExecutors = 32
	defaultLease     = 30 * time.Second
	// claimWait is how long one look for a run to move on may wait.
	claimWait = 20 * time.Second
	// afterError is how long to wait when the database did not answer.
	afterError = time.Second
	// lookAgain is how often is looked for what nobody told of: cron lines count
	// in minutes.
	lookAgain = time.Second
	// watchAgain is how often events are looked at that no wake-up told of.
	watchAgain = 5 * time.Second
)

// Service keeps and runs the workflows of all workspaces of a database.
type Service struct {
	Options
	db    *store.DB
	e     *engine.Engine
	tools map[string]tool.Tool

	mu sync.Mutex
	// loaded are definitions by workspace, name and hash.
	loaded map[string]*definition.Workflow
	// watched are the workspaces whose events are looked at for triggers.
	watched map[string]*watched
	// trying holds a value while a definition is tested.
	trying chan struct{}
}

// New returns a service. Its engine tells it of commits from now on.
func New(o Options) *Service {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Secret == nil {
		o.Secret = func(name string) (string, error) {
			return "", fermata.Errorf(fermata.CodeNotFound, "there is no secret %s", name)
		}
	}
	if o.Executors <= 0 {
		o.Executors = defaultExecutors
	}
	if o.Lease <= 0 {
		o.Lease = defaultLease
	}
	if o.Point == nil {
		o.Point = func(string) {}
	}
	o.PublicURL = strings.TrimRight(o.PublicURL, "/")
	s := &Service{
		Options: o, db: o.DB, e: o.Engine, tools: map[string]tool.Tool{},
		loaded: map[string]*definition.Workflow{}, watched: map[string]*watched{}, trying: make(chan struct{}, 1),
	}
	for _, t := range o.Tools {
		s.tools[t.Info().Name] = t
	}
	o.Engine.OnOpen(aboutRun)
	o.Engine.OnSeen(s.sawEvents)
	return s
}

// reads returns a reader of what the caller sees of the workspace.
func (s *Service) reads(ctx context.Context, c fermata.Caller) store.Reader {
	return s.db.For(ctx, c)
}
