package store

import (
	"fmt"
	"time"

	"github.com/fermata-hq/fermata"
)

// QuestionDetails are the data that a list shows beside its questions.
type QuestionDetails struct {
	// Titles, Agents and States are the titles, the roles and the states of the questions' tasks, by task.
	Titles, Agents map[string]string
	States         map[string]fermata.TaskState
	// Blocked counts the tasks that wait for a task, by the task that they wait for.
	Blocked map[string]int
	// Snoozed is the instant until which the member snoozed a question, by question.
	Snoozed map[string]time.Time
}

// QuestionDetails returns for a member what a list shows beside the questions.
func (r Reader) QuestionDetails(questions []*fermata.Question, member string) (QuestionDetails, error) {
	s := QuestionDetails{
		Titles: map[string]string{}, Agents: map[string]string{}, States: map[string]fermata.TaskState{}, Blocked: map[string]int{}, Snoozed: map[string]time.Time{},
	}
	if len(questions) == 0 {
		return s, nil
	}
	taskIDs, ids := make([]string, 0, len(questions)), make([]string, 0, len(questions))
	for _, q := range questions {
		taskIDs, ids = append(taskIDs, q.TaskID), append(ids, q.ID)
	}
	var edges [][2]string
	lookups := []lookup{
		{
			sql:  "SELECT id, title, state, agent FROM tasks WHERE workspace_id = $1 AND " + fmt.Sprintf(r.d.inList, "id", 2),
			args: []any{r.workspace, columnText(taskIDs)}, scanRows: func(rs rows) error {
				return scanEach(rs, scanTexts4, func(row [4]string) {
					s.Titles[row[0]], s.States[row[0]], s.Agents[row[0]] = row[1], fermata.TaskState(row[2]), row[3]
				})
			},
		},
		{
			// The condition makes the database use the index that begins with blocks_on. The other index would read
			// the whole workspace.
			sql:  "SELECT blocks_on, task_id FROM task_dependencies WHERE workspace_id || '' = $1 AND " + fmt.Sprintf(r.d.inList, "blocks_on", 2),
			args: []any{r.workspace, columnText(taskIDs)}, scanRows: func(rs rows) error {
				return scanEach(rs, scanTexts2, func(row [2]string) { edges = append(edges, row) })
			},
		},
		{
			sql:  "SELECT question_id, until_at FROM snoozes WHERE workspace_id = $1 AND member_id = $2 AND " + fmt.Sprintf(r.d.inList, "question_id", 3),
			args: []any{r.workspace, member, columnText(ids)}, scanRows: func(rs rows) error {
				return scanEach(rs, scanSnooze, func(z snooze) { s.Snoozed[z.question] = z.until })
			},
		},
	}
	if err := r.q.runLookups(r.ctx, lookups...); err != nil || len(edges) == 0 {
		return s, err
	}
	return s, r.countBlocked(s.Blocked, edges)
}

// countBlocked counts, for each task, the blocked tasks that wait for it.
func (r Reader) countBlocked(into map[string]int, edges [][2]string) error {
	waiters := make([]string, 0, len(edges))
	for _, edge := range edges {
		waiters = append(waiters, edge[1])
	}
	w := r.newWhereClause()
	w.conditions = append(w.conditions, "state = 'blocked'")
	w.addIn("id", waiters)
	w.addVisible(r.visible, "project")
	found, err := list(r, scanString, "SELECT id FROM tasks WHERE "+w.sql(), w.args...)
	blocked := make(map[string]bool, len(found))
	for _, id := range found {
		blocked[id] = true
	}
	for _, edge := range edges {
		if blocked[edge[1]] {
			into[edge[0]]++
		}
	}
	return err
}

func scanTexts2(rs rows) (row [2]string, err error) {
	err = rs.Scan(&row[0], &row[1])
	return row, err
}

func scanTexts4(rs rows) (row [4]string, err error) {
	err = rs.Scan(&row[0], &row[1], &row[2], &row[3])
	return row, err
}

type snooze struct {
	question string
	until    time.Time
}

func scanSnooze(rs rows) (snooze, error) {
	var z snooze
	var until int64
	err := rs.Scan(&z.question, &until)
	z.until = instantOf(until)
	return z, err
}
