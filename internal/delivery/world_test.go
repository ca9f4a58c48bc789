package delivery_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/standin"
	"github.com/fermata-hq/fermata/test/standin/wall"
)

// world is a service that delivers to a wall, with people who answer there.
type world struct {
	*testing.T
	db      *store.DB
	e       *engine.Engine
	s       *delivery.Service
	wall    *wall.Wall
	clock   *storetest.Clock
	members map[string]*fermata.Member
	stop    context.CancelFunc
	stopped chan struct{}
	sweeper context.CancelFunc
}

var admin = fermata.Caller{
	WorkspaceID: store.DefaultWorkspace, Kind: fermata.ActorHuman, MemberID: "mem_admin", Name: "root", Role: fermata.RoleAdmin,
	Scopes: []fermata.Scope{fermata.ScopeAdmin}, Assurance: fermata.AssuranceSession,
}

var agent = fermata.Caller{
	WorkspaceID: store.DefaultWorkspace, Kind: fermata.ActorAgent, TokenID: "tok_1", Name: "coder", Scopes: []fermata.Scope{fermata.ScopeAsk, fermata.ScopeWork},
}

// setup is the audience of the wall, and a change of the service's options.
type setup struct {
	audience delivery.Audience
	options  func(*delivery.Options)
}

// newWorld returns a world with ann and bob, whom the wall knows.
func newWorld(t *testing.T, opts store.Options, st setup) *world {
	t.Helper()
	w := &world{T: t, clock: storetest.StandingClock(), members: map[string]*fermata.Member{}, wall: wall.New()}
	t.Cleanup(w.wall.Close)
	opts.Clock = w.clock.Now
	w.db = storetest.Open(t, opts)
	w.e = engine.New(w.db, engine.Options{})
	o := delivery.Options{DB: w.db, Engine: w.e, Kinds: []delivery.Kind{wall.NewKind(st.audience)}, PublicURL: "https://fermata.example.com", SendLimit: patience.Limit()}
	if st.options != nil {
		st.options(&o)
	}
	w.s = delivery.New(o)
	w.serveInbound()
	w.ok(w.e.Start(t.Context()))
	tail, cancel := context.WithCancel(context.Background())
	w.sweeper = cancel
	go w.e.RunTail(tail)
	t.Cleanup(cancel)
	for _, name := range []string{"ann", "bob"} {
		w.addMember(name, fermata.RoleResponder)
	}
	w.start()
	return w
}

// serveInbound serves the requests that the wall sends.
func (w *world) serveInbound() {
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		h, err := w.s.Handler(store.DefaultWorkspace, "wall")
		if err != nil {
			http.NotFound(rw, r)
			return
		}
		h.ServeHTTP(rw, r)
	}))
	w.Cleanup(server.Close)
	w.wall.SetInbound(server.URL)
}

// start runs the service until stop is called.
func (w *world) start() {
	w.Helper()
	w.ok(w.s.Start(w.Context()))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); w.s.Run(ctx) }()
	w.stop, w.stopped = cancel, done
	w.Cleanup(func() { cancel(); <-done })
}

func (w *world) addMember(name string, role fermata.Role) {
	w.Helper()
	m, err := w.e.AddMember(w.Context(), admin, engine.NewMember{Handle: name, Role: role})
	w.ok(err)
	w.members[name] = m
	id, _ := w.wall.AddPerson(name)
	_, err = w.s.SetIdentity(w.Context(), admin, name, fermata.Identity{Kind: wall.Kind, ID: id})
	w.ok(err)
}

func (w *world) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatalf("unexpected error: %v", err)
	}
}

// addChannel adds the wall as a channel, with a route to it for every type of question.
func (w *world) addChannel(steps ...fermata.RouteStep) *fermata.Channel {
	w.Helper()
	c, err := w.s.AddChannel(w.Context(), admin, fermata.NewChannel{Name: "wall", Kind: wall.Kind, Settings: w.wall.Settings()})
	w.ok(err)
	if steps == nil {
		steps = []fermata.RouteStep{{After: "0s", Channel: "wall"}}
	}
	w.setRoutes(steps...)
	w.await("the channel is planned for", func() bool {
		plan, err := w.db.Reader(w.Context(), store.DefaultWorkspace).Plan()
		w.ok(err)
		return plan.Seq >= 0
	})
	return c
}

func (w *world) setRoutes(steps ...fermata.RouteStep) {
	w.Helper()
	_, err := w.s.SetRoutes(w.Context(), admin, fermata.Routes{
		Blocking: steps, Approval: steps, ErrorRecovery: steps, NonBlocking: steps, Progress: []fermata.RouteStep{},
	})
	w.ok(err)
}

func (w *world) ask(a fermata.Ask) *fermata.Question {
	w.Helper()
	q, err := w.e.AskExternal(w.Context(), agent, "", "", a)
	w.ok(err)
	return q
}

// await waits until a condition holds.
func (w *world) await(what string, holds func() bool) {
	w.Helper()
	patience.Await(w, what, holds)
}

// awaitMessages waits until a person sees n messages, and returns them.
func (w *world) awaitMessages(person string, n int) []standin.Message {
	w.Helper()
	var all []standin.Message
	w.await("messages are seen", func() bool {
		all = w.wall.VisibleMessages("wall-" + person)
		return len(all) >= n
	})
	if len(all) != n {
		w.Fatalf("%s sees %d messages, want %d: %+v", person, len(all), n, all)
	}
	return all
}

// deliveries lists the deliveries of a question.
func (w *world) deliveries(q *fermata.Question) []*fermata.Delivery {
	w.Helper()
	all, _, err := w.s.Deliveries(w.Context(), admin, delivery.Filter{QuestionID: q.ID})
	w.ok(err)
	return all
}

// awaitRest waits until no delivery of the question has work left. If the question is closed, every message that can be
// changed then shows this.
func (w *world) awaitRest(q *fermata.Question) []*fermata.Delivery {
	w.Helper()
	now, err := w.e.Question(w.Context(), admin, q.ID)
	w.ok(err)
	closed := now.Status != fermata.Pending
	var all []*fermata.Delivery
	w.await("the deliveries rest", func() bool {
		all = w.deliveries(q)
		for _, d := range all {
			if d.NextAt != nil || closed && d.State == fermata.DeliverySent && isUpdatable(d) && d.ShownStatus == fermata.Pending {
				return false
			}
		}
		return len(all) > 0
	})
	return all
}

// isUpdatable reports whether a message is updated when its question closes.
func isUpdatable(d *fermata.Delivery) bool {
	return len(d.Ref) > 0 && d.Purpose != string(notice.Digest)
}

// caller returns the member with a session.
func (w *world) caller(name string) fermata.Caller {
	c := w.members[name].Caller()
	c.WorkspaceID, c.Assurance = store.DefaultWorkspace, fermata.AssuranceSession
	return c
}
