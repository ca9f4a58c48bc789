// Package crash kills the server, and the database, under load. Every
// acknowledged change must be there afterwards, and none twice.
package crash

import (
	"testing"

	"github.com/fermata-hq/fermata/test/process"
	"github.com/fermata-hq/fermata/test/story"
)

func TestMain(m *testing.M) { process.Main(m) }

// mostBetween is the largest number of acknowledgements between two kills.
const mostBetween = 120

func TestServerIsKilled(t *testing.T) {
	process.RunOnEachDatabase(t, func(t *testing.T, database []string) { killServer(t, database, kills) })
}

// killServer kills the server the given number of times, at random moments under load.
func killServer(t *testing.T, database []string, kills int) {
	binary := process.Binary(t)
	random := process.NewRandom(t)
	server := process.Serve(t, binary, database)
	front := process.NewLoadBalancer(t, server)
	front.RetriesUntilReply = true
	s := story.Begin(t, front, random, server.FirstToken)
	for n := range kills {
		s.AwaitChanges(1 + random.N(mostBetween))
		server.Kill()
		server = process.Serve(t, binary, database)
		front.SetServers(server)
		s.Recheck()
		if t.Failed() {
			t.Fatalf("after %d kills", n+1)
		}
	}
	s.End()
	server.Stop()
}
