package store

import (
	"maps"
	"slices"

	"github.com/fermata-hq/fermata"
)

// WatchedRuns returns the runs with the ids, each with the data that shows
// whether there is news for its waiting worker. It leaves out a run that does
// not exist.
func (r Reader) WatchedRuns(runIDs []string) ([]*fermata.WatchedRun, error) {
	watched, err := listByID(r, scanWatchedRun, "id, task_id, token, state, result, lease_until", "runs", runIDs,
		func(w *fermata.WatchedRun) string { return w.Run.ID })
	if err != nil || len(watched) == 0 {
		return nil, err
	}
	byTask := map[string][]*fermata.WatchedRun{}
	for _, w := range watched {
		byTask[w.Task.ID] = append(byTask[w.Task.ID], w)
	}
	// The texts of a task may be long and are not needed.
	tasks, err := listByID(r, scanWatchedTask, "id, state, reason, run_id, unread, pending_question_id", "tasks",
		slices.Sorted(maps.Keys(byTask)), taskID)
	if err != nil {
		return nil, err
	}
	taskOfQuestion := map[string]string{}
	for _, t := range tasks {
		for _, w := range byTask[t.ID] {
			w.Task = *t
		}
		if t.PendingQuestionID != "" {
			taskOfQuestion[t.PendingQuestionID] = t.ID
		}
	}
	pending, err := r.QuestionsByID(slices.Sorted(maps.Keys(taskOfQuestion)))
	for _, q := range pending {
		for _, w := range byTask[taskOfQuestion[q.ID]] {
			w.Deadline = q.Deadline
		}
	}
	return watched, err
}

func scanWatchedRun(rs rows) (*fermata.WatchedRun, error) {
	w := &fermata.WatchedRun{}
	var state, result string
	var leaseUntil int64
	if err := rs.Scan(&w.Run.ID, &w.Task.ID, &w.Run.Token, &state, &result, &leaseUntil); err != nil {
		return nil, err
	}
	w.Run.TaskID, w.Run.State, w.Run.Result, w.Run.LeaseUntil = w.Task.ID, fermata.RunState(state), fermata.Result(result), instantOf(leaseUntil)
	return w, nil
}

func scanWatchedTask(rs rows) (*fermata.Task, error) {
	t := &fermata.Task{}
	var state string
	err := rs.Scan(&t.ID, &state, &t.Reason, &t.RunID, &t.Unread, &t.PendingQuestionID)
	t.State = fermata.TaskState(state)
	return t, err
}
