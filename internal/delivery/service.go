package delivery

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
)

// Options configure a service. DB and Engine are required.
type Options struct {
	DB     *store.DB
	Engine *engine.Engine
	// Kinds are the supported kinds of channels.
	Kinds []Kind
	// PublicURL is the address at which people open the server.
	PublicURL string
	// HTTP is the client for the requests of channels. nil uses a client whose timeout is SendLimit.
	HTTP *http.Client
	// SendLimit is the longest time in which one message is sent. Recording the
	// result has the same limit. 0 means 30 seconds.
	SendLimit time.Duration
	// Observe is called after every attempt, with the attempt's outcome and its delay after the due time. It must not
	// block.
	Observe func(kind, outcome string, late time.Duration)
	Log     *slog.Logger
}

// Service delivers messages for all workspaces of a database.
type Service struct {
	Options
	db *store.DB
	e  *engine.Engine
	// process is the name of this process among those that share the database.
	process string
	pages   *openPages

	mu         sync.Mutex
	workspaces map[string]*workspace
	// run is set while the service runs.
	run *serviceRun
}

// serviceRun holds the data that the parts of a running service share.
type serviceRun struct {
	ctx   context.Context
	parts sync.WaitGroup
}

// New returns a service. It registers the service with the engine, which then reports commits to it.
func New(o Options) *Service {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.SendLimit == 0 {
		o.SendLimit = defaultSendLimit
	}
	if o.HTTP == nil {
		o.HTTP = &http.Client{Timeout: o.SendLimit}
	}
	if o.Observe == nil {
		o.Observe = func(string, string, time.Duration) {}
	}
	o.PublicURL = strings.TrimRight(o.PublicURL, "/")
	s := &Service{Options: o, db: o.DB, e: o.Engine, process: rand.Text(), pages: newOpenPages(), workspaces: map[string]*workspace{}}
	o.Engine.OnEveryCommit(s.handleCommit)
	o.Engine.SetUnreachedReason(s.unreachedReason)
	return s
}

// kind returns the kind with the name.
func (s *Service) kind(name string) (Kind, bool) {
	for _, k := range s.Kinds {
		if k.Name == name {
			return k, true
		}
	}
	return Kind{}, false
}

// workspace is the state of the service for one workspace.
type workspace struct {
	id string
	s  *Service
	// wakeup wakes the planner. changed reports whether the channels must be read again.
	wakeup  chan struct{}
	mu      sync.Mutex
	changed bool
	// isLoaded reports whether the channels, the devices and the routes are as of the last event that this process
	// knows.
	isLoaded bool
	channels map[string]*openChannel
	// people are the people as of the event peopleAt.
	people   *people
	peopleAt int64
	// hasDevices reports whether there is a device for push messages.
	hasDevices bool
	// hasRoutes reports whether an administrator chose the routes.
	hasRoutes bool
	// peopleGeneration counts how many times the people were forgotten.
	peopleGeneration int
	// scannedSeq is the number of the event up to which there is nothing to plan for these channels. The stored cursor
	// may be behind it. Only the planner uses it.
	scannedSeq int64
}

// workspace returns a workspace, and starts its parts if it is new.
func (s *Service) workspace(id string) *workspace {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.workspaces[id]
	if w == nil {
		w = &workspace{id: id, s: s, wakeup: make(chan struct{}, 1), changed: true, channels: map[string]*openChannel{}}
		s.workspaces[id] = w
		if s.run != nil {
			s.run.parts.Go(func() { w.run(s.run.ctx) })
		}
	}
	return w
}

// handleCommit drops the cached data that the events of a commit made stale, and wakes the planner.
func (s *Service) handleCommit(events []*fermata.Event) {
	w := s.workspace(events[0].WorkspaceID)
	for _, e := range events {
		noun, _, _ := strings.Cut(string(e.Type), ".")
		switch noun {
		case "channel":
			w.forget(true)
		case "member":
			w.forget(e.Type == fermata.EventDeviceAdded || e.Type == fermata.EventDeviceRemoved)
		}
	}
	w.wake()
}

// forget drops data that events made stale.
func (w *workspace) forget(channels bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changed, w.isLoaded = w.changed || channels, w.isLoaded && !channels
	w.people = nil
	w.peopleGeneration++
}

func (w *workspace) wake() {
	select {
	case w.wakeup <- struct{}{}:
	default:
	}
}

// Run delivers until ctx ends. It then waits for the messages under way to end; another process sends the others.
func (s *Service) Run(ctx context.Context) {
	run := &serviceRun{ctx: ctx}
	s.mu.Lock()
	s.run = run
	for _, w := range s.workspaces {
		run.parts.Go(func() { w.run(ctx) })
	}
	s.mu.Unlock()
	run.parts.Go(func() { s.sharePages(ctx) })
	run.parts.Go(func() { s.keepTidy(ctx) })
	<-ctx.Done()
	s.mu.Lock()
	s.run = nil
	s.mu.Unlock()
	run.parts.Wait()
}

// Start adds the built-in channels. Call it before [Service.Run] and before the server answers requests; a second call
// changes nothing. Without the push channel, browsers get no key for push messages.
func (s *Service) Start(ctx context.Context) error {
	workspaces, err := s.db.Reader(ctx, "").Workspaces()
	if err != nil {
		return err
	}
	for _, id := range workspaces {
		if err := s.addBuiltIn(ctx, id); err != nil {
			return err
		}
		s.workspace(id)
	}
	return nil
}

const (
	// rescanInterval is the longest time a due delivery goes unnoticed when its wake-up was lost.
	rescanInterval = 5 * time.Second
	// errorRetryDelay is how long to wait after a failed call to the database.
	errorRetryDelay = time.Second
	// inboundLifetime is how long an incoming message is remembered, so that it counts only once.
	inboundLifetime = 14 * 24 * time.Hour
	tidyInterval    = time.Hour
)

// run keeps the channels open and plans deliveries, until ctx ends.
func (w *workspace) run(ctx context.Context) {
	defer w.close()
	if run := w.s.currentRun(); run != nil {
		run.parts.Go(func() { w.runChecks(ctx) })
	}
	for {
		more, err := w.planOnce(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			w.s.Log.ErrorContext(ctx, "plan deliveries", "error", err)
			engine.Sleep(ctx, errorRetryDelay)
		case more:
		default:
			select {
			case <-ctx.Done():
				return
			case <-w.wakeup:
			}
		}
	}
}

// planOnce reads the channels if they changed, and plans once. It reports whether there is more to plan.
func (w *workspace) planOnce(ctx context.Context) (bool, error) {
	w.mu.Lock()
	changed := w.changed
	w.changed, w.isLoaded = false, w.isLoaded && !changed
	w.mu.Unlock()
	if changed {
		if err := w.reload(ctx); err != nil {
			w.mu.Lock()
			w.changed = true
			w.mu.Unlock()
			return false, err
		}
	}
	if !w.isActive() {
		return false, nil
	}
	return w.plan(ctx)
}

// keepTidy regularly deletes the records of old incoming messages.
func (s *Service) keepTidy(ctx context.Context) {
	runEvery(ctx, tidyInterval, func() {
		err := s.db.Write(ctx, store.DefaultWorkspace, func(tx *store.Tx) error {
			tx.DeleteInboundVerdicts(tx.Now().Add(-inboundLifetime))
			return nil
		})
		if err != nil && ctx.Err() == nil {
			s.Log.ErrorContext(ctx, "forget what came back", "error", err)
		}
	})
}

// runEvery calls do once in each period, until ctx ends.
func runEvery(ctx context.Context, period time.Duration, do func()) {
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		do()
	}
}
