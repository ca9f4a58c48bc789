package storetest

import (
	"slices"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

var workerTests = map[string]func(*suite){
	"round trip":          workerRoundTrip,
	"running":             workerRunning,
	"forgotten":           workerForgotten,
	"heard":               workerHeard,
	"left":                workerLeft,
	"tasks that wait":     workerUnclaimed,
	"gaps and what ended": workerGaps,
}

// now returns the time of the database.
func (s *suite) now() time.Time {
	s.Helper()
	now, err := s.db.Now(s.Context())
	s.checkNoError(err)
	return now
}

func (s *suite) workers(at time.Time) []fermata.Worker {
	s.Helper()
	all, err := s.read().Workers(at)
	s.checkNoError(err)
	return all
}

func workerRoundTrip(s *suite) {
	w := fermata.Worker{
		Name: hardText, Runners: []string{"claude", hardText}, Projects: []string{hardText}, Agents: []string{"code"}, Isolates: true,
		Visible: fermata.ProjectSet{Only: true, Names: []string{hardText}},
	}
	other := fermata.Worker{Name: hardText}
	var at time.Time
	s.write(func(tx *store.Tx) { at = tx.Now(); tx.SaveWorkers(w) })
	s.write(func(tx *store.Tx) { tx.SaveWorkers(w) })
	s.write(func(tx *store.Tx) { tx.SaveWorkers(other) })
	all := s.workers(s.now())
	s.checkEqual(2, len(all))
	// A worker with the same name and the same offer is the same worker. With another offer it is another worker.
	first := all[slices.IndexFunc(all, func(w fermata.Worker) bool { return len(w.Runners) > 0 })]
	if first.SeenAt.Before(at) {
		s.Errorf("it was seen at %s, before it asked at %s", first.SeenAt, at)
	}
	w.SeenAt, w.Running = first.SeenAt, true
	s.checkEqual(w, first)
	elsewhere, err := s.db.Reader(s.Context(), "elsewhere").Workers(s.now())
	s.checkNoError(err)
	s.checkEqual(0, len(elsewhere))
}

func workerRunning(s *suite) {
	for _, w := range []fermata.Worker{{Name: "w1", Runners: []string{"claude"}}, {Name: "w1", Runners: []string{"shell"}}, {Name: "w2", Runners: []string{"claude"}}} {
		s.write(func(tx *store.Tx) { tx.SaveWorkers(w) })
	}
	now := s.now()
	running := func(at time.Time) (names []string) {
		for _, w := range s.workers(at) {
			if w.Running {
				names = append(names, w.Name+" "+w.Runners[0])
			}
		}
		slices.Sort(names)
		return names
	}
	later := now.Add(fermata.WorkerSilence + time.Minute)
	s.checkEqual([]string{"w1 claude", "w1 shell", "w2 claude"}, running(now))
	s.checkEqual(0, len(running(later)))
	// A worker that holds a run counts as running until the lease of the run ends.
	s.addRun(func(r *fermata.Run) { r.Worker, r.Runner, r.LeaseUntil = "w1", "shell", later.Add(time.Second) })
	s.addRun(func(r *fermata.Run) {
		r.ID, r.TaskID, r.State, r.Worker, r.Runner, r.LeaseUntil = id("run"), "task_2", fermata.RunFinished, "w2", "claude", later.Add(time.Second)
	})
	s.checkEqual([]string{"w1 shell"}, running(later))
	s.checkEqual(0, len(running(later.Add(time.Minute))))
}

func workerHeard(s *suite) {
	clock := StandingClock()
	opts := s.opts
	opts.Clock = clock.Now
	s.db = s.config.Open(s.T, opts)
	for _, name := range []string{"w1", "w2"} {
		s.write(func(tx *store.Tx) { tx.SaveWorkers(fermata.Worker{Name: name}) })
	}
	begin := clock.Now()
	running := func(at time.Time) (names []string) {
		for _, w := range s.workers(at) {
			if w.Running {
				names = append(names, w.Name)
			}
		}
		return names
	}
	clock.Advance(time.Minute)
	s.write(func(tx *store.Tx) { tx.TouchWorkers("w1") })
	s.checkEqual([]string{"w1"}, running(begin.Add(fermata.WorkerSilence)))
	s.write(func(tx *store.Tx) { tx.MarkWorkersLost("w1", begin) })
	s.checkEqual([]string{"w1", "w2"}, running(clock.Now()))
	s.write(func(tx *store.Tx) { tx.MarkWorkersLost("w1", clock.Now()) })
	s.checkEqual([]string{"w2"}, running(clock.Now()))
	s.write(func(tx *store.Tx) { tx.SaveWorkers(fermata.Worker{Name: "w1"}) })
	s.checkEqual([]string{"w1", "w2"}, running(clock.Now()))
}

func workerForgotten(s *suite) {
	clock := StandingClock()
	opts := s.opts
	opts.Clock = clock.Now
	s.db = s.config.Open(s.T, opts)
	begin := clock.Now()
	s.write(func(tx *store.Tx) { tx.SaveWorkers(fermata.Worker{Name: "old"}) })
	clock.Advance(8 * 24 * time.Hour)
	s.write(func(tx *store.Tx) { tx.SaveWorkers(fermata.Worker{Name: "new"}) })
	listed := func(at time.Time) (names []string) {
		for _, w := range s.workers(at) {
			names = append(names, w.Name)
		}
		return names
	}
	s.checkEqual([]string{"new"}, listed(clock.Now()))
	s.checkEqual([]string{"new", "old"}, listed(begin))
	s.write(func(tx *store.Tx) { tx.DeleteForgottenWorkers() })
	s.checkEqual([]string{"new"}, listed(begin))
}

func workerLeft(s *suite) {
	stays, leaves := fermata.Worker{Name: hardText, Runners: []string{"claude"}}, fermata.Worker{Name: hardText, Runners: []string{"shell"}}
	s.write(func(tx *store.Tx) { tx.SaveWorkers(stays); tx.SaveWorkers(leaves) })
	for range 2 {
		s.write(func(tx *store.Tx) { tx.RemoveWorker(leaves) })
	}
	all := s.workers(s.now())
	s.checkEqual(1, len(all))
	s.checkEqual(stays.Runners, all[0].Runners)
}

func workerUnclaimed(s *suite) {
	kind := fermata.TaskKind{Runner: "claude", Project: "default", Agent: hardText, Isolated: true}
	of := func(state fermata.TaskState, k fermata.TaskKind) *fermata.Task {
		return s.addTask(func(t *fermata.Task) {
			t.State, t.Runner, t.Project, t.Agent, t.Isolated = state, k.Runner, k.Project, k.Agent, k.Isolated
		})
	}
	first := of(fermata.TaskOpen, kind)
	of(fermata.TaskInputReceived, kind)
	for _, state := range []fermata.TaskState{fermata.TaskBlocked, fermata.TaskInProgress, fermata.TaskDone, fermata.TaskAwaitingInput} {
		of(state, kind)
	}
	of(fermata.TaskOpen, fermata.TaskKind{Runner: fermata.RunnerWorkflow, Project: "default"})
	alone := of(fermata.TaskOpen, fermata.TaskKind{Project: "default"})
	got, err := s.read().CountUnclaimed()
	s.checkNoError(err)
	s.checkEqual([]store.UnclaimedCount{
		{Kind: fermata.TaskKind{Project: "default"}, Tasks: 1, First: alone.ID},
		{Kind: kind, Tasks: 2, First: first.ID},
	}, got)
}

func workerGaps(s *suite) {
	kind, other := fermata.TaskKind{Runner: "shell", Project: "default"}, fermata.TaskKind{Runner: hardText, Project: hardText, Agent: hardText, Isolated: true}
	gaps := func() []store.WorkerGap {
		s.Helper()
		all, err := s.read().WorkerGaps()
		s.checkNoError(err)
		return all
	}
	var since time.Time
	s.write(func(tx *store.Tx) { since = tx.Now(); tx.OpenWorkerGap(kind) })
	s.write(func(tx *store.Tx) { tx.OpenWorkerGap(kind); tx.OpenWorkerGap(other) })
	s.write(func(tx *store.Tx) { tx.MarkWorkerGapAlerted(other) })
	all := gaps()
	s.checkEqual(2, len(all))
	for _, g := range all {
		s.checkEqual(g.Kind == other, g.Alerted)
		if g.Kind == kind && !g.Since.Equal(since) {
			s.Errorf("it is open since %s, want %s", g.Since, since)
		}
	}
	s.write(func(tx *store.Tx) { tx.CloseWorkerGap(other); tx.CloseWorkerGap(other) })
	s.checkEqual(1, len(gaps()))
	s.checkEqual(kind, gaps()[0].Kind)
}
