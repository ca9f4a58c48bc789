package storetest

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

var taskTests = map[string]func(*suite){
	"round trip":                           taskRoundTrip,
	"empty fields":                         taskEmptyFields,
	"a stale save fails":                   taskStaleSave,
	"several saves are one":                taskSavedOnce,
	"filters":                              taskFilters,
	"orders":                               taskOrders,
	"counted once":                         taskCountedOnce,
	"search takes wildcards as characters": taskSearch,
	"short endings":                        taskEndings,
	"claim order and filters":              taskClaims,
	"dependencies":                         taskDependencies,
	"sessions":                             taskSessions,
	"deferrals":                            taskDeferrals,
	"projects":                             taskProjects,
	"workspaces are apart":                 taskOtherWorkspace,
	"changed by the way":                   taskChangedByTheWay,
}

// newTask returns a task with only the fields that a row needs.
func newTask(title string) *fermata.Task {
	return &fermata.Task{
		ID: id(fermata.PrefixTask), WorkspaceID: store.DefaultWorkspace, Project: fermata.DefaultProject, Title: title,
		State: fermata.TaskOpen, Priority: 2, MaxAttempts: 3, CreatedBy: robot, CreatedAt: noon, UpdatedAt: noon,
	}
}

func (s *suite) addTask(change func(t *fermata.Task)) *fermata.Task {
	s.Helper()
	t := newTask("paint the fence")
	change(t)
	s.write(func(tx *store.Tx) { tx.InsertTask(t) })
	return t
}

func taskRoundTrip(s *suite) {
	parent := s.addTask(func(*fermata.Task) {})
	t := s.addTask(func(t *fermata.Task) {
		t.ParentID, t.Title, t.Body, t.Project, t.Priority, t.Size = parent.ID, hardText, hardText, "web", 0, "large"
		t.Agent, t.Runner, t.Labels = "review", fermata.RunnerExternal, []string{hardText, "b", "a"}
		t.Spec = json.RawMessage("{ \"command\" : [\"<&>\",\n\"é\\u00e9\"],\"n\":1.0 }")
		t.BlockedBy, t.DeferUntil, t.MaxAttempts = []string{parent.ID}, ptr(noon.Add(time.Hour)), 7
		t.Reason, t.State, t.Unread, t.EndsWithAnswer, t.Isolated, t.SessionKey = hardText, fermata.TaskDeferred, 3, true, true, hardText
		t.UpdatedAt = noon.Add(time.Millisecond)
	})
	got, err := s.read().Task(t.ID)
	s.checkNoError(err)
	s.checkEqual(t, got)
	origins, err := s.read().TaskOrigins([]string{t.ID, "task_none"})
	s.checkNoError(err)
	s.checkEqual([]*fermata.Task{{
		ID: t.ID, Project: "web", ParentID: t.ParentID, Runner: t.Runner, Isolated: t.Isolated, Agent: t.Agent, Spec: t.Spec, EndsWithAnswer: t.EndsWithAnswer,
		SessionKey: t.SessionKey, CreatedBy: robot, RunID: t.RunID, WorkerTokenID: t.WorkerTokenID, AgentTokenID: t.AgentTokenID,
	}}, origins)

	var now time.Time
	s.checkNoError(s.try(func(tx *store.Tx) error {
		t, err := tx.Task(t.ID)
		if err != nil {
			return err
		}
		t.State, t.Reason, t.Attempts, t.RunID = fermata.TaskInProgress, "r", 2, "run_1"
		t.Session = &fermata.Session{ID: hardText, Runner: "claude", Dir: "/w", Mode: "plan", Worker: "w1", Branch: "b", Settings: map[string]string{"a": hardText}}
		t.Checkpoint, t.Summary = json.RawMessage("[ 1,  \"<\" ]"), hardText
		t.PendingQuestionID, t.Unread, t.DeferUntil = "q_1", 0, nil
		t.Title, t.Body, t.Priority, t.Labels, t.BlockedBy = "new", "", 4, nil, nil
		tx.SaveTaskEdit(t)
		tx.SaveTask(t)
		now = tx.Now()
		return nil
	}))
	want := *t
	want.State, want.Reason, want.Attempts, want.RunID = fermata.TaskInProgress, "r", 2, "run_1"
	want.Session = &fermata.Session{ID: hardText, Runner: "claude", Dir: "/w", Mode: "plan", Worker: "w1", Branch: "b", Settings: map[string]string{"a": hardText}}
	want.Checkpoint, want.Summary = json.RawMessage("[ 1,  \"<\" ]"), hardText
	want.PendingQuestionID, want.Unread, want.DeferUntil = "q_1", 0, nil
	want.Title, want.Body, want.Priority, want.Labels, want.BlockedBy = "new", "", 4, nil, nil
	want.UpdatedAt, want.Version = now, 2
	got, err = s.read().Task(t.ID)
	s.checkNoError(err)
	s.checkEqual(&want, got)
	all, err := s.read().TasksByID([]string{t.ID, "task_none"})
	s.checkNoError(err)
	s.checkEqual([]*fermata.Task{&want}, all)
	children, err := s.read().Children(parent.ID)
	s.checkNoError(err)
	s.checkEqual([]*fermata.Task{&want}, children)
	grandchild := s.addTask(func(t *fermata.Task) { t.ParentID = want.ID })
	children, err = s.read().Children(parent.ID, want.ID)
	s.checkNoError(err)
	s.checkEqual([]*fermata.Task{&want, grandchild}, children)
	_, err = s.read().Task("task_none")
	s.checkCode(err, fermata.CodeNotFound)
}

