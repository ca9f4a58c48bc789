package store

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
)

const taskColumns = `id, project, parent_id, title, body, state, reason, priority, size, agent, runner, isolated, labels, spec,
	blocked_by, defer_until, attempts, max_attempts, runs, run_id, session, checkpoint, summary, pending_question_id,
	unread, ends_with_answer, session_key, created_by, created_at, updated_at, version, worker_token_id, agent_token_id`

func (r Reader) scanTask(rs rows) (*fermata.Task, error) {
	dest, build := r.taskRow()
	return scan(rs, dest, build)
}

// taskRow returns the destinations for the columns of a task, and a function that builds the task from them.
func (r Reader) taskRow() (dest []any, build func() (*fermata.Task, error)) {
	t := &fermata.Task{WorkspaceID: r.workspace}
	var state, labels, spec, blockedBy, session, checkpoint, createdBy string
	var isolated, deferUntil, endsWithAnswer, createdAt, updatedAt int64
	dest = []any{
		&t.ID, &t.Project, &t.ParentID, &t.Title, &t.Body, &state, &t.Reason, &t.Priority, &t.Size,
		&t.Agent, &t.Runner, &isolated, &labels, &spec, &blockedBy, &deferUntil, &t.Attempts, &t.MaxAttempts, &t.Runs, &t.RunID,
		&session, &checkpoint, &t.Summary, &t.PendingQuestionID, &t.Unread, &endsWithAnswer, &t.SessionKey,
		&createdBy, &createdAt, &updatedAt, &t.Version, &t.WorkerTokenID, &t.AgentTokenID,
	}
	return dest, func() (*fermata.Task, error) {
		t.State, t.Spec, t.Checkpoint = fermata.TaskState(state), rawJSON(spec), rawJSON(checkpoint)
		t.DeferUntil, t.CreatedAt, t.UpdatedAt = optionalInstant(deferUntil), instantOf(createdAt), instantOf(updatedAt)
		t.EndsWithAnswer, t.Isolated = endsWithAnswer != 0, isolated != 0
		if err := parseColumn("created_by", createdBy, (*actor)(&t.CreatedBy)); err != nil {
			return nil, err
		}
		if err := parseColumn("labels", labels, &t.Labels); err != nil {
			return nil, err
		}
		if err := parseColumn("blocked_by", blockedBy, &t.BlockedBy); err != nil {
			return nil, err
		}
		if session != "" {
			t.Session = &fermata.Session{}
			return t, parseColumn("session", session, t.Session)
		}
		return t, nil
	}
}

// Task returns the task with the id.
func (r Reader) Task(id string) (*fermata.Task, error) {
	t, err := scanOne(r, "task", id, r.scanTask, taskByIDSQL, r.workspace, id)
	if err != nil {
		return nil, err
	}
	return requireVisible(r, "task", id, t, t.Project)
}

const taskByIDSQL = "SELECT " + taskColumns + " FROM tasks WHERE workspace_id = $1 AND id = $2"

// TasksByID returns the tasks with the ids, in the order of their ids.
func (r Reader) TasksByID(ids []string) ([]*fermata.Task, error) {
	found, err := listByID(r, r.scanTask, taskColumns, "tasks", ids, taskID)
	return filterVisible(r, found, projectOfTask), err
}

// originColumns are the columns that show who created a task, how it was created, and which run and tokens hold it.
const originColumns = "id, project, parent_id, runner, isolated, agent, spec, ends_with_answer, session_key, created_by, run_id, worker_token_id, agent_token_id"

// TaskOrigins returns the tasks with the ids. It fills in only the fields of originColumns.
func (r Reader) TaskOrigins(ids []string) ([]*fermata.Task, error) {
	return listByID(r, scanTaskOrigin, originColumns, "tasks", ids, taskID)
}

func scanTaskOrigin(rs rows) (*fermata.Task, error) {
	t := &fermata.Task{}
	var createdBy, spec string
	var isolated, endsWithAnswer int64
	if err := rs.Scan(&t.ID, &t.Project, &t.ParentID, &t.Runner, &isolated, &t.Agent, &spec, &endsWithAnswer, &t.SessionKey, &createdBy,
		&t.RunID, &t.WorkerTokenID, &t.AgentTokenID); err != nil {
		return nil, err
	}
	t.Spec, t.Isolated, t.EndsWithAnswer = rawJSON(spec), isolated != 0, endsWithAnswer != 0
	return t, parseColumn("created_by", createdBy, (*actor)(&t.CreatedBy))
}

