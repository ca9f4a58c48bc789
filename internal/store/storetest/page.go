package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// pageTests check that the pages of a list are together what its filter keeps, in its order.
var pageTests = map[string]func(*suite){
	"tasks":                func(s *suite) { taskPages(s, 6*len(fermata.TaskStates), 3) },
	"many tasks":           func(s *suite) { taskPages(s, 100*len(fermata.TaskStates), 400) },
	"questions":            func(s *suite) { questionPages(s, 48, 3) },
	"many questions":       func(s *suite) { questionPages(s, 1100, 400) },
	"deliveries":           deliveryPages,
	"runs of workflows":    workflowRunPages,
	"events of rare types": rareEvents,
	"changed labels":       changedLabels,
	"changed assignees":    changedAssignees,
}

// readPages reads a list in pages of three rows. read returns the page after a row, which is the zero value at the
// beginning.
func readPages[T any](s *suite, idOf func(T) string, read func(last T) ([]T, error)) []string {
	s.Helper()
	var ids []string
	var last T
	for {
		page, err := read(last)
		s.checkNoError(err)
		if len(page) == 0 {
			return ids
		}
		for _, v := range page {
			ids = append(ids, idOf(v))
		}
		last = page[len(page)-1]
	}
}

// taskPages reads n tasks in pages of a size. More than 500 tasks of a project are read through other indexes than few.
func taskPages(s *suite, n, size int) {
	var all []*fermata.Task
	for i := range n {
		t := newTask("paint")
		t.ID = fermata.NewID(fermata.PrefixTask, noon.Add(time.Duration(i)*time.Millisecond))
		t.State, t.Project, t.Agent = fermata.TaskStates[i%len(fermata.TaskStates)], []string{"web", "shop"}[i%2], []string{"", "review", "test"}[i%3]
		t.Labels = [][]string{nil, {"bug"}, {"bug", "area/web"}, {"Bug"}}[i%4]
		t.Runner, t.Isolated = []string{"", "claude", "shell"}[i%7%3], i%10 == 0
		t.Priority, t.UpdatedAt = i%4, noon.Add(time.Duration(i%5)*time.Minute)
		all = append(all, t)
	}
	s.write(func(tx *store.Tx) {
		for i, t := range all {
			tx.InsertTask(t)
			if t.State.IsSuspended() {
				tx.InsertQuestion(&fermata.Question{
					ID: fmt.Sprint("q_", i), TaskID: t.ID, Project: t.Project, Type: fermata.Blocking, Status: fermata.Pending, Title: "Which?", CreatedAt: noon,
				})
			}
		}
	})
	for _, f := range []store.TaskFilter{
		{}, {Project: "web"}, {Agent: "review"}, {Project: "shop", Agent: "test"},
		{States: []fermata.TaskState{fermata.TaskAwaitingInput, fermata.TaskAwaitingApproval}},
		{States: []fermata.TaskState{fermata.TaskAwaitingApproval, fermata.TaskDone, fermata.TaskInputReceived}},
		{Project: "web", States: []fermata.TaskState{fermata.TaskOpen, fermata.TaskAwaitingInput}}, {Project: "none"},
		{Label: "bug"}, {Label: "area/web", Project: "web"}, {Label: "bug", States: []fermata.TaskState{fermata.TaskDone, fermata.TaskAwaitingInput}},
		{Label: "bug", States: fermata.TaskStates}, {Project: "web", Agent: "review", States: []fermata.TaskState{fermata.TaskDone, fermata.TaskFailed}},
		{States: []fermata.TaskState{fermata.TaskOpen, fermata.TaskBlocked, fermata.TaskDeferred, fermata.TaskInputReceived}},
		{States: []fermata.TaskState{fermata.TaskDone, fermata.TaskFailed, fermata.TaskCancelled, fermata.TaskSkipped}},
		{States: []fermata.TaskState{fermata.TaskFailed}}, {Agent: "review", States: []fermata.TaskState{fermata.TaskOpen, fermata.TaskInProgress}},
		{Project: "web", States: []fermata.TaskState{fermata.TaskDone, fermata.TaskOpen}},
	} {
		for _, sort := range fermata.TaskSorts {
			f.Sort, f.Limit = sort, size
			want := slices.DeleteFunc(slices.Clone(all), func(t *fermata.Task) bool {
				return f.Project != "" && t.Project != f.Project || f.Label != "" && !slices.Contains(t.Labels, f.Label) || f.Agent != "" && t.Agent != f.Agent || len(f.States) > 0 && !slices.Contains(f.States, t.State)
			})
			slices.SortFunc(want, func(a, b *fermata.Task) int { return compareTasks(a, b, sort) })
			got := readPages(s, func(t *fermata.Task) string { return t.ID }, func(last *fermata.Task) ([]*fermata.Task, error) {
				if last != nil {
					f.After = store.TaskPositionOf(last, sort)
				}
				return s.read().Tasks(f)
			})
			f.After = store.TaskPosition{}
			s.Logf("%+v", f)
			s.checkEqual(taskIDs(want), got)
		}
	}
}

