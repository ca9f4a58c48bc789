package workflow

import (
	"context"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// Servers provides the tools of the MCP servers that a workspace has configured.
type Servers interface {
	// Tools returns the tools of a server. Their names have the form server.tool.
	Tools(ctx context.Context, name string, s fermata.ToolServer) ([]tool.Info, error)
	// Call calls a tool of a server.
	Call(ctx context.Context, name string, s fermata.ToolServer, tool string, c tool.Call) (tool.Result, error)
}

// Options configure a service. DB and Engine are required.
type Options struct {
	DB     *store.DB
	Engine *engine.Engine
	// Tools are the tools that run in this process.
	Tools   []tool.Tool
	Servers Servers
	// Secret returns the value of a secret, which expressions read as secrets.NAME.
	Secret func(name string) (string, error)
	// CheckSecretUse returns an error if workflows of a project may not use a secret. nil allows every secret to all
	// projects.
	CheckSecretUse func(project, name string) *fermata.Error
	// SecretNames returns the names of all secrets of the server. Their values are removed from everything that a run
	// stores or sends, even if its definition does not name the secret.
	SecretNames func() []string
	// Executors limits how many runs move forward at the same time.
	Executors int
	// Lease is how long a run belongs to this process without a heartbeat.
	Lease time.Duration
	// PublicURL is the URL at which clients reach the server.
	PublicURL string
	// ChannelKinds are the kinds of channels that this server has. If it is empty, the names of channels in definitions
	// are not checked.
	ChannelKinds []string
	// Stub is called instead of every tool that has an effect outside the database. Simulations set it.
	Stub func(ctx context.Context, name string, c tool.Call) (tool.Result, error)
	// StubInfos describe the tools that Stub is called instead of, by name.
	StubInfos map[string]tool.Info
	// CommitHook is called before and after every commit of a run. Tests stop the process there.
	CommitHook func(name string)
	Log        *slog.Logger
}

// Limits and intervals.
const (
	defaultExecutors = 32
	defaultLease     = 30 * time.Second
	// claimWait is how long one attempt to claim a run may wait.
	claimWait = 20 * time.Second
	// errorDelay is the pause after the database did not answer.
	errorDelay = time.Second
	// rescanInterval is the time between two checks for changes that cause no wake-up, such as a schedule that is due.
	// It is short enough for cron expressions, whose unit is one minute.
	rescanInterval = time.Second
	// eventRescanInterval is the longest time for which events stay unnoticed when their wake-up was lost.
	eventRescanInterval = 5 * time.Second
)

// Service stores and runs the workflows of all workspaces of a database.
type Service struct {
	Options
	db    *store.DB
	e     *engine.Engine
	tools map[string]tool.Tool
	// infos describe the tools whose input this process checks, by name.
	infos map[string]tool.Info

	mu sync.Mutex
	// cachedDefinitions caches definitions by workspace, name and hash.
	cachedDefinitions map[string]*definition.Workflow
	// watches are the workspaces whose events are searched for triggers.
	watches map[string]*workspaceWatch
	// testSlot holds one value while a definition is tested.
	testSlot chan struct{}
}

// New returns a service. It registers the service with its engine, which reports commits to it from then on.
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
	if o.CommitHook == nil {
		o.CommitHook = func(string) {}
	}
	o.PublicURL = strings.TrimRight(o.PublicURL, "/")
	s := &Service{
		Options: o, db: o.DB, e: o.Engine, tools: map[string]tool.Tool{}, infos: maps.Clone(builtInByName),
		cachedDefinitions: map[string]*definition.Workflow{}, watches: map[string]*workspaceWatch{}, testSlot: make(chan struct{}, 1),
	}
	for _, t := range o.Tools {
		info := t.Info()
		s.tools[info.Name], s.infos[info.Name] = t, info
	}
	maps.Copy(s.infos, o.StubInfos)
	o.Engine.SetQuestionEnricher(addRunIssue)
	o.Engine.SetOtherInputCheck(s.checkAnsweredInput)
	o.Engine.OnEveryCommit(s.wakeWatcher)
	return s
}

// readerFor returns a reader limited to the data that the caller may see.
func (s *Service) readerFor(ctx context.Context, c fermata.Caller) store.Reader {
	return s.db.ReaderFor(ctx, c)
}
