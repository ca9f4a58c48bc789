package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/fermata-hq/fermata"
)

const workflowColumns = `name, hash, description, project, enabled, triggers, inputs, webhook_secret, updated_by, created_at, updated_at`

func (r Reader) scanWorkflow(rs rows) (*fermata.Workflow, error) {
	w := &fermata.Workflow{WorkspaceID: r.workspace}
	var enabled, createdAt, updatedAt int64
	var triggers, inputs, updatedBy, secret string
	return scan(rs, []any{
		&w.Name, &w.Hash, &w.Description, &w.Project, &enabled, &triggers, &inputs, &secret, &updatedBy, &createdAt, &updatedAt,
	}, func() (*fermata.Workflow, error) {
		opened, err := r.unseal(secret, r.workflowCell(w.Name))
		if err != nil {
			return nil, err
		}
		w.Enabled, w.CreatedAt, w.UpdatedAt = enabled != 0, instantOf(createdAt), instantOf(updatedAt)
		w.WebhookSecret, w.HasWebhookSecret = string(opened), len(opened) > 0
		if err := parseColumn("updated_by", updatedBy, (*actor)(&w.UpdatedBy)); err != nil {
			return nil, err
		}
		if err := parseColumn("triggers", triggers, &w.Triggers); err != nil {
			return nil, err
		}
		return w, parseColumn("inputs", inputs, &w.Inputs)
	})
}

func (r Reader) workflowCell(name string) cell {
	return cell{"workflows", "webhook_secret", r.workspace, name}
}

// Workflow returns the workflow with the name.
func (r Reader) Workflow(name string) (*fermata.Workflow, error) {
	w, err := scanOne(r, "workflow", name, r.scanWorkflow, "SELECT "+workflowColumns+
		" FROM workflows WHERE workspace_id = $1 AND name = $2", r.workspace, name)
	if err != nil {
		return nil, err
	}
	return requireVisible(r, "workflow", name, w, w.Project)
}

// Workflows lists all workflows by name.
func (r Reader) Workflows() ([]*fermata.Workflow, error) {
	all, err := list(r, r.scanWorkflow, "SELECT "+workflowColumns+" FROM workflows WHERE workspace_id = $1 ORDER BY name", r.workspace)
	return filterVisible(r, all, func(w *fermata.Workflow) string { return w.Project }), err
}

// SaveWorkflow writes a workflow under its name. Changes after the call are not written.
func (tx *Tx) SaveWorkflow(w *fermata.Workflow) {
	tx.exec(`INSERT INTO workflows (workspace_id, name, hash, description, project, enabled, triggers, inputs, webhook_secret,
		updated_by, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
		ON CONFLICT (workspace_id, name) DO UPDATE SET hash = excluded.hash, description = excluded.description,
		project = excluded.project, enabled = excluded.enabled, triggers = excluded.triggers, inputs = excluded.inputs,
		webhook_secret = excluded.webhook_secret, updated_by = excluded.updated_by, updated_at = excluded.updated_at`,
		tx.workspace, w.Name, w.Hash, w.Description, w.Project, boolColumn(w.Enabled), columnText(w.Triggers), columnText(w.Inputs),
		tx.seal([]byte(w.WebhookSecret), tx.workflowCell(w.Name)),
		columnText(actor(w.UpdatedBy)), w.CreatedAt.UnixMilli(), w.UpdatedAt.UnixMilli())
}

// DeleteWorkflow deletes a workflow. Its runs stay, and so do the definitions
// that they use.
func (tx *Tx) DeleteWorkflow(name string) {
	tx.exec("DELETE FROM workflows WHERE workspace_id = $1 AND name = $2", tx.workspace, name)
	tx.execAny("DELETE FROM schedules WHERE workspace_id = $1 AND workflow = $2", tx.workspace, name)
}

// Definition returns the source of a workflow by its hash.
func (r Reader) Definition(name, hash string) (string, error) {
	return scanOne(r, "definition", name+"@"+hash, scanString,
		"SELECT source FROM workflow_definitions WHERE workspace_id = $1 AND name = $2 AND hash = $3", r.workspace, name, hash)
}

// SaveDefinition stores a source under its hash.
func (tx *Tx) SaveDefinition(name, hash, source string, by fermata.Actor) {
	tx.execAny(`INSERT INTO workflow_definitions (workspace_id, name, hash, source, created_by, created_at) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (workspace_id, name, hash) DO NOTHING`, tx.workspace, name, hash, source, columnText(actor(by)), tx.Now().UnixMilli())
}