func compareTasks(a, b *fermata.Task, sort fermata.TaskSort) int {
	switch sort {
	case fermata.SortOldest:
		return cmp.Compare(a.ID, b.ID)
	case fermata.SortPriority:
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.ID, b.ID))
	case fermata.SortUpdated:
		return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(b.ID, a.ID))
	default:
		return cmp.Compare(b.ID, a.ID)
	}
}

func questionPages(s *suite, n, size int) {
	var all []*fermata.Question
	s.write(func(tx *store.Tx) {
		all = nil
		for i := range n {
			q := &fermata.Question{
				ID:     fermata.NewID(fermata.PrefixQuestion, noon.Add(time.Duration(i)*time.Millisecond)),
				TaskID: fmt.Sprint("task_", i), Title: "Which?", CreatedAt: noon, Priority: i % 5,
				Project: []string{"web", "shop", "shop"}[i%3], Type: []fermata.QuestionType{fermata.Blocking, fermata.Approval}[i%2],
				Status: fermata.QuestionStatuses[i/2%len(fermata.QuestionStatuses)], Assignees: [][]string{nil, {"alice"}, {"group:R&D", "alice"}}[i/3%3],
			}
			if q.Status != fermata.Pending {
				q.Resolution = &fermata.Resolution{Status: q.Status, DecidedBy: fermata.ActorHuman, At: noon}
			}
			tx.InsertQuestion(q)
			all = append(all, q)
		}
	})
	for _, f := range []store.QuestionFilter{
		{Project: "web"}, {Type: "approval"}, {Project: "shop", Type: "blocking"}, {Status: "timed_out"}, {Status: "answered", Project: "shop"},
		{Status: "answered", Type: "approval"}, {Status: "pending", Project: "web"}, {Status: "pending", Type: "approval"}, {Project: "none"},
		{Assignee: "alice"}, {Assignee: "Group:R&D", Status: "timed_out"}, {Assignee: "alice", Project: "shop"}, {Assignee: "alice", Status: "pending"},
		{Assignee: "alice", Status: "pending", Project: "shop"},
		{Assignee: "alic"},
	} {
		for _, sort := range []store.QuestionSort{store.SortNewest, store.SortOldest, store.SortUrgency} {
			f.Sort, f.Limit = sort, size
			want := slices.DeleteFunc(slices.Clone(all), func(q *fermata.Question) bool {
				return f.Project != "" && q.Project != f.Project || f.Assignee != "" && !slices.Contains(q.Assignees, strings.Replace(f.Assignee, "Group", "group", 1)) || f.Type != "" && string(q.Type) != f.Type || f.Status != "" && string(q.Status) != f.Status
			})
			if sort == store.SortNewest {
				slices.Reverse(want)
			}
			if sort == store.SortUrgency {
				slices.SortStableFunc(want, func(a, b *fermata.Question) int { return cmp.Compare(a.Priority, b.Priority) })
			}
			got := readPages(s, func(q *fermata.Question) string { return q.ID }, func(last *fermata.Question) ([]*fermata.Question, error) {
				if last != nil {
					f.After = store.QuestionPositionOf(last)
				}
				return s.read().Questions(f)
			})
			f.After = store.QuestionPosition{}
			s.Logf("%+v", f)
			s.checkEqual(questionIDs(want), got)
		}
	}
}

