package storetest

import (
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

var workflowTests = map[string]func(*suite){
	"workflows and definitions": workflowRows,
	"schedules":                 scheduleRows,
	"runs":                      workflowRuns,
	"steps":                     stepRows,
	"named tools":               namedTools,
	"triggers seen":             triggersSeen,
}

func newWorkflow(name string) *fermata.Workflow {
	return &fermata.Workflow{
		WorkspaceID: store.DefaultWorkspace, Name: name, Hash: "h1", Description: hardText, Project: "shop", Enabled: true,
		Triggers: []fermata.WorkflowTrigger{{Type: fermata.TriggerManual}}, Inputs: []fermata.WorkflowInput{{Name: "issue", Type: "number", Required: true}},
		WebhookSecret: "whsec_x", HasWebhookSecret: true, UpdatedBy: fermata.Actor{Kind: fermata.ActorHuman, ID: "mem_1", Name: hardText},
		CreatedAt: noon, UpdatedAt: noon,
	}
}

func workflowRows(s *suite) {
	w := newWorkflow("autofix")
	s.write(func(tx *store.Tx) {
		tx.SaveWorkflow(w)
		tx.SaveDefinition("autofix", "h1", hardText, fermata.SystemActor)
		tx.SaveDefinition("autofix", "h1", "another text under the same hash", fermata.SystemActor)
	})
	r := s.db.Reader(s.Context(), store.DefaultWorkspace)
	got, err := r.Workflow("autofix")
	s.checkNoError(err)
	s.checkEqual(w, got)
	source, err := r.Definition("autofix", "h1")
	s.checkNoError(err)
	s.checkEqual(hardText, source)
	w.Hash, w.Enabled = "h2", false
	s.write(func(tx *store.Tx) { tx.SaveWorkflow(w) })
	all, err := r.Workflows()
	s.checkNoError(err)
	s.checkEqual([]*fermata.Workflow{w}, all)
	s.write(func(tx *store.Tx) { tx.DeleteWorkflow("autofix") })
	if _, err := r.Workflow("autofix"); fermata.CodeOf(err) != fermata.CodeNotFound {
		s.Fatalf("a removed workflow: %v", err)
	}
}

func scheduleRows(s *suite) {
	next := noon.Add(time.Hour)
	rows := []store.Schedule{
		{WorkspaceID: store.DefaultWorkspace, Workflow: "a", Trigger: 0, Cron: "* * * * *", Timezone: "UTC", Catchup: "all", CatchupAge: time.Hour, NextAt: &next},
		{WorkspaceID: store.DefaultWorkspace, Workflow: "a", Trigger: 2, Cron: "0 0 * * *", Timezone: "Europe/Berlin", Catchup: "none"},
	}
	s.write(func(tx *store.Tx) { tx.SetSchedules("a", rows) })
	r := s.db.Reader(s.Context(), store.DefaultWorkspace)
	got, err := r.Schedules("a")
	s.checkNoError(err)
	s.checkEqual(rows, got)
	due, err := s.db.DueSchedules(s.Context(), next, 10)
	s.checkNoError(err)
	s.checkEqual(rows[:1], due)
	later := next.Add(time.Minute)
	s.write(func(tx *store.Tx) { tx.SetNextFire(rows[0], later) })
	due, err = s.db.DueSchedules(s.Context(), next, 10)
	s.checkNoError(err)
	s.checkEqual(0, len(due))
	s.write(func(tx *store.Tx) { tx.SetSchedules("a", nil) })
	got, err = r.Schedules("")
	s.checkNoError(err)
	s.checkEqual(0, len(got))
}

func workflowRuns(s *suite) {
	var ids []string
	s.write(func(tx *store.Tx) {
		ids = nil
		for i, state := range []fermata.TaskState{fermata.TaskOpen, fermata.TaskDone, fermata.TaskOpen} {
			t := newTask("run")
			t.Runner, t.State, t.Project = fermata.RunnerWorkflow, state, "shop"
			tx.InsertTask(t)
			run := &fermata.WorkflowRun{
				ID: t.ID, Workflow: "autofix", Hash: "h1", Trigger: fermata.TriggerManual, Cause: []byte(`{"by":"ann"}`), Inputs: []byte(`{"issue":7}`),
				StartedBy: &fermata.Actor{Kind: fermata.ActorHuman, ID: "mem_1", Name: hardText}, ConcurrencyKey: "autofix/7",
			}
			if i == 0 {
				run.FireKey, run.StartedBy = "event/autofix/0/9", nil
			}
			tx.InsertWorkflowRun(run)
			ids = append(ids, t.ID)
		}
	})
	r := s.db.Reader(s.Context(), store.DefaultWorkspace)
	run, err := r.WorkflowRun(ids[1])
	s.checkNoError(err)
	if run.Workflow != "autofix" || run.State != fermata.TaskDone || run.EndedAt == nil || run.StartedBy.Name != hardText || string(run.Inputs) != `{"issue":7}` {
		s.Fatalf("the run is %+v", run)
	}
	s.write(func(tx *store.Tx) {
		run.Hash, run.Inputs = "other", []byte(`{"issue":8}`)
		tx.UpdateWorkflowRun(run)
	})
	if moved, err := r.WorkflowRun(ids[1]); err != nil || moved.Hash != "other" || string(moved.Inputs) != `{"issue":8}` {
		s.Fatalf("the run is %+v, %v", moved, err)
	}
	found, err := r.FiredRun("event/autofix/0/9")
	s.checkNoError(err)
	s.checkEqual(ids[0], found)
	if found, err = r.FiredRun("other"); err != nil || found != "" {
		s.Fatalf("%q, %v", found, err)
	}
	open, err := r.OpenRunsByConcurrencyKey("autofix/7")
	s.checkNoError(err)
	s.checkEqual([]string{ids[0], ids[2]}, open)
	runs, err := r.WorkflowRuns(store.WorkflowRunFilter{
		Workflow: "autofix", Trigger: fermata.TriggerManual, Project: "shop", States: []fermata.TaskState{fermata.TaskOpen}, Before: ids[2], Limit: 10,
	})
	s.checkNoError(err)
	if len(runs) != 1 || runs[0].ID != ids[0] {
		s.Fatalf("found %d runs", len(runs))
	}
}

func stepRows(s *suite) {
	id := fermata.NewID(fermata.PrefixTask, noon)
	item := 1
	until, ended := noon.Add(time.Hour), noon.Add(time.Minute)
	steps := []*fermata.WorkflowStep{
		{TaskID: id, Step: "zuerst", Occurrence: 1, Tool: "note", State: fermata.StepWaiting, Attempt: 2, Note: hardText, Input: []byte(`{"a":1}`), QuestionID: "q_1", ChildID: "task_1", Until: &until, StartedAt: noon},
		{TaskID: id, Step: "danach", Occurrence: 1, Tool: "note", State: fermata.StepFailed, Attempt: 1, Error: &fermata.StepError{Code: "x", Message: hardText}, StartedAt: noon, EndedAt: &ended},
		{TaskID: id, Step: "danach", Occurrence: 1, Item: &item, Tool: "note", State: fermata.StepDone, Attempt: 1, Output: []byte(`[1]`), StartedAt: noon, EndedAt: &ended},
	}
	s.write(func(tx *store.Tx) {
		for _, step := range steps {
			tx.SaveStep(step)
		}
	})
	r := s.db.Reader(s.Context(), store.DefaultWorkspace)
	got, err := r.Steps(id)
	s.checkNoError(err)
	s.checkEqual(steps, got)
	at, err := r.CurrentSteps([]string{id, "task_other"})
	s.checkNoError(err)
	s.checkEqual(map[string]string{id: "zuerst"}, at)
	until = noon.Add(time.Hour)
	waits := &fermata.WorkflowStep{TaskID: id, Step: "wartet", Occurrence: 1, Tool: "wait", State: fermata.StepWaiting, Attempt: 1, Until: &until, StartedAt: noon}
	s.write(func(tx *store.Tx) { tx.SaveStep(waits) })
	s.write(func(tx *store.Tx) { tx.EndWaits("task_other"); tx.EndWaits(id) })
	got, err = r.Steps(id)
	s.checkNoError(err)
	waits.Until = nil
	s.checkEqual(waits, got[slices.IndexFunc(got, func(step *fermata.WorkflowStep) bool { return step.Step == waits.Step })])
	s.write(func(tx *store.Tx) { tx.EndSteps(id, fermata.StepCancelled, "over") })
	got, err = r.Steps(id)
	s.checkNoError(err)
	if got[0].State != fermata.StepCancelled || got[0].EndedAt == nil || got[1].State != fermata.StepFailed {
		s.Fatal(cmp.Diff(steps, got))
	}
}

func namedTools(s *suite) {
	t := &fermata.NamedTool{
		Name: "look", Description: hardText, Agent: &fermata.AgentTool{Runner: "claude", Prompt: hardText}, Schema: []byte(`{"type":"object"}`), UpdatedAt: noon,
	}
	s.write(func(tx *store.Tx) { tx.SaveNamedTool(t) })
	r := s.db.Reader(s.Context(), store.DefaultWorkspace)
	got, err := r.NamedTool("look")
	s.checkNoError(err)
	s.checkEqual(t, got)
	t.Description = "another"
	s.write(func(tx *store.Tx) { tx.SaveNamedTool(t) })
	all, err := r.NamedTools()
	s.checkNoError(err)
	s.checkEqual([]*fermata.NamedTool{t}, all)
	s.write(func(tx *store.Tx) { tx.DeleteNamedTool("look") })
	if _, err := r.NamedTool("look"); fermata.CodeOf(err) != fermata.CodeNotFound {
		s.Fatalf("a removed tool: %v", err)
	}
}

func triggersSeen(s *suite) {
	r := s.db.Reader(s.Context(), store.DefaultWorkspace)
	for _, want := range []int64{-1, 7, 9} {
		if want > 0 {
			s.write(func(tx *store.Tx) { tx.SetTriggerCursor(want) })
		}
		got, err := r.TriggerCursor()
		s.checkNoError(err)
		s.checkEqual(want, got)
	}
}
