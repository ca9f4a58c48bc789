//go:build lab && linux

package ha

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/fermata-hq/fermata/test/ha/cluster"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/story"
)

// insideEnv marks the process of this test that runs in namespaces of its own.
const insideEnv = "FERMATA_TEST_HA_INSIDE"

// cut is a cut of links of the leader.
type cut struct {
	name string
	// ends are the machines at the other ends.
	ends func(w *world, leader *cluster.Machine) []*cluster.Machine
	// promotes is true if a standby must become the leader. stops is true if no write is possible until the repair.
	promotes, stops bool
}

var cuts = []cut{
	{"the leader reaches no other database machine", func(w *world, leader *cluster.Machine) []*cluster.Machine {
		return w.otherDatabases(leader)
	}, true, false},
	{"the leader reaches nobody", func(w *world, leader *cluster.Machine) []*cluster.Machine {
		return append(append(w.otherDatabases(leader), w.Front), w.Applications...)
	}, true, false},
	{"the leader does not reach the synchronous standby", func(w *world, _ *cluster.Machine) []*cluster.Machine {
		return []*cluster.Machine{w.standby(true)}
	}, false, false},
	{"HAProxy does not reach the leader", func(w *world, _ *cluster.Machine) []*cluster.Machine {
		return []*cluster.Machine{w.Front}
	}, false, true},
}

func (w *world) otherDatabases(leader *cluster.Machine) (others []*cluster.Machine) {
	for _, m := range w.Databases {
		if m != leader {
			others = append(others, m)
		}
	}
	return others
}

// Links are cut while both ends go on running. A leader that is cut off acknowledges nothing that the next leader does
// not have.
func TestLinksAreCut(t *testing.T) {
	if os.Getenv(insideEnv) == "" {
		runInside(t)
		return
	}
	w := begin(t, func(o *cluster.Options) { o.Links, o.Network = true, "10.77.0" })
	w.front.RetriesUntilReply = true
	w.story = story.Begin(w, w.front, w.random, w.FirstToken)
	for _, c := range cuts {
		w.story.AwaitChanges(changes)
		w.sufferCut(c)
		w.story.Recheck()
		if t.Failed() {
			t.Fatalf("after: %s", c.name)
		}
	}
	w.story.End()
}

// runInside runs this test again in its own namespaces for the network and for mounts.
func runInside(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("network namespaces need root")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "unshare", "-n", "-m", self, "-test.run", "^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), insideEnv+"=1")
	text, err := cmd.CombinedOutput()
	t.Logf("%s", text)
	if err != nil {
		t.Error(err)
	}
}

func (w *world) sufferCut(c cut) {
	w.Helper()
	p := w.startPulse()
	leader := w.leader()
	ends := c.ends(w, leader)
	struck := time.Now()
	for _, m := range ends {
		if err := cluster.CutLink(leader, m); err != nil {
			w.Fatal(err)
		}
	}
	if c.promotes {
		w.awaitPromotion(leader)
		promoted := time.Since(struck)
		w.Logf("%s: promotion after %.1f s, the next write %.1f s later", c.name, promoted.Seconds(), p.awaitNext().Seconds())
	}
	if c.stops {
		patience.Await(w, "HAProxy has no replica that is ready", func() bool { return !w.Front.IsReady(w.Context()) })
	} else {
		w.story.AwaitChanges(changes)
	}
	for _, m := range ends {
		if err := cluster.RestoreLink(leader, m); err != nil {
			w.Fatal(err)
		}
	}
	w.awaitHealthy()
	w.story.AwaitChanges(changes)
	w.Logf("%s: %.1f s without an acknowledgement at most; healthy again after %.1f s", c.name, p.end().Seconds(), time.Since(struck).Seconds())
}
