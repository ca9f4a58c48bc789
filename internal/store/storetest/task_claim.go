package storetest

import (
	"slices"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

func taskClaims(s *suite) {
	at := func(n int, change func(t *fermata.Task)) *fermata.Task {
		return s.addTask(func(t *fermata.Task) {
			t.ID = fermata.NewID(fermata.PrefixTask, noon.Add(time.Duration(n)*time.Second))
			change(t)
		})
	}
	young := at(9, func(t *fermata.Task) { t.Priority = 1 })
	old := at(1, func(t *fermata.Task) { t.Priority = 1 })
	low := at(0, func(t *fermata.Task) { t.Priority = 3 })
	received := at(5, func(t *fermata.Task) { t.Priority, t.State = 4, fermata.TaskInputReceived })
	at(0, func(t *fermata.Task) { t.Priority, t.Runner = 0, fermata.RunnerExternal })
	at(0, func(t *fermata.Task) { t.Priority, t.State = 0, fermata.TaskAwaitingInput })
	claude := at(0, func(t *fermata.Task) { t.Priority, t.Runner = 0, "claude" })
	web := at(0, func(t *fermata.Task) { t.Priority, t.Project = 4, "web" })
	review := at(0, func(t *fermata.Task) { t.Priority, t.Agent, t.Project = 3, "review", "docs" })
	code := at(0, func(t *fermata.Task) { t.Priority, t.Agent, t.Project = 4, "code", "docs" })

	next := func(c fermata.ClaimRequest) string {
		t, err := s.nextClaimable(c)
		if fermata.CodeOf(err) == fermata.CodeNotFound {
			return ""
		}
		s.checkNoError(err)
		return t.ID
	}
	s.checkEqual(received.ID, next(fermata.ClaimRequest{Runners: []string{"claude"}}))
	s.checkEqual(web.ID, next(fermata.ClaimRequest{Projects: []string{"web"}}))
	s.checkEqual(code.ID, next(fermata.ClaimRequest{Projects: []string{"docs"}, Agents: []string{"code"}}))
	s.checkEqual(review.ID, next(fermata.ClaimRequest{Projects: []string{"docs"}}))
	s.checkEqual("", next(fermata.ClaimRequest{Projects: []string{"none"}}))
	kinds, err := s.read().ClaimableKinds()
	s.checkNoError(err)
	slices.SortFunc(kinds, fermata.TaskKind.Compare)
	s.checkEqual([]fermata.TaskKind{
		{Project: "default"}, {Project: "docs", Agent: "code"}, {Project: "docs", Agent: "review"}, {Project: "web"},
		{Runner: "claude", Project: "default"}, {Runner: fermata.RunnerExternal, Project: "default"},
	}, kinds)
	byID, err := s.read().KindsByID([]string{web.ID, code.ID})
	s.checkNoError(err)
	s.checkEqual(map[string]fermata.TaskKind{web.ID: web.Kind(), code.ID: code.Kind()}, byID)
	for _, want := range []*fermata.Task{received, old, young, low} {
		s.checkEqual(want.ID, next(fermata.ClaimRequest{Projects: []string{"default"}}))
		s.write(func(tx *store.Tx) { want.State = fermata.TaskDone; tx.SaveTask(want) })
	}
	s.checkEqual(claude.ID, next(fermata.ClaimRequest{Runners: []string{"claude"}}))
	s.checkEqual("", next(fermata.ClaimRequest{Projects: []string{"default"}}))
}

// nextClaimable returns the task that the request gets next.
func (s *suite) nextClaimable(c fermata.ClaimRequest) (*fermata.Task, error) {
	selection, err := store.ClaimableFor(c, s.read().ClaimableKinds)
	s.checkNoError(err)
	return s.read().NextClaimable(selection)
}

func taskDependencies(s *suite) {
	a, b := s.addTask(func(*fermata.Task) {}), s.addTask(func(*fermata.Task) {})
	t := s.addTask(func(t *fermata.Task) { t.BlockedBy = []string{a.ID, b.ID} })
	questions, dependents, err := s.read().AffectedByTaskEnd(a.ID)
	s.checkNoError(err)
	s.checkEqual(0, len(questions))
	s.checkEqual([]string{t.ID}, dependents)
	s.write(func(tx *store.Tx) { t.BlockedBy = []string{b.ID}; tx.SaveTaskEdit(t) })
	_, dependents, err = s.read().AffectedByTaskEnd(a.ID)
	s.checkNoError(err)
	s.checkEqual(0, len(dependents))

	q := newQuestion(b.ID)
	closed := newQuestion(b.ID)
	closed.Status, closed.Resolution = fermata.Cancelled, &fermata.Resolution{Status: fermata.Cancelled, DecidedBy: fermata.ActorAgent, At: noon}
	s.write(func(tx *store.Tx) { tx.InsertQuestion(q); tx.InsertQuestion(closed) })
	questions, dependents, err = s.read().AffectedByTaskEnd(b.ID)
	s.checkNoError(err)
	s.checkEqual([]string{q.ID}, questions)
	s.checkEqual([]string{t.ID}, dependents)
}

func taskSessions(s *suite) {
	ended := s.addTask(func(t *fermata.Task) { t.SessionKey, t.State = "s1", fermata.TaskDone })
	none, err := s.read().TasksOfSession("s1")
	s.checkNoError(err)
	s.checkEqual(0, len(none))
	older := s.addTask(func(t *fermata.Task) { t.SessionKey = "s1" })
	newer := s.addTask(func(t *fermata.Task) {
		t.ID, t.SessionKey = fermata.NewID(fermata.PrefixTask, noon.Add(time.Minute)), "s1"
	})
	got, err := s.read().TasksOfSession("s1")
	s.checkNoError(err)
	s.checkEqual([]*fermata.Task{newer, older}, got)
	got, err = s.read().EndedTasksOfSession("s1")
	s.checkNoError(err)
	s.checkEqual([]*fermata.Task{ended}, got)
	none, err = s.read().TasksOfSession("")
	s.checkNoError(err)
	s.checkEqual(0, len(none))
	none, err = s.read().EndedTasksOfSession("")
	s.checkNoError(err)
	s.checkEqual(0, len(none))
}

func taskDeferrals(s *suite) {
	due := s.addTask(func(t *fermata.Task) { t.State, t.DeferUntil = fermata.TaskDeferred, ptr(noon) })
	s.addTask(func(t *fermata.Task) { t.State, t.DeferUntil = fermata.TaskDeferred, ptr(noon.Add(time.Millisecond)) })
	s.addTask(func(t *fermata.Task) { t.State = fermata.TaskDeferred })
	s.addTask(func(t *fermata.Task) { t.DeferUntil = ptr(noon) })
	blocked := s.addTask(func(t *fermata.Task) { t.State, t.DeferUntil = fermata.TaskBlocked, ptr(noon.Add(-time.Millisecond)) })
	s.checkEqual([]store.DueRow{{Workspace: store.DefaultWorkspace, ID: blocked.ID}, {Workspace: store.DefaultWorkspace, ID: due.ID}}, s.overdue(noon, 10).Tasks)
	s.checkEqual(1, len(s.overdue(noon.Add(time.Hour), 1).Tasks))
}
