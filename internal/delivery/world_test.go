package delivery_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/testkit"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/standin"
	"github.com/fermata-hq/fermata/test/standin/wall"
)

// world is a service that delivers to a wall, with people who answer there.
type world struct {
	testkit.World
	s       *delivery.Service
	wall    *wall.Wall
	members map[string]*fermata.Member
	// stop stops the service.
	stop func()
}

var admin, agent = testkit.Admin, testkit.Agent

// setup is the audience of the wall, and a change of the service's options.
type setup struct {
	audience delivery.Audience
	options  func(*delivery.Options)
}

// newWorld returns a world with ann and bob, whom the wall knows.
func newWorld(t *testing.T, opts store.Options, st setup) *world {
	t.Helper()
	w := &world{World: testkit.New(t, opts), members: map[string]*fermata.Member{}, wall: wall.New()}
	t.Cleanup(w.wall.Close)
	o := delivery.Options{DB: w.DB, Engine: w.Engine, Kinds: []delivery.Kind{wall.NewKind(st.audience)}, PublicURL: "https://fermata.example.com", SendLimit: patience.Limit()}
	if st.options != nil {
		st.options(&o)
	}
	w.s = delivery.New(o)
	w.serveInbound()
	w.OK(w.Engine.Start(t.Context()))
	testkit.Run(t, w.Engine.RunTail)
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

// start runs the service until the test ends or calls stop.
func (w *world) start() {
	w.Helper()
	w.OK(w.s.Start(w.Context()))
	w.stop = testkit.Run(w, w.s.Run)
}

func (w *world) addMember(name string, role fermata.Role) {
	w.Helper()
	w.members[name] = w.AddMember(engine.NewMember{Handle: name, Role: role})
	id, _ := w.wall.AddPerson(name)
	_, err := w.s.SetIdentity(w.Context(), admin, name, fermata.Identity{Kind: wall.Kind, ID: id})
	w.OK(err)
}

// addChannel adds the wall as a channel, with a route to it for every type of question.
func (w *world) addChannel(steps ...fermata.RouteStep) *fermata.Channel {
	w.Helper()
	c, err := w.s.AddChannel(w.Context(), admin, fermata.NewChannel{Name: "wall", Kind: wall.Kind, Settings: w.wall.Settings()})
	w.OK(err)
	if steps == nil {
		steps = []fermata.RouteStep{{After: "0s", Channel: "wall"}}
	}
	w.setRoutes(steps...)
	w.await("the channel is planned for", func() bool {
		plan, err := w.DB.Reader(w.Context(), store.DefaultWorkspace).Plan()
		w.OK(err)
		return plan.Seq >= 0
	})
	return c
}

func (w *world) setRoutes(steps ...fermata.RouteStep) {
	w.Helper()
	_, err := w.s.SetRoutes(w.Context(), admin, fermata.Routes{
		Blocking: steps, Approval: steps, ErrorRecovery: steps, NonBlocking: steps, Progress: []fermata.RouteStep{},
	})
	w.OK(err)
}

func (w *world) ask(a fermata.Ask) *fermata.Question {
	w.Helper()
	q, err := w.Engine.AskExternal(w.Context(), agent, "", "", a)
	w.OK(err)
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
	w.OK(err)
	return all
}

// awaitRest waits until no delivery of the question has work left. If the question is closed, every message that can be
// changed then shows this.
func (w *world) awaitRest(q *fermata.Question) []*fermata.Delivery {
	w.Helper()
	now, err := w.Engine.Question(w.Context(), admin, q.ID)
	w.OK(err)
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

// awaitPlanned waits until the messages after all events of a type so far are planned.
func (w *world) awaitPlanned(eventType fermata.EventType) {
	w.Helper()
	r := w.DB.Reader(w.Context(), store.DefaultWorkspace)
	last, err := r.Events(store.EventFilter{Types: []string{string(eventType)}, Newest: true, Limit: 1})
	w.OK(err)
	w.await("the events are planned for", func() bool {
		plan, err := r.Plan()
		w.OK(err)
		return plan.Seq >= last[0].Seq
	})
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
