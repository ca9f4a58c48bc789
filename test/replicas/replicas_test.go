// Package replicas runs several servers on one PostgreSQL. A change at one is
// visible at every other, and a replica can stop or be killed without a loss.
package replicas

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fermata-hq/fermata/test/process"
	"github.com/fermata-hq/fermata/test/story"
)

func TestMain(m *testing.M) { process.Main(m) }

// pair is two servers on one database.
func pair(t *testing.T) ([]string, []*process.Server) {
	t.Helper()
	database, binary := process.Postgres(t), process.Binary(t)
	first := process.Serve(t, binary, database)
	return database, []*process.Server{first, process.Serve(t, binary, database)}
}

// A rolling restart: clients that retry notice nothing, and nothing is lost.
func TestRollingRestart(t *testing.T) {
	database, servers := pair(t)
	front := process.NewLoadBalancer(t, servers...)
	random := process.NewRandom(t)
	s := story.Begin(t, front, random, servers[0].FirstToken)
	for n := range restarts {
		s.AwaitChanges(1 + random.N(mostBetween))
		replaced := n % len(servers)
		servers[replaced].Stop()
		servers[replaced] = process.Serve(t, process.Binary(t), database)
		front.SetServers(servers...)
		s.Recheck()
		if t.Failed() {
			t.Fatalf("after %d restarts", n+1)
		}
	}
	if n := front.ServerErrors.Load(); n > 0 {
		t.Errorf("%d replies of 500 or more during a rolling restart", n)
	}
	s.End()
}

// If one replica is killed, the other continues, and nothing is lost.
func TestReplicaIsKilled(t *testing.T) {
	database, servers := pair(t)
	front := process.NewLoadBalancer(t, servers...)
	random := process.NewRandom(t)
	s := story.Begin(t, front, random, servers[0].FirstToken)
	for n := range restarts {
		s.AwaitChanges(1 + random.N(mostBetween))
		killed := random.N(len(servers))
		servers[killed].Kill()
		s.AwaitChanges(1 + random.N(mostBetween))
		servers[killed] = process.Serve(t, process.Binary(t), database)
		front.SetServers(servers...)
		s.Recheck()
		if t.Failed() {
			t.Fatalf("after %d kills", n+1)
		}
	}
	s.End()
}

// mostBetween is the largest number of acknowledgements between two restarts.
const mostBetween = 150

// Replicas that start together on an empty database create its tables once, and
// its first token once.
func TestReplicasMigrateTogether(t *testing.T) {
	database, binary := process.Postgres(t), process.Binary(t)
	const replicas = 3
	var servers []*process.Server
	for range replicas {
		servers = append(servers, process.Launch(t, binary, database))
	}
	tokens := map[string]bool{}
	for _, s := range servers {
		s.AwaitReady()
		tokens[s.FirstToken] = s.FirstToken != ""
	}
	delete(tokens, "")
	if len(tokens) != 1 {
		t.Fatalf("%d servers printed a first token, not one", len(tokens))
	}
	for token := range tokens {
		for i, s := range servers {
			who, err := process.NewLoadBalancer(t, s).Client(t, token).Whoami(t.Context())
			if err != nil || who.Name != "admin" {
				t.Errorf("replica %d knows the first token as %+v, %v", i, who, err)
			}
		}
	}
}

// stream holds the events that one reader received.
type stream struct {
	name string
	seen []string
	// last is the number of the newest event.
	last atomic.Int64
}

// check checks that all readers received the same events, without a gap or repeat.
func check(t *testing.T, streams []*stream) {
	t.Helper()
	for _, s := range streams {
		for i, e := range s.seen {
			if want := fmt.Sprintf("%d ", i+1); !strings.HasPrefix(e, want) {
				t.Fatalf("%s: %q stands at place %d", s.name, e, i+1)
			}
			if e != streams[0].seen[i] {
				t.Fatalf("%s got %q where %s got %q", s.name, e, streams[0].name, streams[0].seen[i])
			}
		}
	}
}