// FindID returns the id in the noun's table that ends with the typed text. If there are several, it returns an error
// that lists some of them. If the reader can see every project, it returns a complete id without a look-up.
func (r Reader) FindID(noun, table, prefix, typedID string) (string, error) {
	whole := fermata.IsID(prefix, typedID)
	if whole && r.visible.HasAll() {
		return typedID, nil
	}
	suffix, ok := fermata.IDSuffix(prefix, typedID)
	if !whole && !ok {
		return "", fermata.NotFound(noun, typedID).WithHint("an id may be shortened to its last %d characters", fermata.MinIDSuffix)
	}
	w := r.newWhereClause()
	if whole {
		w.add("id = $%d", typedID)
	} else {
		w.add("id LIKE $%d", "%"+suffix)
	}
	w.addVisibleRow(r.visible, table)
	ids, err := list(r, scanString, "SELECT id FROM "+table+" WHERE "+w.sql()+" ORDER BY id DESC LIMIT 4", w.args...)
	switch {
	case err != nil:
		return "", err
	case len(ids) == 0:
		return "", fermata.NotFound(noun, typedID)
	case len(ids) > 1:
		return "", fermata.Errorf(fermata.CodeInvalidRequest, "several ids end with %q: %s", suffix, strings.Join(ids, ", ")).
			WithHint("type more of it")
	}
	return ids[0], nil
}

// Children lists the tasks whose parents are the tasks with the ids, oldest first.
func (r Reader) Children(ids ...string) ([]*fermata.Task, error) {
	found, err := list(r, r.scanTask, "SELECT "+taskColumns+" FROM tasks WHERE workspace_id = $1 AND "+
		fmt.Sprintf(r.d.inList, "parent_id", 2)+" AND parent_id <> '' ORDER BY id", r.workspace, columnText(ids))
	return filterVisible(r, found, projectOfTask), err
}

// AffectedByTaskEnd lists the ids of the rows that the end of a task affects, in one round trip: the task's pending
// questions, and the tasks that wait for it.
func (r Reader) AffectedByTaskEnd(id string) (questions, dependents []string, err error) {
	links, err := list(r, scanEndLink, taskEndSQL("$2"), r.workspace, id)
	questions, dependents = splitLinks(links)
	return questions, dependents, err
}

// endLink names a row that the end of a task affects.
type endLink struct{ kind, id string }

func scanEndLink(rs rows) (endLink, error) {
	var l endLink
	return l, rs.Scan(&l.kind, &l.id)
}

// taskEndSQL returns the query of [Reader.AffectedByTaskEnd] for an expression that yields a task's id.
func taskEndSQL(task string) string {
	return "SELECT 'question', id FROM questions WHERE workspace_id = $1 AND task_id = " + task + " AND status || '' = 'pending'" +
		" UNION ALL SELECT 'task', task_id FROM task_dependencies WHERE workspace_id = $1 AND blocks_on = " + task
}

func splitLinks(links []endLink) (questions, dependents []string) {
	for _, l := range links {
		if l.kind == "question" {
			questions = append(questions, l.id)
		} else {
			dependents = append(dependents, l.id)
		}
	}
	return questions, dependents
}

// ProjectsOf returns the projects of the tasks, by task id.
func (r Reader) ProjectsOf(ids []string) (map[string]string, error) {
	projects := map[string]string{}
	if len(ids) == 0 {
		return projects, nil
	}
	found, err := list(r, scanTexts2, fmt.Sprintf(r.d.byID, "id, project", "tasks"), r.workspace, columnText(ids))
	for _, row := range found {
		projects[row[0]] = row[1]
	}
	return projects, err
}

// TasksOfSession returns the tasks that are not ended and hold an external session's questions, the newest first.
// Several actors may use the same key; each has a task of its own.
func (r Reader) TasksOfSession(key string) ([]*fermata.Task, error) {
	return r.sessionTasks(key, "NOT IN")
}

// EndedTasksOfSession returns the ended tasks that held an external session's
// questions, the newest first.
func (r Reader) EndedTasksOfSession(key string) ([]*fermata.Task, error) {
	return r.sessionTasks(key, "IN")
}

// sessionTasks lists the tasks of a session. With "IN" it lists the ended tasks, with "NOT IN" the others.
func (r Reader) sessionTasks(key, in string) ([]*fermata.Task, error) {
	found, err := list(r, r.scanTask, "SELECT "+taskColumns+` FROM tasks WHERE workspace_id = $1
		AND session_key = $2 AND session_key <> '' AND state `+in+` ('done', 'failed', 'cancelled', 'skipped')
		ORDER BY id DESC`, r.workspace, key)
	return filterVisible(r, found, projectOfTask), err
}

// InsertTask adds a task and its dependencies.
func (tx *Tx) InsertTask(t *fermata.Task) {
	t.Version, t.WorkspaceID = 1, tx.workspace
	tx.noteTask(t)
	tx.markStale(t.ID)
	tx.markStale(t.BlockedBy...)
	tx.insertedTasks = append(tx.insertedTasks, insertedTask{t, len(tx.statements)})
	tx.exec("")
	tx.insertDependencies(t)
	tx.insertLabels(t)
}

// insertedTask is a task that was added, and the place of its statement. The statement is written later, with the values
// with which the task was saved last.
type insertedTask struct {
	task *fermata.Task
	at   int
}