// Schedule is a trigger that fires at the times of a cron expression.
type Schedule struct {
	WorkspaceID, Workflow string
	// Trigger is the index of the trigger in the workflow.
	Trigger        int
	Cron, Timezone string
	// Catchup says which missed times fire later: none, latest or all. Times older than CatchupAge never fire.
	Catchup    string
	CatchupAge time.Duration
	NextAt     *time.Time
}

func scanSchedule(rs rows) (Schedule, error) {
	var s Schedule
	var age, next int64
	err := rs.Scan(&s.WorkspaceID, &s.Workflow, &s.Trigger, &s.Cron, &s.Timezone, &s.Catchup, &age, &next)
	s.CatchupAge, s.NextAt = time.Duration(age)*time.Second, optionalInstant(next)
	return s, err
}

const scheduleColumns = "workspace_id, workflow, trigger_at, cron, timezone, catchup, catchup_age, next_at"

// Schedules lists the schedules of a workflow, or of all workflows if it is
// empty.
func (r Reader) Schedules(workflow string) ([]Schedule, error) {
	w := r.newWhereClause()
	w.addEqual("workflow", workflow)
	return list(r, scanSchedule, "SELECT "+scheduleColumns+" FROM schedules WHERE "+w.sql()+" ORDER BY workflow, trigger_at", w.args...)
}

// DueSchedules lists the due schedules of all workspaces, the longest overdue first.
func (db *DB) DueSchedules(ctx context.Context, now time.Time, limit int) ([]Schedule, error) {
	return list(db.Reader(ctx, ""), scanSchedule, "SELECT "+scheduleColumns+` FROM schedules WHERE next_at > 0 AND next_at <= $1
		ORDER BY next_at LIMIT $2`, now.UnixMilli(), limit)
}

