//go:build lab

package ha

import (
	"flag"
	"regexp"
	"testing"
	"time"

	"github.com/fermata-hq/fermata/test/ha/cluster"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/process"
)

// changes is how many changes are acknowledged between two faults.
const changes = 150

// onlyFaults selects the faults: go test -tags lab ./test/ha -run Acknowledged -faults frozen.
var onlyFaults = flag.String("faults", ".", "a regular expression that the names of the faults must match")

// fault is something that goes wrong. strike returns how it is repaired. If the leader must be replaced, replaces is true,
// and strike returns its machine.
type fault struct {
	name     string
	replaces bool
	strike   func(w *world) (repair func(), replaced *cluster.Machine)
}

var faults = []fault{
	{"the leader is killed", true, func(w *world) (func(), *cluster.Machine) {
		m := w.leader()
		m.Kill()
		return func() { w.start(m) }, m
	}},
	{"the leader is frozen", true, func(w *world) (func(), *cluster.Machine) {
		m := w.leader()
		m.Freeze()
		return m.Thaw, m
	}},
	{"only PostgreSQL of the leader is killed", false, func(w *world) (func(), *cluster.Machine) {
		w.leader().KillPostgres()
		return func() {}, nil
	}},
	{"the synchronous standby is killed", false, func(w *world) (func(), *cluster.Machine) {
		m := w.standby(true)
		m.Kill()
		return func() { w.start(m) }, nil
	}},
	{"the synchronous standby is frozen", false, func(w *world) (func(), *cluster.Machine) {
		m := w.standby(true)
		m.Freeze()
		return m.Thaw, nil
	}},
	{"a replica of Fermata is frozen", false, func(w *world) (func(), *cluster.Machine) {
		p := w.Applications[0].Process("fermata")
		p.Freeze()
		return p.Thaw, nil
	}},
	{"a replica of Fermata is killed", false, func(w *world) (func(), *cluster.Machine) {
		w.Applications[1].Process("fermata").Crash()
		return func() {}, nil
	}},
	{"a pgbouncer is killed", false, func(w *world) (func(), *cluster.Machine) {
		w.Applications[2].Process("pgbouncer").Crash()
		return func() {}, nil
	}},
	{"the etcd of the leader is killed", false, func(w *world) (func(), *cluster.Machine) {
		p := w.leader().Process("etcd")
		p.Kill()
		return func() {
			if err := p.Start(); err != nil {
				w.Fatal(err)
			}
		}, nil
	}},
	{"HAProxy is killed", false, func(w *world) (func(), *cluster.Machine) {
		w.Front.Process("haproxy").Crash()
		return func() {}, nil
	}},
	{"another machine becomes the leader on purpose", true, func(w *world) (func(), *cluster.Machine) {
		m := w.leader()
		if err := w.Switchover(patience.Context(w), m, w.standby(true)); err != nil {
			w.Fatal(err)
		}
		return func() {}, m
	}},
}

func (w *world) start(m *cluster.Machine) {
	w.Helper()
	if err := m.Start(); err != nil {
		w.Fatal(err)
	}
}

// With a synchronous standby, one fault after another loses nothing that was acknowledged. Writes go on after each, also
// before it is repaired.
func TestNothingAcknowledgedIsLost(t *testing.T) {
	sufferAll(t, begin(t, nil))
}

// Replicas that connect to PostgreSQL directly, without poolers, lose nothing either.
func TestNothingIsLostPastThePoolers(t *testing.T) {
	sufferAll(t, begin(t, func(o *cluster.Options) { o.PastPoolers = true }))
}

// sufferAll lets the faults happen one after another. It compares what was acknowledged with what the database has.
func sufferAll(t *testing.T, w *world) {
	t.Helper()
	w.front.RetriesUntilReply = true
	w.load()
	only := regexp.MustCompile(*onlyFaults)
	for _, f := range faults {
		if !only.MatchString(f.name) {
			continue
		}
		w.story.AwaitChanges(changes)
		w.suffer(f)
		w.story.Recheck()
		if t.Failed() {
			t.Fatalf("after: %s", f.name)
		}
	}
	w.end()
}

// suffer lets a fault happen and repairs it. It logs the longest time in which no change was acknowledged.
func (w *world) suffer(f fault) {
	w.Helper()
	p := w.startPulse()
	struck := time.Now()
	repair, replaced := f.strike(w)
	if replaced != nil {
		w.awaitPromotion(replaced)
		promoted := time.Since(struck)
		w.Logf("%s: promotion after %.1f s, the next write %.1f s later", f.name, promoted.Seconds(), p.awaitNext().Seconds())
	}
	w.story.AwaitChanges(changes)
	repair()
	w.awaitHealthy()
	w.story.AwaitChanges(changes)
	w.Logf("%s: %.1f s without an acknowledgement at most; healthy again after %.1f s", f.name, p.end().Seconds(), time.Since(struck).Seconds())
}

// While the replicas are replaced one after another with a newer version, clients that retry as usual notice nothing. The
// first new replica migrates the database, so both versions serve together. The way back works alike.
func TestRollingUpgrade(t *testing.T) {
	w := begin(t, nil)
	newer := process.NextVersion(t, "ALTER TABLE tasks ADD COLUMN next_note TEXT NOT NULL DEFAULT ''")
	w.load()
	p := w.startPulse()
	for _, version := range []string{newer, process.Binary(t)} {
		for _, m := range w.Applications {
			w.story.AwaitChanges(changes)
			if err := m.Upgrade(version); err != nil {
				t.Fatal(err)
			}
			patience.Await(t, m.Name+" is ready", func() bool { return m.IsReady(t.Context()) })
			w.story.AwaitChanges(changes)
			w.story.Recheck()
			if t.Failed() {
				t.FailNow()
			}
		}
	}
	w.end()
	t.Logf("%.1f s without an acknowledgement at most; clients repeated %d replies of 500 or more", p.end().Seconds(), w.front.ServerErrors.Load())
}