func insertTaskStatement(t *fermata.Task) statement {
	return statement{
		sql: `INSERT INTO tasks (workspace_id, id, project, parent_id, title, body, state, reason, priority, size, agent,
		runner, labels, spec, blocked_by, defer_until, max_attempts, unread, ends_with_answer, session_key,
		created_by, created_at, updated_at, isolated, attempts, runs, run_id, session, checkpoint, summary, pending_question_id,
		worker_token_id, agent_token_id)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24,
		$25, $26, $27, $28, $29, $30, $31, $32, $33)`,
		args: []any{
			t.WorkspaceID, t.ID, t.Project, t.ParentID, t.Title, t.Body, string(t.State), t.Reason, t.Priority, t.Size, t.Agent,
			t.Runner, columnText(t.Labels), columnText(t.Spec), columnText(t.BlockedBy), millis(t.DeferUntil), t.MaxAttempts, t.Unread,
			boolColumn(t.EndsWithAnswer), t.SessionKey, columnText(actor(t.CreatedBy)), t.CreatedAt.UnixMilli(), t.UpdatedAt.UnixMilli(),
			boolColumn(t.Isolated), t.Attempts, t.Runs, t.RunID, columnText(t.Session), columnText(t.Checkpoint), t.Summary,
			t.PendingQuestionID, t.WorkerTokenID, t.AgentTokenID,
		},
		one: true,
	}
}

func (tx *Tx) insertDependencies(t *fermata.Task) {
	for _, id := range t.BlockedBy {
		tx.exec("INSERT INTO task_dependencies (workspace_id, task_id, blocks_on) VALUES ($1, $2, $3)", tx.workspace, t.ID, id)
	}
}

// SaveTask saves the changed fields of a task that was read in this transaction. The write fails if the row was
// changed since it was read. Unlike the other Save methods, SaveTask takes the values later: at the caller's next
// look-up, or at the end of its write. Changes up to then are written as well, and several calls cost one statement. A
// copy of a saved task takes its place.
func (tx *Tx) SaveTask(t *fermata.Task) {
	t.UpdatedAt = tx.Now()
	tx.noteTask(t)
	tx.markStale(t.ID)
	if i := slices.IndexFunc(tx.insertedTasks, func(added insertedTask) bool { return added.task.ID == t.ID }); i >= 0 {
		tx.insertedTasks[i].task = t
		return
	}
	if i := slices.IndexFunc(tx.savedTasks, func(saved *fermata.Task) bool { return saved.ID == t.ID }); i >= 0 {
		tx.savedTasks[i] = t
		return
	}
	tx.savedTasks = append(tx.savedTasks, t)
}

func (tx *Tx) updateTask(t *fermata.Task) {
	tx.exec(`UPDATE tasks SET state = $1, reason = $2, attempts = $3, runs = $4, run_id = $5, session = $6, checkpoint = $7,
		summary = $8, pending_question_id = $9, unread = $10, defer_until = $11, updated_at = $12, worker_token_id = $13,
		agent_token_id = $14, version = version + 1
		WHERE workspace_id = $15 AND id = $16 AND version = $17`,
		string(t.State), t.Reason, t.Attempts, t.Runs, t.RunID, columnText(t.Session), columnText(t.Checkpoint), t.Summary,
		t.PendingQuestionID, t.Unread, millis(t.DeferUntil), t.UpdatedAt.UnixMilli(), t.WorkerTokenID, t.AgentTokenID,
		tx.workspace, t.ID, t.Version)
	t.Version++
}

// SaveTaskEdit writes the fields of a task that a person may change: texts, priority, labels and dependencies.
// Changes after the call are not written.
func (tx *Tx) SaveTaskEdit(t *fermata.Task) {
	tx.markStale(t.ID)
	tx.markStale(t.BlockedBy...)
	tx.exec(`UPDATE tasks SET title = $1, body = $2, priority = $3, labels = $4, blocked_by = $5
		WHERE workspace_id = $6 AND id = $7`,
		t.Title, t.Body, t.Priority, columnText(t.Labels), columnText(t.BlockedBy), tx.workspace, t.ID)
	tx.execAny("DELETE FROM task_dependencies WHERE workspace_id = $1 AND task_id = $2", tx.workspace, t.ID)
	tx.insertDependencies(t)
	tx.replaceLabels(t)
}

// EnsureProject adds a project if it does not exist.
func (tx *Tx) EnsureProject(name string) {
	tx.execAny(`INSERT INTO projects (workspace_id, name, created_at) VALUES ($1, $2, $3)
		ON CONFLICT (workspace_id, name) DO NOTHING`, tx.workspace, name, tx.Now().UnixMilli())
}

// Projects lists the names of the workspace's projects.
func (r Reader) Projects() ([]string, error) {
	names, err := list(r, scanString, "SELECT name FROM projects WHERE workspace_id = $1 ORDER BY name", r.workspace)
	return filterVisible(r, names, func(name string) string { return name }), err
}
