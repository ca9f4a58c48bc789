package fermata

import "time"

// BoardColumn is the column in which a board shows a task.
type BoardColumn string

// Columns of a board.
const (
	// ColumnReady holds tasks that wait for a worker, a task or the clock.
	ColumnReady BoardColumn = "ready"
	// ColumnWorking holds tasks that a worker executes.
	ColumnWorking BoardColumn = "working"
	// ColumnNeedsPerson holds tasks that wait for a person.
	ColumnNeedsPerson BoardColumn = "needs_person"
	// ColumnDone holds tasks that have ended in any way.
	ColumnDone BoardColumn = "done"
)

// BoardColumns lists every column, in the order in which a board shows them.
var BoardColumns = []BoardColumn{ColumnReady, ColumnWorking, ColumnNeedsPerson, ColumnDone}

// Column returns the column in which a board shows a task in this state.
func (s TaskState) Column() BoardColumn {
	switch {
	case s.IsEnded():
		return ColumnDone
	case s.IsSuspended():
		return ColumnNeedsPerson
	case s == TaskInProgress:
		return ColumnWorking
	default:
		return ColumnReady
	}
}

// TaskCounts holds numbers of tasks, by state and by column of a board. It
// includes every state and column, even with 0 tasks.
type TaskCounts struct {
	Total   int64                 `json:"total"`
	States  map[TaskState]int64   `json:"states"`
	Columns map[BoardColumn]int64 `json:"columns"`
}

// NewTaskCounts returns counts in which every state and column is 0.
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

// Add adds n tasks in a state to the counts.
func (c *TaskCounts) Add(s TaskState, n int64) {
	c.Total += n
	c.States[s] += n
	c.Columns[s.Column()] += n
}

// TaskSort is the order of a list of tasks.
type TaskSort string

// Orders of a list of tasks. Tasks that are equal in this order are sorted by age.
const (
	// SortNewest puts the newest task first.
	SortNewest TaskSort = "newest"
	// SortOldest puts the oldest task first.
	SortOldest TaskSort = "oldest"
	// SortPriority puts priority 0 first.
	SortPriority TaskSort = "priority"
	// SortUpdated puts the task that changed last first.
	SortUpdated TaskSort = "updated"
)

// TaskSorts lists every order.
var TaskSorts = []TaskSort{SortNewest, SortOldest, SortPriority, SortUpdated}

// TaskWaiting describes the question that a task waits for: its assignees, when
// it was asked, its deadline, and the action at the deadline.
type TaskWaiting struct {
	QuestionID string       `json:"question_id"`
	Type       QuestionType `json:"type" enum:"blocking,non_blocking,approval,error_recovery"`
	Title      string       `json:"title"`
	Since      time.Time    `json:"since"`
	// Deadline is nil if the question waits for ever.
	Deadline  *time.Time    `json:"deadline,omitempty"`
	OnTimeout TimeoutAction `json:"on_timeout,omitempty" enum:"default,skip,fail,escalate"`
	Assignees []string      `json:"assignees,omitempty" doc:"handles, group:NAME, role:NAME; empty: any member who may answer"`
}

// DescribeWaiting returns the question that the task waits for, or nil if it needs no
// person. The argument is the task's pending question, or nil.
func (t *Task) DescribeWaiting(q *Question) *TaskWaiting {
	if q == nil || q.Status != Pending || !t.State.IsSuspended() {
		return nil
	}
	return &TaskWaiting{
		QuestionID: q.ID, Type: q.Type, Title: q.Title, Since: q.CreatedAt, Deadline: q.Deadline,
		OnTimeout: q.OnTimeout, Assignees: q.Assignees,
	}
}
