package storetest

import (
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

var visibilityTests = map[string]func(*suite){
	"tasks and questions": visibleWork,
	"runs and deliveries": visibleRuns,
	"events":              visibleEvents,
	"numbers":             visibleNumbers,
	"workflows":           visibleWorkflows,
	"claims":              visibleClaims,
}

// webReaders returns readers that see the project web but not the project shop.
func (s *suite) webReaders() map[string]store.Reader {
	return map[string]store.Reader{
		"only web":     s.read().WithVisibleProjects(fermata.ProjectSet{Only: true, Names: []string{"web"}}),
		"all but shop": s.read().WithVisibleProjects(fermata.ProjectSet{Names: []string{"shop"}}),
	}
}

// blindReader returns a reader that sees no project.
func (s *suite) blindReader() store.Reader {
	return s.read().WithVisibleProjects(fermata.ProjectSet{Only: true})
}

// addTasksInProjects adds a task with a question to each of the projects. It also adds, to each project, a task that
// waits for the task in web.
func (s *suite) addTasksInProjects() (tasks, waiting map[string]*fermata.Task, questions map[string]*fermata.Question) {
	s.Helper()
	tasks, waiting, questions = map[string]*fermata.Task{}, map[string]*fermata.Task{}, map[string]*fermata.Question{}
	for _, project := range []string{"web", "shop"} {
		t := s.addTask(func(t *fermata.Task) { t.Project, t.SessionKey, t.State = project, "s", fermata.TaskAwaitingInput })
		tasks[project] = t
		questions[project] = s.addQuestion(func(q *fermata.Question) { q.TaskID, q.Project = t.ID, project })
		s.write(func(tx *store.Tx) { tx.EnsureProject(project) })
	}
	for _, project := range []string{"web", "shop"} {
		waiting[project] = s.addTask(func(t *fermata.Task) {
			t.Project, t.ParentID, t.State, t.BlockedBy = project, tasks["web"].ID, fermata.TaskBlocked, []string{tasks["web"].ID}
		})
	}
	return tasks, waiting, questions
}

func visibleWork(s *suite) {
	tasks, waiting, questions := s.addTasksInProjects()
	both, all := []string{tasks["web"].ID, tasks["shop"].ID}, []string{questions["web"].ID, questions["shop"].ID}
	for _, r := range s.webReaders() {
		_, err := r.Task(tasks["shop"].ID)
		s.checkCode(err, fermata.CodeNotFound)
		_, err = r.Question(questions["shop"].ID)
		s.checkCode(err, fermata.CodeNotFound)
		for _, project := range []string{"web", "shop"} {
			_, err := r.FindID("task", "tasks", fermata.PrefixTask, tasks[project].ID)
			s.checkEqual(project == "web", err == nil)
			_, err = r.FindID("question", "questions", fermata.PrefixQuestion, questions[project].ID[len(questions[project].ID)-10:])
			s.checkEqual(project == "web", err == nil)
		}
		found, err := r.TasksByID(both)
		s.checkNoError(err)
		s.checkEqualIDs([]string{tasks["web"].ID}, idsOfTasks(found))
		found, err = r.Children(tasks["web"].ID)
		s.checkNoError(err)
		s.checkEqualIDs([]string{waiting["web"].ID}, idsOfTasks(found))
		found, err = r.TasksOfSession("s")
		s.checkNoError(err)
		s.checkEqualIDs([]string{tasks["web"].ID}, idsOfTasks(found))
		found, err = r.Tasks(store.TaskFilter{Limit: 10})
		s.checkNoError(err)
		s.checkEqualIDs([]string{tasks["web"].ID, waiting["web"].ID}, idsOfTasks(found))
		found, err = r.Tasks(store.TaskFilter{States: []fermata.TaskState{fermata.TaskOpen, fermata.TaskAwaitingInput}, Limit: 10})
		s.checkNoError(err)
		s.checkEqualIDs([]string{tasks["web"].ID}, idsOfTasks(found))
		counts, err := r.CountTasksByState(store.TaskFilter{})
		s.checkNoError(err)
		s.checkEqual(int64(2), counts.Total)
		asked, err := r.QuestionsByID(all)
		s.checkNoError(err)
		s.checkEqual(1, len(asked))
		asked, err = r.Questions(store.QuestionFilter{Status: "pending", Limit: 10})
		s.checkNoError(err)
		s.checkEqual(1, len(asked))
		around, err := r.QuestionDetails(asked, "mem_1")
		s.checkNoError(err)
		s.checkEqual(map[string]int{tasks["web"].ID: 1}, around.Blocked)
		n, err := r.CountQuestions(store.QuestionFilter{Status: "pending", Limit: 10})
		s.checkNoError(err)
		s.checkEqual([]store.QuestionCount{{Type: questions["web"].Type, Project: "web", N: 1}}, n)
		place, err := r.PositionOfNth(store.QuestionFilter{Status: "pending", Text: "x"}, 2)
		s.checkNoError(err)
		s.checkEqual((*store.QuestionPosition)(nil), place)
	}
	names, err := s.webReaders()["only web"].Projects()
	s.checkNoError(err)
	s.checkEqual([]string{"web"}, names)
	found, err := s.blindReader().Tasks(store.TaskFilter{Limit: 10})
	s.checkNoError(err)
	s.checkEqual(0, len(found))
	projects, err := s.read().ProjectsOf(both)
	s.checkNoError(err)
	s.checkEqual(map[string]string{tasks["web"].ID: "web", tasks["shop"].ID: "shop"}, projects)
}

func idsOfTasks(tasks []*fermata.Task) []string {
	ids := []string{}
	for _, t := range tasks {
		ids = append(ids, t.ID)
	}
	return ids
}

func visibleRuns(s *suite) {
	tasks, _, questions := s.addTasksInProjects()
	sent := map[string]string{}
	for _, project := range []string{"web", "shop", ""} {
		d := &fermata.Delivery{ID: id(fermata.PrefixDelivery), ChannelID: "chn_1", Kind: "wall", Purpose: "asked", State: fermata.DeliverySent, CreatedAt: noon}
		d.UniqueKey = "u/" + project
		if project != "" {
			d.TaskID, d.QuestionID = tasks[project].ID, questions[project].ID
		}
		s.write(func(tx *store.Tx) { tx.PlanDelivery(d) })
		sent[project] = d.ID
	}
	runs := map[string]string{}
	for project, t := range tasks {
		runs[project] = s.addRun(func(r *fermata.Run) { r.TaskID = t.ID }).ID
	}
	for _, r := range s.webReaders() {
		for _, project := range []string{"web", "shop"} {
			_, err := r.FindID("run", "runs", fermata.PrefixRun, runs[project])
			s.checkEqual(project == "web", err == nil)
			_, err = r.FindID("delivery", "deliveries", fermata.PrefixDelivery, sent[project])
			s.checkEqual(project == "web", err == nil)
		}
		all, err := r.Deliveries(store.DeliveryFilter{Limit: 10})
		s.checkNoError(err)
		found := []string{}
		for _, d := range all {
			found = append(found, d.ID)
		}
		s.checkEqualIDs([]string{sent["web"], sent[""]}, found)
	}
}

func visibleEvents(s *suite) {
	tasks, _, _ := s.addTasksInProjects()
	s.write(func(tx *store.Tx) {
		for _, project := range []string{"web", "shop"} {
			tx.Append(&fermata.Event{Type: fermata.EventTaskUpdated, TaskID: tasks[project].ID, Actor: alice})
		}
		tx.Append(&fermata.Event{Type: fermata.EventMemberAdded, Actor: alice})
	})
	for _, r := range s.webReaders() {
		events, err := r.Events(store.EventFilter{Types: []string{"task.updated", "member"}, Limit: 10})
		s.checkNoError(err)
		s.checkEqual(1, len(events))
		s.checkEqual(tasks["web"].ID, events[0].TaskID)
	}
}

func visibleNumbers(s *suite) {
	_, _, questions := s.addTasksInProjects()
	for _, q := range questions {
		q.Status = fermata.Answered
		q.Resolution = &fermata.Resolution{Status: fermata.Answered, DecidedBy: fermata.ActorHuman, AnsweredBy: &alice, At: noon}
		s.write(func(tx *store.Tx) { tx.UpdatePending(q) })
	}
	period := fermata.Period{From: noon.Add(-time.Hour), To: noon.Add(time.Hour)}
	for _, r := range s.webReaders() {
		counts, err := r.ClosingCounts(store.ClosingFilter{Asked: period, GroupBy: store.ByProject})
		s.checkNoError(err)
		s.checkEqual(1, len(counts))
		s.checkEqual("web", counts[0].Key)
		n, err := r.CountClosings(store.ClosingFilter{Asked: period})
		s.checkNoError(err)
		s.checkEqual(int64(1), n)
		past, err := r.PastAnswers(questions["web"].Type, 10)
		s.checkNoError(err)
		s.checkEqual(1, len(past))
		s.checkEqual(questions["web"].ID, past[0].ID)
	}
}

func visibleWorkflows(s *suite) {
	runs := map[string]string{}
	for _, project := range []string{"web", "shop"} {
		w := newWorkflow("in-" + project)
		w.Project = project
		t := s.addTask(func(t *fermata.Task) { t.Project, t.Runner = project, fermata.RunnerWorkflow })
		runs[project] = t.ID
		s.write(func(tx *store.Tx) {
			tx.SaveWorkflow(w)
			tx.InsertWorkflowRun(&fermata.WorkflowRun{ID: t.ID, Workflow: w.Name, Hash: "h1", Trigger: fermata.TriggerManual})
		})
	}
	for _, r := range s.webReaders() {
		_, err := r.Workflow("in-shop")
		s.checkCode(err, fermata.CodeNotFound)
		all, err := r.Workflows()
		s.checkNoError(err)
		s.checkEqual(1, len(all))
		s.checkEqual("in-web", all[0].Name)
		_, err = r.WorkflowRun(runs["shop"])
		s.checkCode(err, fermata.CodeNotFound)
		found, err := r.WorkflowRuns(store.WorkflowRunFilter{Limit: 10})
		s.checkNoError(err)
		s.checkEqual(1, len(found))
		s.checkEqual(runs["web"], found[0].ID)
	}
}

func visibleClaims(s *suite) {
	s.addTask(func(t *fermata.Task) { t.Project, t.Priority = "shop", 0 })
	web := s.addTask(func(t *fermata.Task) { t.Project = "web" })
	t, err := s.nextClaimable(fermata.ClaimRequest{Worker: "w", Visible: fermata.ProjectSet{Only: true, Names: []string{"web"}}})
	s.checkNoError(err)
	s.checkEqual(web.ID, t.ID)
	_, err = s.nextClaimable(fermata.ClaimRequest{Worker: "w", Visible: fermata.ProjectSet{Names: []string{"web", "shop"}}})
	s.checkCode(err, fermata.CodeNotFound)
}