func taskEmptyFields(s *suite) {
	t := s.addTask(func(t *fermata.Task) { t.Labels, t.BlockedBy = []string{}, []string{} })
	got, err := s.read().Task(t.ID)
	s.checkNoError(err)
	t.Labels, t.BlockedBy = nil, nil
	s.checkEqual(t, got)
	none, err := s.read().TasksByID(nil)
	s.checkNoError(err)
	s.checkEqual(0, len(none))
	none, err = s.read().Children("")
	s.checkNoError(err)
	s.checkEqual(0, len(none))
}

func taskStaleSave(s *suite) {
	t := s.addTask(func(*fermata.Task) {})
	stale, err := s.read().Task(t.ID)
	s.checkNoError(err)
	s.write(func(tx *store.Tx) { tx.SaveTask(t) })
	if err := s.try(func(tx *store.Tx) error { stale.Summary = "stale"; tx.SaveTask(stale); return nil }); err == nil {
		s.Fatal("a task that somebody else saved was overwritten")
	}
	got, err := s.read().Task(t.ID)
	s.checkNoError(err)
	s.checkEqual("", got.Summary)
	s.checkEqual(int64(2), got.Version)
}

func taskSavedOnce(s *suite) {
	t := s.addTask(func(*fermata.Task) {})
	s.checkNoError(s.try(func(tx *store.Tx) error {
		t, err := tx.Task(t.ID)
		if err != nil {
			return err
		}
		tx.SaveTask(t)
		t.Summary = "last"
		tx.SaveTask(t)
		seen, err := tx.Task(t.ID)
		if err != nil || seen.Summary != "last" {
			return fmt.Errorf("the transaction reads %+v: %w", seen, err)
		}
		t.Summary = "later"
		tx.SaveTask(t)
		return nil
	}))
	got, err := s.read().Task(t.ID)
	s.checkNoError(err)
	s.checkEqual("later", got.Summary)
	s.checkEqual(int64(3), got.Version)
}

