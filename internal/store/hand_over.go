package store

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
)

// minClaimsForHandOver is the smallest number of claims for which the hand-overs are read ahead. Reading them ahead
// costs two more queries, and saves a round trip for each claim.
const minClaimsForHandOver = 4

// handOver is the hand-over to a new run of a task.
type handOver struct {
	questions []*fermata.Question
	messages  []*fermata.Message
}

// lookups returns look-ups that read the hand-over of a task. task is the SQL expression for its id, with the parameter $2.
func (h *handOver) lookups(r Reader, task, parameter string) []lookup {
	return []lookup{
		scanInto(&h.questions, r.scanQuestion, unhandedQuestionsSQL(task), r.workspace, parameter, ""),
		scanInto(&h.messages, r.scanMessage, unhandedMessagesSQL(task), r.workspace, parameter, ""),
	}
}

// addClosed adds a question that has closed since the hand-over was read.
func (h *handOver) addClosed(q *fermata.Question) {
	if q.HandedTo != "" {
		return
	}
	closed := *q
	at, _ := slices.BinarySearchFunc(h.questions, q.ID, func(q *fermata.Question, id string) int { return strings.Compare(q.ID, id) })
	h.questions = slices.Insert(h.questions, at, &closed)
}

// handOverLookupsOf returns look-ups that read the hand-over of a task, and its last run. task is the SQL expression for the
// id of the task; it may contain the parameter $2, which is the id of the row that is read ahead. When the look-ups are read,
// taskID returns the id of the task, or "" if there is no such task.
func (a *readAhead) handOverLookupsOf(r Reader, task, id string, taskID func() string) []lookup {
	h := &handOver{}
	lastRun := "SELECT " + runColumns + " FROM runs WHERE workspace_id = $1 AND id = (SELECT run_id FROM tasks WHERE workspace_id = $1 AND id = " + task + ")"
	return append(h.lookups(r, task, id), lookup{sql: lastRun, args: []any{r.workspace, id}, scanRows: func(rs rows) error {
		if of := taskID(); of != "" {
			a.setHandOver(of, h)
		}
		return scanEach(rs, r.scanRun, func(run *fermata.Run) { put(&a.runs, runID, run) })
	}})
}

func (a *readAhead) setHandOver(taskID string, h *handOver) {
	if a.handOvers == nil {
		a.handOvers = map[string]*handOver{}
	}
	a.handOvers[taskID] = h
}

// handOverLookups returns look-ups that read the hand-overs of the claimable tasks. The tasks themselves are read before
// them, in the same round trip. Only indexes that begin with the task's id fit these queries. Without the expression on
// workspace_id, PostgreSQL would take an index that begins with the workspace while the tables are small. It would keep
// that plan, and read the whole workspace when the tables have grown.
func (a *readAhead) handOverLookups(r Reader, selection Claimable, n int) []lookup {
	first, args := r.claimableSQL("id, state, priority", selection, n)
	ids := "SELECT id FROM (" + first + ") AS claimed"
	among := "workspace_id || '' = $1 AND " + fmt.Sprintf(r.d.inQuery, "task_id", ids)
	return []lookup{
		{sql: "SELECT " + questionColumns + " FROM questions WHERE " + among +
			" AND status <> 'pending' AND handed_to = '' ORDER BY task_id, id", args: args, scanRows: func(rs rows) error {
			return scanEach(rs, r.scanQuestion, func(q *fermata.Question) {
				if h := a.handOvers[q.TaskID]; h != nil {
					h.questions = append(h.questions, q)
				}
			})
		}},
		{sql: "SELECT " + messageColumns + " FROM messages WHERE " + among +
			" AND handed_to = '' ORDER BY task_id, id", args: args, scanRows: func(rs rows) error {
			return scanEach(rs, r.scanMessage, func(m *fermata.Message) {
				if h := a.handOvers[m.TaskID]; h != nil {
					h.messages = append(h.messages, m)
				}
			})
		}},
	}
}

// PendingHandOver returns the task's closed questions and messages that no run got yet. A new run gets them.
func (tx *Tx) PendingHandOver(taskID string) (questions []*fermata.Question, messages []*fermata.Message, err error) {
	h := tx.takeHandOver(taskID)
	if h == nil {
		h = &handOver{}
		err = tx.runLookups(tx.ctx, h.lookups(tx.Reader, "$2", taskID)...)
	}
	return h.questions, h.messages, err
}

// hasHandOver reports whether the hand-over of a task was read ahead and is still true, apart from the questions that were
// closed since.
func (tx *Tx) hasHandOver(taskID string) bool {
	return tx.g.readAhead.handOvers[taskID] != nil && !tx.staleHandOvers[taskID] && !tx.g.readAhead.staleHandOvers[taskID]
}

// takeHandOver returns the hand-over of a task that was read ahead, with the questions that were closed since. It removes
// the hand-over, because two callers must not share it. It returns nil if there is none, or if it is not true any more.
func (tx *Tx) takeHandOver(taskID string) *handOver {
	if !tx.hasHandOver(taskID) {
		return nil
	}
	h := tx.g.readAhead.handOvers[taskID]
	delete(tx.g.readAhead.handOvers, taskID)
	for _, q := range tx.closed {
		if q.TaskID == taskID {
			h.addClosed(q)
		}
	}
	return h
}

// markHandOverStale marks the hand-over of a task as changed in this transaction, and with it the rows about the task.
func (tx *Tx) markHandOverStale(taskID string) {
	tx.markStale(taskID)
	if tx.staleHandOvers == nil {
		tx.staleHandOvers = map[string]bool{}
	}
	tx.staleHandOvers[taskID] = true
}