func deliveryPages(s *suite) {
	channels := []*fermata.Channel{s.addChannel("wall"), s.addChannel("board")}
	var all []*fermata.Delivery
	for i := range 40 {
		d := newDelivery(channels[i%2], fmt.Sprint(i), noon)
		d.ID = fermata.NewID(fermata.PrefixDelivery, noon.Add(time.Duration(i)*time.Millisecond))
		d.State, d.MemberID = fermata.DeliveryStates[i%len(fermata.DeliveryStates)], []string{"", "mem_1", "mem_2"}[i%3]
		all = append(all, d)
	}
	s.planDeliveries(all...)
	slices.Reverse(all)
	for _, f := range []store.DeliveryFilter{
		{State: "dead"}, {ChannelID: channels[0].ID}, {MemberID: "mem_1"}, {ChannelID: channels[1].ID, State: "sent"},
		{ChannelID: channels[0].ID, MemberID: "mem_2"}, {MemberID: "mem_2", State: "waiting"}, {State: "none"},
	} {
		var want []string
		for _, d := range all {
			if (f.ChannelID == "" || d.ChannelID == f.ChannelID) && (f.MemberID == "" || d.MemberID == f.MemberID) && (f.State == "" || string(d.State) == f.State) {
				want = append(want, d.ID)
			}
		}
		f.Limit = 3
		got := readPages(s, func(d *fermata.Delivery) string { return d.ID }, func(last *fermata.Delivery) ([]*fermata.Delivery, error) {
			if last != nil {
				f.Before = last.ID
			}
			return s.read().Deliveries(f)
		})
		s.Logf("%+v", f)
		s.checkEqual(want, got)
	}
}

func workflowRunPages(s *suite) {
	var all []*fermata.WorkflowRun
	triggers := []fermata.TriggerType{fermata.TriggerManual, fermata.TriggerWebhook}
	s.write(func(tx *store.Tx) {
		all = nil
		for i := range 36 {
			t := newTask("run")
			t.ID = fermata.NewID(fermata.PrefixTask, noon.Add(time.Duration(i)*time.Millisecond))
			t.State, t.Project = fermata.TaskStates[i%3], []string{"web", "shop"}[i/3%2]
			if i%4 != 0 {
				// The tasks of other runners are no runs.
				t.Runner = fermata.RunnerWorkflow
			}
			tx.InsertTask(t)
			if t.Runner == "" {
				continue
			}
			run := &fermata.WorkflowRun{ID: t.ID, Workflow: "autofix", Hash: "h1", Trigger: triggers[i/6%2], State: t.State, Project: t.Project}
			tx.InsertWorkflowRun(run)
			all = append(all, run)
		}
	})
	slices.Reverse(all)
	for _, f := range []store.WorkflowRunFilter{
		{}, {States: fermata.TaskStates[:1]}, {States: fermata.TaskStates[1:3]}, {Project: "web"}, {Project: "shop", States: fermata.TaskStates[:2]},
		{Trigger: fermata.TriggerWebhook}, {Trigger: fermata.TriggerManual, Project: "web"}, {Workflow: "autofix", States: fermata.TaskStates[:1], Project: "web"},
		{States: []fermata.TaskState{"none"}},
	} {
		var want []string
		for _, run := range all {
			if (len(f.States) == 0 || slices.Contains(f.States, run.State)) && (f.Project == "" || f.Project == run.Project) && (f.Trigger == "" || f.Trigger == run.Trigger) {
				want = append(want, run.ID)
			}
		}
		f.Limit = 3
		got := readPages(s, func(run *fermata.WorkflowRun) string { return run.ID }, func(last *fermata.WorkflowRun) ([]*fermata.WorkflowRun, error) {
			if last != nil {
				f.Before = last.ID
			}
			return s.read().WorkflowRuns(f)
		})
		s.Logf("%+v", f)
		s.checkEqual(want, got)
	}
}