func taskFilters(s *suite) {
	parent := s.addTask(func(t *fermata.Task) { t.Title = "parent" })
	a := s.addTask(func(t *fermata.Task) {
		t.Title, t.Project, t.Labels, t.Agent = "Paint", "web", []string{"x", `"quoted"`}, "review"
	})
	b := s.addTask(func(t *fermata.Task) { t.State, t.ParentID, t.Labels = fermata.TaskDone, parent.ID, []string{"xy"} })
	for name, c := range map[string]struct {
		filter store.TaskFilter
		want   []string
	}{
		"all":           {store.TaskFilter{}, []string{parent.ID, a.ID, b.ID}},
		"state":         {store.TaskFilter{States: []fermata.TaskState{fermata.TaskDone, fermata.TaskFailed}}, []string{b.ID}},
		"project":       {store.TaskFilter{Project: "web"}, []string{a.ID}},
		"parent":        {store.TaskFilter{ParentID: parent.ID}, []string{b.ID}},
		"label":         {store.TaskFilter{Label: "x"}, []string{a.ID}},
		"quoted label":  {store.TaskFilter{Label: `"quoted"`}, []string{a.ID}},
		"text any case": {store.TaskFilter{Text: "pAIN"}, []string{a.ID, b.ID}},
		"agent":         {store.TaskFilter{Agent: "review"}, []string{a.ID}},
		"both states":   {store.TaskFilter{States: []fermata.TaskState{fermata.TaskOpen, fermata.TaskDone, fermata.TaskOpen}}, []string{parent.ID, a.ID, b.ID}},
		"no such state": {store.TaskFilter{States: []fermata.TaskState{"x' OR '' = '"}}, nil},
		"together":      {store.TaskFilter{Text: "paint", Project: "web", Label: "x", States: []fermata.TaskState{fermata.TaskOpen}}, []string{a.ID}},
		"none":          {store.TaskFilter{Text: "paint", Project: "api"}, nil},
	} {
		c.filter.Limit = 10
		got, err := s.read().Tasks(c.filter)
		s.checkNoError(err)
		s.Log(name)
		s.checkEqualIDs(c.want, taskIDs(got))
	}
	for name, c := range map[string]struct {
		filter store.TaskFilter
		open   int64
		done   int64
	}{
		"all":    {store.TaskFilter{}, 2, 1},
		"web":    {store.TaskFilter{Project: "web"}, 1, 0},
		"search": {store.TaskFilter{Text: "pAIN"}, 1, 1},
		"states": {store.TaskFilter{States: []fermata.TaskState{fermata.TaskDone}}, 2, 1},
	} {
		want := fermata.NewTaskCounts()
		want.Add(fermata.TaskOpen, c.open)
		want.Add(fermata.TaskDone, c.done)
		got, err := s.read().CountTasksByState(c.filter)
		s.checkNoError(err)
		s.Log(name)
		s.checkEqual(want, got)
	}
	first, err := s.read().Tasks(store.TaskFilter{Limit: 2})
	s.checkNoError(err)
	rest, err := s.read().Tasks(store.TaskFilter{Limit: 2, After: store.TaskPositionOf(first[1], "")})
	s.checkNoError(err)
	s.checkEqual([]int{2, 1}, []int{len(first), len(rest)})
	if first[0].ID < first[1].ID || first[1].ID < rest[0].ID {
		s.Error("the list is not the newest first")
	}
}

// taskCountedOnce counts a task that got a message while its question is pending, beside one that waits for its answer.
func taskCountedOnce(s *suite) {
	want := fermata.NewTaskCounts()
	for _, state := range []fermata.TaskState{fermata.TaskInputReceived, fermata.TaskAwaitingInput} {
		t := s.addTask(func(t *fermata.Task) { t.State = state })
		s.addQuestion(func(q *fermata.Question) { q.TaskID = t.ID })
		want.Add(state, 1)
	}
	got, err := s.read().CountTasksByState(store.TaskFilter{})
	s.checkNoError(err)
	s.checkEqual(want, got)
}

// taskOrders checks for every order that the pages together are the whole list
// in this order, with and without a filter on states.
func taskOrders(s *suite) {
	var made []*fermata.Task
	for i, place := range []struct{ priority, minutes int }{{2, 3}, {0, 1}, {2, 2}, {4, 2}, {0, 5}, {2, 2}} {
		made = append(made, s.addTask(func(t *fermata.Task) {
			t.ID = fermata.NewID(fermata.PrefixTask, noon.Add(time.Duration(i)*time.Millisecond))
			t.Priority, t.UpdatedAt = place.priority, noon.Add(time.Duration(place.minutes)*time.Minute)
			if i%2 == 1 {
				t.State = fermata.TaskDone
			}
		}))
	}
	for sort, order := range map[fermata.TaskSort][]int{
		"":                   {5, 4, 3, 2, 1, 0},
		fermata.SortNewest:   {5, 4, 3, 2, 1, 0},
		fermata.SortOldest:   {0, 1, 2, 3, 4, 5},
		fermata.SortPriority: {1, 4, 0, 2, 5, 3},
		fermata.SortUpdated:  {4, 0, 5, 3, 2, 1},
	} {
		var want []string
		for _, i := range order {
			want = append(want, made[i].ID)
		}
		for _, states := range [][]fermata.TaskState{nil, {fermata.TaskDone, fermata.TaskOpen}} {
			var got []string
			f := store.TaskFilter{Sort: sort, States: states, Limit: 2}
			for {
				page, err := s.read().Tasks(f)
				s.checkNoError(err)
				if len(page) == 0 {
					break
				}
				got = append(got, taskIDs(page)...)
				f.After = store.TaskPositionOf(page[len(page)-1], sort)
			}
			s.Logf("%s %v", sort, states)
			s.checkEqual(want, got)
		}
	}
}

func taskIDs(tasks []*fermata.Task) []string {
	var ids []string
	for _, t := range tasks {
		ids = append(ids, t.ID)
	}
	return ids
}

