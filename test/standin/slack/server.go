package slack

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/standin"
)

var _ standin.Remote = (*Server)(nil)

// These are the names of the app and its workspace.
const (
	Team  = "T0STANDIN"
	Bot   = "U0FERMATA"
	BotID = "B0FERMATA"
	AppID = "A0FERMATA"
	Room  = "C0ROOM"
)

// These are the app's credentials.
//
//nolint:gosec // They open nothing but the stand-in.
const (
	BotToken  = "xoxb-standin-not-a-secret"
	AppToken  = "xapp-standin-not-a-secret"
	Signature = "standin-signing-not-a-secret"
)

// AllScopes are the scopes that the app's manifest asks for.
var AllScopes = []string{
	"chat:write", "commands", "im:write", "users:read", "users:read.email", "channels:read", "groups:read",
	"channels:history", "groups:history", "im:history",
}

// Server is a stand-in for Slack with one workspace, one app and one conversation.
type Server struct {
	http *httptest.Server

	mu            sync.Mutex
	changed       chan struct{}
	scopes        []string
	users         map[string]*User
	conversations map[string]*conversation
	faults        map[string][]Fault
	calls         map[string]int
	triggers      map[string]*trigger
	views         map[string]*view
	responses     map[string]*responseURL
	told          map[string][]string
	inbound       string
	socket        *socket
	requests      []Request
	number        int
	stampSerial   int
	// ackTimeout is how long a request over the socket waits until the app acknowledges it.
	ackTimeout time.Duration
}

// User is a user of Slack.
type User struct {
	ID, Name, Email string
	// Team is a different workspace for people of a shared conversation.
	Team                     string
	Unconfirmed, Gone, IsBot bool
}

type conversation struct {
	id, name string
	with     string // the user of a direct message
	members  []string
	messages []*message
	archived bool
}

type message struct {
	stamp, thread string
	user          string
	text          string
	blocks        json.RawMessage
}

type trigger struct {
	user string
	at   time.Time
	used bool
}

type view struct {
	id, user, trigger string
	raw               json.RawMessage
	open              bool
}

type responseURL struct {
	user, channel string
	uses          int
}

// Fault makes one call of a method fail.
type Fault struct {
	// Error is Slack's name of the error.
	Error string
	// Status is the HTTP status. RetryAfter belongs to status 429.
	Status     int
	RetryAfter int
	// TakesEffect is true if the call takes effect and only its response is lost.
	TakesEffect bool
	// Wait holds the call until the channel is closed.
	Wait <-chan struct{}
}

// New starts a stand-in. Close stops it.
func New() *Server {
	s := &Server{
		changed: make(chan struct{}), scopes: AllScopes, users: map[string]*User{}, conversations: map[string]*conversation{},
		faults: map[string][]Fault{}, calls: map[string]int{}, triggers: map[string]*trigger{}, views: map[string]*view{},
		responses: map[string]*responseURL{}, told: map[string][]string{}, ackTimeout: patience.Limit(),
	}
	s.users[Bot] = &User{ID: Bot, Name: "fermata", Team: Team, IsBot: true}
	s.conversations[Room] = &conversation{id: Room, members: []string{Bot}}
	mux := http.NewServeMux()
	mux.HandleFunc("/api/", s.serveAPI)
	mux.HandleFunc("/respond/", s.serveResponse)
	mux.HandleFunc("/link", s.serveSocket)
	s.http = httptest.NewServer(mux)
	return s
}

// SetAckTimeout sets how long a request over the socket waits until the app acknowledges it. Slack waits three seconds,
// and the stand-in up to the limit of all tests. Set it before a request that the app must not acknowledge.
func (s *Server) SetAckTimeout(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ackTimeout = d
}

// Close stops the stand-in.
func (s *Server) Close() {
	s.mu.Lock()
	link := s.socket
	s.mu.Unlock()
	if link != nil {
		link.close()
	}
	s.http.Close()
}

// Kind returns the kind of the channel.
func (*Server) Kind() string { return "slack" }

// APIURL returns the address of the API.
func (s *Server) APIURL() string { return s.http.URL + "/api/" }

