//go:build lab

package crash

import (
	"testing"

	"github.com/fermata-hq/fermata/test/process"
	"github.com/fermata-hq/fermata/test/story"
)

// kills is how often each server is killed.
const kills = 300

// databaseKills is how often PostgreSQL is killed.
const databaseKills = 10

func TestDatabaseIsKilled(t *testing.T) {
	database := process.Postgres(t)
	random := process.NewRandom(t)
	server := process.Serve(t, process.Binary(t), database)
	front := process.NewLoadBalancer(t, server)
	front.RetriesUntilReply = true
	s := story.Begin(t, front, random, server.FirstToken)
	for n := range databaseKills {
		s.AwaitChanges(1 + random.N(10*mostBetween))
		process.KillPostgres(t)
		s.Recheck()
		if t.Failed() {
			t.Fatalf("after %d kills", n+1)
		}
	}
	s.End()
	server.Stop()
}
