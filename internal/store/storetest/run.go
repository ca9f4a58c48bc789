package storetest

import (
	"encoding/json"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

var runTests = map[string]func(*suite){
	"round trip":              runRoundTrip,
	"a run that ended stays":  runEnded,
	"of a task, in order":     runsOfTask,
	"leases":                  runLeases,
	"a lost run is found":     runRevived,
	"log":                     runLog,
	"log at the wrong offset": runLogOffset,
}

func newRun(taskID string, token int64) *fermata.Run {
	return &fermata.Run{
		ID: id(fermata.PrefixRun), WorkspaceID: store.DefaultWorkspace, TaskID: taskID, Attempt: int(token), State: fermata.RunRunning,
		Worker: "w1", Token: token, LeaseUntil: noon, Lease: time.Minute, ClaimedFrom: fermata.TaskOpen, StartedAt: noon,
	}
}

func (s *suite) addRun(change func(r *fermata.Run)) *fermata.Run {
	s.Helper()
	r := newRun("task_1", 1)
	change(r)
	s.write(func(tx *store.Tx) { tx.InsertRun(r) })
	return r
}

func runRoundTrip(s *suite) {
	r := s.addRun(func(r *fermata.Run) {
		r.Worker, r.Runner, r.Token, r.Attempt, r.ClaimedFrom = hardText, "claude", 1<<40, 3, fermata.TaskInputReceived
	})
	got, err := s.read().Run(r.ID)
	s.checkNoError(err)
	s.checkEqual(r, got)
	r.State, r.Result, r.Summary, r.Details = fermata.RunFinished, fermata.ResultNeedsInput, hardText, json.RawMessage("{ \"a\":\t\"<\" }")
	r.QuestionID, r.EndedAt, r.LeaseUntil, r.Lease = "q_1", ptr(noon.Add(time.Minute)), noon.Add(time.Second), time.Hour
	s.write(func(tx *store.Tx) { tx.SaveRun(r) })
	got, err = s.read().Run(r.ID)
	s.checkNoError(err)
	s.checkEqual(r, got)
	byID, err := s.read().RunsByID([]string{r.ID, "run_none"})
	s.checkNoError(err)
	s.checkEqual([]*fermata.Run{r}, byID)
	byID, err = s.read().RunsByID(nil)
	s.checkNoError(err)
	s.checkEqual(0, len(byID))
	_, err = s.read().Run("run_none")
	s.checkCode(err, fermata.CodeNotFound)
}

func runEnded(s *suite) {
	r := s.addRun(func(*fermata.Run) {})
	wrong := *r
	wrong.Token = 9
	if err := s.try(func(tx *store.Tx) error { tx.SaveRun(&wrong); return nil }); err == nil {
		s.Error("a run was saved under another fencing token")
	}
	r.State = fermata.RunLost
	s.write(func(tx *store.Tx) { tx.SaveRun(r) })
	r.State = fermata.RunFinished
	if err := s.try(func(tx *store.Tx) error { tx.SaveRun(r); return nil }); err == nil {
		s.Error("a lost run was finished")
	}
}

func runsOfTask(s *suite) {
	second := s.addRun(func(r *fermata.Run) { r.Attempt, r.Token = 2, 9 })
	first := s.addRun(func(r *fermata.Run) { r.Attempt, r.Token = 1, 10 })
	s.addRun(func(r *fermata.Run) { r.TaskID = "task_2" })
	got, err := s.read().Runs("task_1")
	s.checkNoError(err)
	s.checkEqual([]*fermata.Run{first, second}, got)
}

func runLeases(s *suite) {
	due := s.addRun(func(*fermata.Run) {})
	s.addRun(func(r *fermata.Run) { r.LeaseUntil = noon.Add(time.Millisecond) })
	ended := s.addRun(func(*fermata.Run) {})
	s.write(func(tx *store.Tx) { ended.State = fermata.RunReleased; tx.SaveRun(ended) })
	s.checkEqual([]store.DueRow{{Workspace: store.DefaultWorkspace, ID: due.ID}}, s.overdue(noon, 10).Runs)
}

func runLog(s *suite) {
	r := s.addRun(func(*fermata.Run) {})
	var now time.Time
	s.write(func(tx *store.Tx) {
		tx.AppendLog(r.ID, 0, hardText)
		tx.AppendLog(r.ID, int64(len(hardText)), "end")
		now = tx.Now()
	})
	size, err := s.read().LogSize(r.ID)
	s.checkNoError(err)
	s.checkEqual(int64(len(hardText)+3), size)
	got, err := s.read().Log(r.ID, 0, 10)
	s.checkNoError(err)
	s.checkEqual([]fermata.LogChunk{{Offset: 0, Text: hardText, At: now}, {Offset: int64(len(hardText)), Text: "end", At: now}}, got)
	got, err = s.read().Log(r.ID, 1, 10)
	s.checkNoError(err)
	s.checkEqual(1, len(got))
	got, err = s.read().Log(r.ID, 0, 1)
	s.checkNoError(err)
	s.checkEqual(1, len(got))
	_, err = s.read().LogSize("run_none")
	s.checkCode(err, fermata.CodeNotFound)
}

func runLogOffset(s *suite) {
	r := s.addRun(func(*fermata.Run) {})
	s.write(func(tx *store.Tx) { tx.AppendLog(r.ID, 0, "abc") })
	for _, offset := range []int64{0, 2, 4} {
		if err := s.try(func(tx *store.Tx) error { tx.AppendLog(r.ID, offset, "x"); return nil }); err == nil {
			s.Errorf("output was written at %d behind 3 bytes", offset)
		}
	}
	size, err := s.read().LogSize(r.ID)
	s.checkNoError(err)
	s.checkEqual(int64(3), size)
}

func runRevived(s *suite) {
	lost := s.addRun(func(r *fermata.Run) {})
	lost.State, lost.EndedAt = fermata.RunLost, ptr(noon)
	s.write(func(tx *store.Tx) { tx.SaveRun(lost) })
	s.write(func(tx *store.Tx) { tx.ReviveRun(lost) })
	lost.State, lost.EndedAt = fermata.RunRunning, nil
	found, err := s.read().Run(lost.ID)
	s.checkNoError(err)
	s.checkEqual(lost, found)
	if err := s.try(func(tx *store.Tx) error { tx.ReviveRun(lost); return nil }); err == nil {
		s.Error("a run that was not lost is found")
	}
}