// Settings returns the settings of a channel over HTTP. Until SetInbound sets an address, the channel uses Socket Mode.
func (s *Server) Settings() map[string]any {
	return map[string]any{
		"bot_token": BotToken, "app_token": AppToken, "signing_secret": Signature, "conversation": Room, "api_url": s.APIURL(),
	}
}

// SetInbound sets the address at which the server takes requests. An empty address switches back to Socket Mode.
func (s *Server) SetInbound(url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inbound = strings.TrimSuffix(url, "/")
}

// AddPerson adds a person to the workspace and its conversation.
func (s *Server) AddPerson(name string) (identityID, email string) {
	u := s.AddUser(User{Name: name, Email: strings.ToLower(name) + "@example.com", Team: Team})
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.conversations[Room]
	c.members = append(c.members, u)
	return u, s.users[u].Email
}

// AddUser adds a user who is in no conversation.
func (s *Server) AddUser(u User) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.number++
	u.ID = fmt.Sprintf("U%07d", s.number)
	s.users[u.ID] = &u
	return u.ID
}

// OpenRoom opens a conversation with a name, with the app and the people with these ids. It returns the id of the
// conversation.
func (s *Server) OpenRoom(name string, people ...string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.number++
	id := fmt.Sprintf("C%07d", s.number)
	s.conversations[id] = &conversation{id: id, name: name, members: append([]string{Bot}, people...)}
	return id
}

// Fail makes the next call of a method fail. Several calls of Fail make several calls fail.
func (s *Server) Fail(method string, f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[method] = append(s.faults[method], f)
}

// Calls counts the calls of a method.
func (s *Server) Calls(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[method]
}

// Grant sets the scopes that the app has.
func (s *Server) Grant(scopes ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scopes = scopes
}

// Kick removes the app from the conversation.
func (s *Server) Kick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.conversations[Room]
	c.members = slices.DeleteFunc(c.members, func(m string) bool { return m == Bot })
}

// Delete deletes a message, as people can.
func (s *Server) Delete(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conversations {
		c.messages = slices.DeleteFunc(c.messages, func(m *message) bool { return c.id+"/"+m.stamp == id })
	}
}

// Requests returns all the requests that were sent over HTTP, unchanged.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Feedback returns the texts that the person was told, apart from messages.
func (s *Server) Feedback(person string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.told[person])
}

// tell adds a text for the person. The caller holds the lock.
func (s *Server) tell(person, words string) {
	s.told[person] = append(s.told[person], words)
	s.notifyChanged()
}

// notifyChanged wakes every caller that waits for a change. The caller holds the lock.
func (s *Server) notifyChanged() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Await waits until a condition holds.
func (s *Server) Await(what string, holds func() bool) error {
	deadline := time.NewTimer(patience.Limit())
	defer deadline.Stop()
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if holds() {
			return nil
		}
		select {
		case <-changed:
		case <-deadline.C:
			return fmt.Errorf("slack stand-in: nothing came of it: %s", what)
		}
	}
}

// VisibleMessages returns the messages that the person sees in direct messages and in the conversation.
func (s *Server) VisibleMessages(person string) []standin.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	type dated struct {
		stamp string
		m     standin.Message
	}
	var all []dated
	for _, c := range s.conversations {
		if c.with != person && !slices.Contains(c.members, person) {
			continue
		}
		for _, m := range c.messages {
			if m.user == Bot {
				all = append(all, dated{m.stamp, renderMessage(c.id, m)})
			}
		}
	}
	slices.SortFunc(all, func(a, b dated) int { return strings.Compare(a.stamp, b.stamp) })
	seen := make([]standin.Message, len(all))
	for i, d := range all {
		seen[i] = d.m
	}
	return seen
}

// stamp returns the timestamp of the next message. The caller holds the lock.
func (s *Server) stamp() string {
	s.stampSerial++
	return fmt.Sprintf("%d.%06d", time.Now().Unix(), s.stampSerial)
}

// find returns a message by its id in the stand-in. The caller holds the lock.
func (s *Server) find(id string) (*conversation, *message) {
	channel, stamp, _ := strings.Cut(id, "/")
	c := s.conversations[channel]
	if c == nil {
		return nil, nil
	}
	for _, m := range c.messages {
		if m.stamp == stamp {
			return c, m
		}
	}
	return c, nil
}