func taskSearch(s *suite) {
	for _, title := range []string{"100% done", "100x done", "a_b", "axb", `c:\d`, `c:xd`, "it's", "żółw"} {
		s.addTask(func(t *fermata.Task) { t.Title = title })
	}
	for text, want := range map[string]string{"100%": "100% done", "a_b": "a_b", `:\d`: `c:\d`, "t's": "it's", "żółw": "żółw"} {
		got, err := s.read().Tasks(store.TaskFilter{Text: text, Limit: 10})
		s.checkNoError(err)
		if len(got) != 1 || got[0].Title != want {
			s.Errorf("%q finds %d tasks, want only %q", text, len(got), want)
		}
	}
}

func taskEndings(s *suite) {
	const a, b = "task_00000000000000abcdef", "task_00000000000001abcdef"
	s.addTask(func(t *fermata.Task) { t.ID = a })
	s.addTask(func(t *fermata.Task) { t.ID = b })
	for typed, want := range map[string]string{"0abcdef": a, "1abcdef": b, "task_1abcdef": b, "1ABCDEF": b, a: a, "TASK_" + a[5:]: a} {
		got, err := s.read().FindID("task", "tasks", fermata.PrefixTask, " "+typed+"\n")
		s.checkNoError(err)
		s.checkEqual(want, got)
	}
	for typed, code := range map[string]fermata.Code{
		"abcdef": fermata.CodeInvalidRequest, "xyzxyz": fermata.CodeNotFound, "%bcdef": fermata.CodeNotFound, "_abcdef": fermata.CodeNotFound,
		"": fermata.CodeNotFound, "bcdef": fermata.CodeNotFound,
	} {
		_, err := s.read().FindID("task", "tasks", fermata.PrefixTask, typed)
		s.checkCode(err, code)
	}
}

func taskProjects(s *suite) {
	s.write(func(tx *store.Tx) { tx.EnsureProject("web"); tx.EnsureProject("web"); tx.EnsureProject("default") })
	got, err := s.read().Projects()
	s.checkNoError(err)
	s.checkEqual([]string{"default", "web"}, got)
}

func taskOtherWorkspace(s *suite) {
	t := s.addTask(func(*fermata.Task) {})
	_, err := s.db.Reader(s.Context(), "other").Task(t.ID)
	s.checkCode(err, fermata.CodeNotFound)
	err = s.db.Write(s.Context(), "other", func(*store.Tx) error { return nil })
	s.checkCode(err, fermata.CodeNotFound)
}

// taskChangedByTheWay checks writes that change a row without having read it by
// its id. Such a write must mark the row as stale if the next write of the
// group has read it ahead.
func taskChangedByTheWay(s *suite) {
	t := s.addTask(func(t *fermata.Task) { t.State = fermata.TaskInProgress })
	q := s.addQuestion(func(q *fermata.Question) { q.TaskID = t.ID })
	run := s.addRun(func(r *fermata.Run) { r.TaskID = t.ID })
	change := map[string]func(tx *store.Tx) error{
		"task": func(tx *store.Tx) error {
			found, err := tx.TasksByID([]string{t.ID})
			if err == nil {
				found[0].Summary = "changed"
				tx.SaveTask(found[0])
			}
			return err
		},
		"question": func(tx *store.Tx) error {
			found, err := tx.PendingQuestionsOf(t.ID)
			if err == nil {
				found[0].AskCount = 7
				tx.UpdatePending(found[0])
			}
			return err
		},
		"run": func(tx *store.Tx) error {
			found, err := tx.Runs(t.ID)
			if err == nil {
				found[0].State, found[0].Summary = fermata.RunLost, "changed"
				tx.SaveRun(found[0])
			}
			return err
		},
	}
	for noun, c := range map[string]struct {
		ahead store.ReadAhead
		look  func(tx *store.Tx) (any, error)
		want  any
	}{
		"task":     {store.ReadAhead{Task: t.ID}, func(tx *store.Tx) (any, error) { t, err := tx.Task(t.ID); return t.Summary, err }, "changed"},
		"question": {store.ReadAhead{Question: q.ID}, func(tx *store.Tx) (any, error) { q, err := tx.Question(q.ID); return q.AskCount, err }, 7},
		"run":      {store.ReadAhead{Run: run.ID}, func(tx *store.Tx) (any, error) { r, err := tx.Run(run.ID); return r.Summary, err }, "changed"},
	} {
		s.runWithReadAhead(c.ahead, change[noun], func(tx *store.Tx) error {
			got, err := c.look(tx)
			if err == nil && got != c.want {
				err = fmt.Errorf("the %s is read as %v, want %v", noun, got, c.want)
			}
			return err
		})
	}
}