// SetSchedules replaces the schedules of a workflow.
func (tx *Tx) SetSchedules(workflow string, all []Schedule) {
	tx.execAny("DELETE FROM schedules WHERE workspace_id = $1 AND workflow = $2", tx.workspace, workflow)
	for _, s := range all {
		tx.exec(`INSERT INTO schedules (workspace_id, workflow, trigger_at, cron, timezone, catchup, catchup_age, next_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, tx.workspace, workflow, s.Trigger, s.Cron, s.Timezone, s.Catchup,
			int64(s.CatchupAge/time.Second), millis(s.NextAt))
	}
}

// SetNextFire sets the instant at which a schedule fires next.
func (tx *Tx) SetNextFire(s Schedule, next time.Time) {
	tx.exec("UPDATE schedules SET next_at = $1 WHERE workspace_id = $2 AND workflow = $3 AND trigger_at = $4",
		next.UnixMilli(), tx.workspace, s.Workflow, s.Trigger)
}

// TriggerCursor returns the number of the last event that was checked for
// triggers, or -1 if there is none.
func (r Reader) TriggerCursor() (int64, error) {
	found, err := list(r, scanInt, "SELECT event_seq FROM trigger_cursors WHERE workspace_id = $1", r.workspace)
	if err != nil || len(found) == 0 {
		return -1, err
	}
	return found[0], nil
}

// SetTriggerCursor stores the number of the last event that was checked for
// triggers.
func (tx *Tx) SetTriggerCursor(seq int64) {
	tx.exec(`INSERT INTO trigger_cursors (workspace_id, event_seq) VALUES ($1, $2)
		ON CONFLICT (workspace_id) DO UPDATE SET event_seq = excluded.event_seq`, tx.workspace, seq)
}

func (r Reader) scanNamedTool(rs rows) (*fermata.NamedTool, error) {
	var name, sealed string
	return scan(rs, []any{&name, &sealed}, func() (*fermata.NamedTool, error) {
		stored, err := r.unseal(sealed, r.namedToolCell(name))
		if err != nil {
			return nil, err
		}
		t := &fermata.NamedTool{}
		return t, parseColumn("tool", string(stored), t)
	})
}

func (r Reader) namedToolCell(name string) cell {
	return cell{"named_tools", "tool", r.workspace, name}
}

// NamedTools lists the tools that the workspace has defined, by name.
func (r Reader) NamedTools() ([]*fermata.NamedTool, error) {
	return list(r, r.scanNamedTool, "SELECT name, tool FROM named_tools WHERE workspace_id = $1 ORDER BY name", r.workspace)
}

// NamedTool returns the tool with the name.
func (r Reader) NamedTool(name string) (*fermata.NamedTool, error) {
	return scanOne(r, "tool", name, r.scanNamedTool, "SELECT name, tool FROM named_tools WHERE workspace_id = $1 AND name = $2", r.workspace, name)
}

// SaveNamedTool writes a tool under its name. Changes after the call are not written.
func (tx *Tx) SaveNamedTool(t *fermata.NamedTool) {
	tx.exec(`INSERT INTO named_tools (workspace_id, name, tool) VALUES ($1, $2, $3)
		ON CONFLICT (workspace_id, name) DO UPDATE SET tool = excluded.tool`, tx.workspace, t.Name, tx.seal([]byte(columnText(t)), tx.namedToolCell(t.Name)))
}

// DeleteNamedTool removes a tool.
func (tx *Tx) DeleteNamedTool(name string) {
	tx.exec("DELETE FROM named_tools WHERE workspace_id = $1 AND name = $2", tx.workspace, name)
}

// WorkflowRunFilter narrows a list of workflow runs.
type WorkflowRunFilter struct {
	Workflow string
	States   []fermata.TaskState
	Trigger  fermata.TriggerType
	Project  string
	Limit    int
	// Before is the id after which the list continues; the newest run comes
	// first.
	Before string
}

const workflowRunColumns = `r.task_id, r.workflow, r.hash, r.trigger_type, r.cause, r.inputs, r.started_by, r.fire_key, r.concurrency_key,
	t.project, t.title, t.state, t.reason, t.summary, t.parent_id, t.pending_question_id, t.created_at, t.updated_at`

const workflowRunRows = " FROM workflow_runs r JOIN tasks t ON t.workspace_id = r.workspace_id AND t.id = r.task_id WHERE r.workspace_id = $1"

func scanWorkflowRun(rs rows) (*fermata.WorkflowRun, error) {
	run := &fermata.WorkflowRun{}
	var trigger, cause, inputs, startedBy, state string
	var createdAt, updatedAt int64
	return scan(rs, []any{
		&run.ID, &run.Workflow, &run.Hash, &trigger, &cause, &inputs, &startedBy, &run.FireKey, &run.ConcurrencyKey,
		&run.Project, &run.Title, &state, &run.Reason, &run.Summary, &run.ParentID, &run.PendingQuestionID, &createdAt, &updatedAt,
	}, func() (*fermata.WorkflowRun, error) {
		run.Trigger, run.State = fermata.TriggerType(trigger), fermata.TaskState(state)
		run.Cause, run.Inputs, run.CreatedAt, run.UpdatedAt = rawJSON(cause), rawJSON(inputs), instantOf(createdAt), instantOf(updatedAt)
		if run.State.IsEnded() {
			ended := run.UpdatedAt
			run.EndedAt = &ended
		}
		if startedBy != "" {
			run.StartedBy = &fermata.Actor{}
			return run, parseColumn("started_by", startedBy, (*actor)(run.StartedBy))
		}
		return run, nil
	})
}

// WorkflowRun returns the workflow run whose task has the id.
func (r Reader) WorkflowRun(id string) (*fermata.WorkflowRun, error) {
	run, err := scanOne(r, "run of a workflow", id, scanWorkflowRun, "SELECT "+workflowRunColumns+workflowRunRows+" AND r.task_id = $2", r.workspace, id)
	if err != nil {
		return nil, err
	}
	return requireVisible(r, "run of a workflow", id, run, run.Project)
}

// WorkflowRuns lists workflow runs, newest first.
func (r Reader) WorkflowRuns(f WorkflowRunFilter) ([]*fermata.WorkflowRun, error) {
	w := &whereClause{d: r.d, conditions: []string{"1 = 1"}, args: []any{r.workspace}}
	isDoneIn := slices.Contains(f.States, fermata.TaskDone)
	switch {
	case f.Workflow == "" && len(f.States) > 0 && !isDoneIn:
		w.addRunsOf(r, f, f.unfinishedParts)
	case f.Workflow == "" && f.Project != "":
		w.addRunsOf(r, f, f.projectPart)
	default:
		w.addEqual("r.workflow", f.Workflow)
		w.addEqual("t.project", f.Project)
		if len(f.States) > 0 {
			w.addIn("t.state", f.States)
		}
		if f.Workflow == "" {
			w.addIndexed("r.trigger_type", string(f.Trigger))
		} else {
			w.addEqual("r.trigger_type", string(f.Trigger))
		}
	}
	w.addVisible(r.visible, "t.project")
	if f.Before != "" {
		w.add("r.task_id < $%d", f.Before)
	}
	w.args = append(w.args, f.Limit)
	return list(r, scanWorkflowRun, "SELECT "+workflowRunColumns+workflowRunRows+" AND "+w.sql()+
		" ORDER BY r.task_id DESC LIMIT $"+strconv.Itoa(len(w.args)), w.args...)
}

// addRunsOf keeps the first runs of a list whose filter is on columns of the run's task. parts returns the parts of a
// query for these tasks.
func (w *whereClause) addRunsOf(r Reader, f WorkflowRunFilter, parts func(*whereClause) []string) {
	of := &whereClause{d: r.d, conditions: []string{"workspace_id = $1 AND runner = 'workflow'"}, args: w.args}
	if f.Before != "" {
		of.add("id < $%d", f.Before)
	}
	of.addVisible(r.visible, "project")
	if f.Trigger != "" {
		of.add(`EXISTS (SELECT 1 FROM workflow_runs AS w WHERE w.workspace_id = tasks.workspace_id AND w.task_id = tasks.id
			AND w.trigger_type = $%d)`, string(f.Trigger))
	}
	from := parts(of)
	w.args = of.args
	if len(from) == 0 {
		w.conditions = append(w.conditions, "1 = 0")
		return
	}
	w.conditions = append(w.conditions, fmt.Sprintf(r.d.inQuery, "r.task_id", listOrder{desc: true}.firstIDs(from, f.Limit)))
}

// unfinishedParts returns a part for each state of the filter. The index of the tasks of runs by state leaves out those
// that are done, which are most of them.
func (f WorkflowRunFilter) unfinishedParts(w *whereClause) []string {
	w.addEqual("project", f.Project)
	var parts []string
	for _, state := range fermata.TaskStates {
		if slices.Contains(f.States, state) {
			parts = append(parts, " FROM tasks WHERE state <> 'done' AND "+fmt.Sprintf(inState, state)+" AND "+w.sql())
		}
	}
	return parts
}

// projectPart returns the part for the tasks of runs in the project.
func (f WorkflowRunFilter) projectPart(w *whereClause) []string {
	w.addIndexed("project", f.Project)
	w.addStates(f.States)
	return []string{" FROM tasks WHERE " + w.sql()}
}

// FiredRun returns the id of the run that was started with the fire key, or ""
// if there is none.
func (r Reader) FiredRun(fireKey string) (string, error) {
	found, err := list(r, scanString, "SELECT task_id FROM workflow_runs WHERE workspace_id = $1 AND fire_key = $2 AND fire_key <> ''",
		r.workspace, fireKey)
	if err != nil || len(found) == 0 {
		return "", err
	}
	return found[0], nil
}

// OpenRunsByConcurrencyKey lists the workflow runs with a concurrency key that have not
// ended, oldest first.
func (r Reader) OpenRunsByConcurrencyKey(key string) ([]string, error) {
	return list(r, scanString, `SELECT r.task_id`+workflowRunRows+` AND r.concurrency_key = $2 AND r.concurrency_key <> ''
		AND t.state NOT IN ('done', 'failed', 'cancelled', 'skipped') ORDER BY r.task_id`, r.workspace, key)
}

// InsertWorkflowRun adds the data of a workflow run that its task does not
// have.
func (tx *Tx) InsertWorkflowRun(run *fermata.WorkflowRun) {
	startedBy := ""
	if run.StartedBy != nil {
		startedBy = columnText(actor(*run.StartedBy))
	}
	tx.exec(`INSERT INTO workflow_runs (workspace_id, task_id, workflow, hash, trigger_type, cause, inputs, started_by, fire_key, concurrency_key)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`, tx.workspace, run.ID, run.Workflow, run.Hash, string(run.Trigger),
		columnText(run.Cause), columnText(run.Inputs), startedBy, run.FireKey, run.ConcurrencyKey)
}

// UpdateWorkflowRun stores the definition that a workflow run uses, and its
// inputs.
func (tx *Tx) UpdateWorkflowRun(run *fermata.WorkflowRun) {
	tx.exec("UPDATE workflow_runs SET hash = $1, inputs = $2 WHERE workspace_id = $3 AND task_id = $4", run.Hash, columnText(run.Inputs), tx.workspace, run.ID)
}

const stepColumns = `task_id, step, occurrence, item, tool, state, attempt, note, input, output, error, question_id, child_id,
	until_at, started_at, ended_at`

func scanStep(rs rows) (*fermata.WorkflowStep, error) {
	s := &fermata.WorkflowStep{}
	var item int
	var state, input, output, failure string
	var until, startedAt, endedAt int64
	return scan(rs, []any{
		&s.TaskID, &s.Step, &s.Occurrence, &item, &s.Tool, &state, &s.Attempt, &s.Note, &input, &output, &failure, &s.QuestionID, &s.ChildID,
		&until, &startedAt, &endedAt,
	}, func() (*fermata.WorkflowStep, error) {
		if item >= 0 {
			s.Item = &item
		}
		s.State, s.Input, s.Output = fermata.StepState(state), rawJSON(input), rawJSON(output)
		s.Until, s.StartedAt, s.EndedAt = optionalInstant(until), instantOf(startedAt), optionalInstant(endedAt)
		if failure != "" {
			s.Error = &fermata.StepError{}
			return s, parseColumn("error", failure, s.Error)
		}
		return s, nil
	})
}

// Steps lists the occurrences of the steps of a run, in the order in which they
// began.
func (r Reader) Steps(taskID string) ([]*fermata.WorkflowStep, error) {
	return list(r, scanStep, "SELECT "+stepColumns+" FROM steps WHERE workspace_id = $1 AND task_id = $2 ORDER BY position, item", r.workspace, taskID)
}

// CurrentSteps returns the current step of each run, by the run's id.
func (r Reader) CurrentSteps(taskIDs []string) (map[string]string, error) {
	at := map[string]string{}
	if len(taskIDs) == 0 {
		return at, nil
	}
	steps, err := list(r, scanStep, "SELECT "+stepColumns+" FROM steps WHERE workspace_id = $1 AND "+
		fmt.Sprintf(r.d.inList, "task_id", 2)+" AND state IN ('running', 'waiting') AND item = -1 ORDER BY position", r.workspace, columnText(taskIDs))
	for _, s := range steps {
		at[s.TaskID] = s.Step
	}
	return at, err
}

// SaveStep stores the state of a step. Changes after the call are not written.
func (tx *Tx) SaveStep(s *fermata.WorkflowStep) {
	item, failure := -1, ""
	if s.Item != nil {
		item = *s.Item
	}
	if s.Error != nil {
		failure = columnText(s.Error)
	}
	tx.exec(`INSERT INTO steps (workspace_id, task_id, step, occurrence, item, position, tool, state, attempt, note, input, output, error,
		question_id, child_id, until_at, started_at, ended_at) VALUES ($1, $2, $3, $4, $5,
		(SELECT count(*) FROM steps WHERE workspace_id = $1 AND task_id = $2), $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
		ON CONFLICT (workspace_id, task_id, step, occurrence, item) DO UPDATE SET tool = excluded.tool, state = excluded.state,
		attempt = excluded.attempt, note = excluded.note, input = excluded.input, output = excluded.output, error = excluded.error,
		question_id = excluded.question_id, child_id = excluded.child_id, until_at = excluded.until_at, ended_at = excluded.ended_at`,
		tx.workspace, s.TaskID, s.Step, s.Occurrence, item, s.Tool, string(s.State), s.Attempt, s.Note, columnText(s.Input), columnText(s.Output), failure,
		s.QuestionID, s.ChildID, millis(s.Until), s.StartedAt.UnixMilli(), millis(s.EndedAt))
}

// EndWaits clears the instants until which the waiting steps of a run wait.
func (tx *Tx) EndWaits(taskID string) {
	tx.execAny("UPDATE steps SET until_at = 0 WHERE workspace_id = $1 AND task_id = $2 AND state = 'waiting' AND until_at > 0", tx.workspace, taskID)
}

// EndSteps ends the steps of a run that are running or waiting.
func (tx *Tx) EndSteps(taskID string, state fermata.StepState, note string) {
	tx.execAny(`UPDATE steps SET state = $1, note = $2, ended_at = $3, until_at = 0 WHERE workspace_id = $4 AND task_id = $5
		AND state IN ('running', 'waiting')`, string(state), note, tx.Now().UnixMilli(), tx.workspace, taskID)
}