// rareEvents checks lists of types that an index contains, with and without others.
func rareEvents(s *suite) {
	types := []fermata.EventType{
		fermata.EventTaskCreated, fermata.EventQuestionEscalated, fermata.EventTokenCreated, fermata.EventTaskCreated, fermata.EventTokenRevoked,
	}
	s.write(func(tx *store.Tx) {
		for range 3 {
			for _, typ := range types {
				tx.Append(&fermata.Event{Type: typ, Actor: robot})
			}
		}
	})
	for name, c := range map[string]struct {
		filter store.EventFilter
		want   []int64
	}{
		"one type":       {store.EventFilter{Types: []string{"question.escalated"}, Limit: 9}, []int64{2, 7, 12}},
		"a noun":         {store.EventFilter{Types: []string{"token"}, After: 3, Limit: 3}, []int64{5, 8, 10}},
		"newest":         {store.EventFilter{Types: []string{"token", "question.escalated"}, Newest: true, Limit: 4}, []int64{15, 13, 12, 10}},
		"among frequent": {store.EventFilter{Types: []string{"task.created", "question.escalated"}, After: 5, Limit: 4}, []int64{6, 7, 9, 11}},
		"in a range":     {store.EventFilter{Types: []string{"token.created"}, After: 2, Before: 9, Limit: 9}, []int64{3, 8}},
		"in a far range": {store.EventFilter{Types: []string{"token.created"}, After: 4, Before: 9999, Limit: 9}, []int64{8, 13}},
	} {
		got, err := s.read().Events(c.filter)
		s.checkNoError(err)
		var seqs []int64
		for _, e := range got {
			seqs = append(seqs, e.Seq)
		}
		s.Log(name)
		s.checkEqual(c.want, seqs)
	}
}

// changedLabels checks that a task is in the lists of its present labels only.
func changedLabels(s *suite) {
	t := s.addTask(func(t *fermata.Task) { t.Labels = []string{"a", "b", "b"} })
	s.write(func(tx *store.Tx) { t.Labels = []string{"b", "c"}; tx.SaveTaskEdit(t) })
	for label, want := range map[string][]string{"a": nil, "b": {t.ID}, "c": {t.ID}} {
		found, err := s.read().Tasks(store.TaskFilter{Label: label, Limit: 10})
		s.checkNoError(err)
		s.checkEqual(want, taskIDs(found))
	}
}

// changedAssignees checks that a question is in the lists of its present assignees only, also after its end.
func changedAssignees(s *suite) {
	q := s.addQuestion(func(q *fermata.Question) { q.Assignees = []string{"alice", "bob"} })
	s.write(func(tx *store.Tx) { q.Assignees = []string{"bob", "carol"}; tx.UpdatePending(q) })
	pending, err := s.read().Questions(store.QuestionFilter{Assignee: "carol", Status: "pending", Sort: store.SortDeadline, Limit: 10})
	s.checkNoError(err)
	s.checkEqual([]string{q.ID}, questionIDs(pending))
	s.write(func(tx *store.Tx) { setCancelled(q); tx.UpdatePending(q) })
	for name, want := range map[string][]string{"alice": nil, "bob": {q.ID}, "carol": {q.ID}} {
		for _, status := range []string{"", "cancelled"} {
			found, err := s.read().Questions(store.QuestionFilter{Assignee: name, Status: status, Limit: 10})
			s.checkNoError(err)
			s.checkEqual(want, questionIDs(found))
		}
	}
}
