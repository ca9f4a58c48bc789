package fermata

import "time"

// BoardColumn is where a board shows a task.
type BoardColumn string

// Columns of a board.
const (
	// ColumnReady holds what waits for a worker, a task or the clock.
	ColumnReady BoardColumn = "ready"
	// ColumnWorking holds what a worker executes.
	ColumnWorking BoardColumn = "working"
	// ColumnNeedsPerson holds what waits for a person.
	ColumnNeedsPerson BoardColumn = "needs_person"
	// ColumnDone holds what has ended, in whatever way.
	ColumnDone BoardColumn = "done"
)

// BoardColumns lists every column, in the order in which a board shows them.
var BoardColumns = []BoardColumn{ColumnReady, ColumnWorking, ColumnNeedsPerson, ColumnDone}

// Column returns where a board shows a task in the state.
func (s TaskState) Column() BoardColumn {
	switch {
	case s.IsEnded():
		return ColumnDone
	case s.Suspended():
		return ColumnNeedsPerson
	case s == TaskInProgress:
		return ColumnWorking
	default:
		return ColumnReady
	}
}

// TaskCounts says how many tasks there are, by state and by column of a board.
// Every state and every column is there, also with 0.
type TaskCounts struct {
	Total   int64                 `json:"total"`
	States  map[TaskState]int64   `json:"states"`
	Columns map[BoardColumn]int64 `json:"columns"`
}

// NewTaskCounts returns counts in which every state and column stands at 0.
func NewTaskCounts() TaskCounts {
	c := TaskCounts{States: map[TaskState]int64{}, Columns: map[BoardColumn]int64{}}
	for _, s := range TaskStates {
		c.States[s] = 0
	}
	for _, column := range BoardColumns {
		c.Columns[column] = 0
	}
	return c
}

// Add counts n tasks in a state.
func (c *TaskCounts) Add(s TaskState, n int64) {
	c.Total += n
	c.States[s] += n
	c.Columns[s.Column()] += n
}

// TaskSort is an order of a list of tasks.
type TaskSort string

// Orders of a list of tasks. Tasks that are equal in it are ordered by age.
const (
	// SortNewest puts the task that was made last first.
	SortNewest TaskSort = "newest"
	// SortOldest puts the task that was made first first.
	SortOldest TaskSort = "oldest"
	// SortPriority puts priority 0 first.
	SortPriority TaskSort = "priority"
	// SortUpdated puts the task that changed last first.
	SortUpdated TaskSort = "updated"
)

// TaskSorts lists every order.
var TaskSorts = []TaskSort{SortNewest, SortOldest, SortPriority, SortUpdated}

// TaskWaiting says what a task waits for that needs a person: who is waited
// for, since when, until when, and what happens then.
type TaskWaiting struct {
	QuestionID string       `json:"question_id"`
	Type       QuestionType `json:"type" enum:"blocking,non_blocking,approval,error_recovery"`
	Title      string       `json:"title"`
	Since      time.Time    `json:"since"`
	// Deadline is nil where it waits for ever.
	Deadline  *time.Time    `json:"deadline,omitempty"`
	OnTimeout TimeoutAction `json:"on_timeout,omitempty" enum:"default,skip,fail,escalate"`
	Assignees []string      `json:"assignees,omitempty" doc:"handles, group:NAME, role:NAME; empty: any member who may answer"`
}

// WaitsFor returns what the task waits for, nil when it needs no person. The
// question is its pending one, or nil.
func (t *Task) WaitsFor(q *Question) *TaskWaiting {
	if q == nil || q.Status != Pending || !t.State.Suspended() {
		return nil
	}
	return &TaskWaiting{
		QuestionID: q.ID, Type: q.Type, Title: q.Title, Since: q.CreatedAt, Deadline: q.Deadline,
		OnTimeout: q.OnTimeout, Assignees: q.Assignees,
	}
}
