package storetest

import (
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

var retentionTests = map[string]func(*suite){
	"ended tasks by their last change": endedRoots,
	"a task goes with its rows":        taskDeleted,
	"what is in use":                   tasksInUse,
	"events that are still unread":     firstUnread,
	"trimmed ranges":                   trimmedRanges,
	"logs":                             logsDeleted,
	"settled deliveries":               settledDeliveries,
}

// addEndedTask adds a task that ended some minutes after noon.
func (s *suite) addEndedTask(minute int, change func(t *fermata.Task)) *fermata.Task {
	s.Helper()
	return s.addTask(func(t *fermata.Task) {
		t.State, t.UpdatedAt = fermata.TaskDone, noon.Add(time.Duration(minute)*time.Minute)
		change(t)
	})
}

func endedRoots(s *suite) {
	third := s.addEndedTask(3, func(*fermata.Task) {})
	first := s.addEndedTask(1, func(t *fermata.Task) { t.State = fermata.TaskFailed })
	second := s.addEndedTask(2, func(t *fermata.Task) { t.State = fermata.TaskCancelled })
	s.addEndedTask(1, func(t *fermata.Task) { t.ParentID = first.ID })
	s.addEndedTask(9, func(*fermata.Task) {})
	s.addTask(func(*fermata.Task) {})
	var got []string
	var position store.EndedPosition
	for {
		page, err := s.read().EndedRoots(noon.Add(5*time.Minute), position, 2)
		s.checkNoError(err)
		if len(page) == 0 {
			break
		}
		for _, t := range page {
			got = append(got, t.ID)
			position = store.EndedPosition{UpdatedAt: t.UpdatedAt.UnixMilli(), ID: t.ID}
		}
	}
	s.checkEqual([]string{first.ID, second.ID, third.ID}, got)
	versions, err := s.read().TaskVersions([]string{first.ID, second.ID, "task_none"})
	s.checkNoError(err)
	s.checkEqual(map[string]int64{first.ID: first.Version, second.ID: second.Version}, versions)
}

// addWorkOf adds a row of every kind that belongs to a task.
func (s *suite) addWorkOf(t *fermata.Task) (questionID, runID string) {
	s.Helper()
	run := s.addRun(func(r *fermata.Run) { r.TaskID = t.ID })
	q := s.addClosedQuestion(1, func(q *fermata.Question) { q.TaskID = t.ID })
	Exec(s.T, s.opts, "UPDATE questions SET task_id = '"+t.ID+"' WHERE id = '"+q.ID+"'; "+
		"INSERT INTO question_assignees (workspace_id, question_id, assignee) VALUES ('default', '"+q.ID+"', 'ann')")
	d := newDelivery(&fermata.Channel{ID: "ch_1", Kind: "wall"}, q.ID, noon)
	d.QuestionID, d.TaskID, d.NextAt, d.State = q.ID, t.ID, nil, fermata.DeliverySent
	s.write(func(tx *store.Tx) {
		tx.AppendLog(run.ID, 0, "hello")
		tx.InsertMessage(&fermata.Message{ID: id(fermata.PrefixMessage), TaskID: t.ID, Kind: fermata.MessagePlain, Author: alice, Body: "b", CreatedAt: noon}, true)
		tx.PlanDelivery(d)
		tx.UseGrant(q.ID, "call_1", robot)
		tx.InsertWorkflowRun(&fermata.WorkflowRun{ID: t.ID, Workflow: "autofix", Hash: "h1", Trigger: fermata.TriggerManual})
		tx.SaveStep(&fermata.WorkflowStep{TaskID: t.ID, Step: "s", Occurrence: 1, Tool: "note", State: fermata.StepDone, Attempt: 1, StartedAt: noon})
		tx.Append(&fermata.Event{Type: fermata.EventTaskCreated, Actor: robot, TaskID: t.ID})
		tx.Append(&fermata.Event{Type: fermata.EventRunFinished, Actor: robot, TaskID: t.ID, RunID: run.ID})
	})
	return q.ID, run.ID
}

// tablesWith returns the tables that have a row with one of the ids.
func (s *suite) tablesWith(ids ...string) []string {
	s.Helper()
	var found []string
	for table, columns := range map[string]string{
		"tasks": "id", "runs": "task_id", "run_log": "run_id", "messages": "task_id", "steps": "task_id", "workflow_runs": "task_id", "task_labels": "task_id",
		"task_dependencies": "task_id", "questions": "task_id", "question_assignees": "question_id", "grants_used": "question_id", "closings": "question_id",
		"deliveries": "question_id", "events": "task_id",
	} {
		for _, row := range Rows(s.T, s.opts, "SELECT "+columns+", '' FROM "+table) {
			if slices.Contains(ids, row[0]) && !slices.Contains(found, table) {
				found = append(found, table)
			}
		}
	}
	slices.Sort(found)
	return found
}

func taskDeleted(s *suite) {
	earlier := s.addEndedTask(1, func(*fermata.Task) {})
	t := s.addEndedTask(1, func(t *fermata.Task) { t.Labels, t.BlockedBy = []string{"bug"}, []string{earlier.ID} })
	other := s.addEndedTask(1, func(t *fermata.Task) { t.Labels = []string{"bug"} })
	question, run := s.addWorkOf(t)
	otherQuestion, otherRun := s.addWorkOf(other)
	all := s.tablesWith(t.ID, question, run)
	s.checkEqual(14, len(all))
	s.checkEqual(13, len(s.tablesWith(other.ID, otherQuestion, otherRun))) // it waits for no other task
	last, err := s.read().LastEvents([]string{t.ID, other.ID, earlier.ID})
	s.checkNoError(err)
	s.checkEqual(map[string]int64{t.ID: 2, other.ID: 4}, last)
	seqs, err := s.read().EventSeqs([]string{t.ID, other.ID})
	s.checkNoError(err)
	s.checkEqual([]int64{1, 2, 3, 4}, seqs)
	s.checkNoError(s.try(func(tx *store.Tx) error {
		tx.DeleteEvents([]int64{1, 2})
		if tx.HasEventsAbout([]string{t.ID}) {
			s.Error("the transaction has appended no event")
		}
		return tx.DeleteTasks([]string{t.ID})
	}))
	s.checkEqual(0, len(s.tablesWith(t.ID, question, run)))
	s.checkEqual(13, len(s.tablesWith(other.ID, otherQuestion, otherRun)))
	s.write(func(tx *store.Tx) {
		tx.Append(&fermata.Event{Type: fermata.EventMessagePosted, Actor: alice, TaskID: other.ID})
		s.checkEqual(true, tx.HasEventsAbout([]string{t.ID, other.ID}))
		s.checkEqual(false, tx.HasEventsAbout([]string{t.ID}))
	})
}

func tasksInUse(s *suite) {
	needed := s.addEndedTask(1, func(*fermata.Task) {})
	s.addTask(func(t *fermata.Task) { t.BlockedBy = []string{needed.ID} })
	asked := s.addEndedTask(1, func(*fermata.Task) {})
	s.addQuestion(func(q *fermata.Question) { q.TaskID = asked.ID })
	told := s.addEndedTask(1, func(*fermata.Task) {})
	question, _ := s.addWorkOf(told)
	d := newDelivery(&fermata.Channel{ID: "ch_1", Kind: "wall"}, "to be changed", noon)
	d.QuestionID = question
	s.planDeliveries(d)
	free := s.addEndedTask(1, func(*fermata.Task) {})
	s.addWorkOf(free)
	waits := s.addEndedTask(1, func(t *fermata.Task) { t.BlockedBy = []string{free.ID} })
	inUse, err := s.read().TasksInUse([]string{needed.ID, asked.ID, told.ID, free.ID, waits.ID})
	s.checkNoError(err)
	s.checkEqualIDs([]string{needed.ID, asked.ID, told.ID}, inUse)
	inUse, err = s.read().TasksInUse([]string{free.ID})
	s.checkNoError(err)
	s.checkEqualIDs([]string{free.ID}, inUse)
}

func firstUnread(s *suite) {
	check := func(want int64) {
		s.Helper()
		got, err := s.read().FirstUnreadEvent()
		s.checkNoError(err)
		s.checkEqual(want, got)
	}
	check(1)
	s.write(func(tx *store.Tx) {
		for range 9 {
			appendMark(tx, "m")
		}
	})
	check(10)
	s.write(func(tx *store.Tx) { tx.SetPlanned(8, nil) })
	check(9)
	s.write(func(tx *store.Tx) { tx.SetTriggerCursor(6) })
	check(7)
	d := newDelivery(&fermata.Channel{ID: "ch_1", Kind: "wall"}, "an event", noon)
	d.EventSeq = 4
	s.planDeliveries(d)
	check(4)
	s.write(func(tx *store.Tx) { tx.SetPlanned(-1, nil) })
	check(4)
}

func trimmedRanges(s *suite) {
	signed := func(first, last, kept int64, note string) fermata.SignedTrimmedRange {
		return fermata.SignedTrimmedRange{TrimmedRange: fermata.TrimmedRange{
			Workspace: store.DefaultWorkspace, First: first, Last: last, Kept: kept, PrevHash: "a", Hash: "b", KeptHash: "c", At: noon,
		}, Note: note}
	}
	_, ok, err := s.read().LastTrimmedRange()
	s.checkNoError(err)
	s.checkEqual(false, ok)
	ranges := []fermata.SignedTrimmedRange{signed(1, 9, 2, hardText), signed(10, 30, 0, "n"), signed(31, 40, 10, "n")}
	s.write(func(tx *store.Tx) {
		tx.SaveTrimmedRange(signed(1, 5, 1, "before"))
		for _, r := range ranges {
			tx.SaveTrimmedRange(r)
		}
	})
	for after, want := range map[int64][]fermata.SignedTrimmedRange{0: ranges, 8: ranges, 9: ranges[1:], 39: ranges[2:], 40: nil} {
		got, err := s.read().TrimmedRanges(after, 10)
		s.checkNoError(err)
		s.checkEqual(want, got)
	}
	for seq, want := range map[int64]int64{1: 1, 9: 1, 10: 10, 30: 10, 40: 31, 41: 0} {
		got, ok, err := s.read().TrimmedRangeOf(seq)
		s.checkNoError(err)
		s.checkEqual(want > 0, ok)
		s.checkEqual(want, got.First)
	}
	last, _, err := s.read().LastTrimmedRange()
	s.checkNoError(err)
	s.checkEqual(ranges[2], last)
	removed, err := s.read().RemovedEvents()
	s.checkNoError(err)
	s.checkEqual(int64(7+21), removed)
}

func logsDeleted(s *suite) {
	at := func(minute int) *fermata.Run {
		return s.addRun(func(r *fermata.Run) {
			r.ID, r.TaskID = fermata.NewID(fermata.PrefixRun, noon.Add(time.Duration(minute)*time.Minute)), id(fermata.PrefixTask)
		})
	}
	first, second, third := at(1), at(2), at(3)
	s.write(func(tx *store.Tx) {
		for _, r := range []*fermata.Run{first, second, third} {
			tx.AppendLog(r.ID, 0, strings.Repeat("x", 10))
			tx.AppendLog(r.ID, 10, "y")
		}
	})
	found, err := s.read().RunsWithLogs(noon.Add(3*time.Minute), "", 3)
	s.checkNoError(err)
	s.checkEqual([]string{first.ID, first.ID, second.ID}, found)
	found, err = s.read().RunsWithLogs(noon.Add(3*time.Minute), first.ID, 9)
	s.checkNoError(err)
	s.checkEqual([]string{second.ID, second.ID}, found)
	s.write(func(tx *store.Tx) { tx.DeleteLogs([]string{first.ID, third.ID}); tx.DeleteLogs(nil) })
	found, err = s.read().RunsWithLogs(noon.Add(time.Hour), "", 9)
	s.checkNoError(err)
	s.checkEqual([]string{second.ID, second.ID}, found)
}

func settledDeliveries(s *suite) {
	pending := s.addQuestion(func(*fermata.Question) {})
	add := func(name string, minute int, change func(d *fermata.Delivery)) string {
		d := newDelivery(&fermata.Channel{ID: "ch_1", Kind: "wall"}, name, noon)
		d.ID, d.NextAt, d.State = fermata.NewID(fermata.PrefixDelivery, noon.Add(time.Duration(minute)*time.Minute)), nil, fermata.DeliverySent
		change(d)
		s.planDeliveries(d)
		return d.ID
	}
	settled := add("settled", 1, func(*fermata.Delivery) {})
	event := add("event", 2, func(d *fermata.Delivery) { d.QuestionID = "" })
	waiting := add("waiting", 1, func(d *fermata.Delivery) { d.NextAt = ptr(noon) })
	add("pending", 1, func(d *fermata.Delivery) { d.QuestionID = pending.ID })
	add("young", 9, func(*fermata.Delivery) {})
	found, err := s.read().SettledDeliveries(noon.Add(5*time.Minute), 9)
	s.checkNoError(err)
	s.checkEqual([]string{settled, event}, found)
	s.write(func(tx *store.Tx) { tx.DeleteDeliveries([]string{settled, waiting}) })
	found, err = s.read().SettledDeliveries(noon.Add(time.Hour), 1)
	s.checkNoError(err)
	s.checkEqual([]string{event}, found)
	_, err = s.read().Delivery(waiting)
	s.checkNoError(err)
}
