-- A page of a list costs the same among many rows. An index here contains columns that never change, or only the rows
-- that are rare, so that the usual writes do not touch it. Its columns stand in expressions, so that no query of the engine,
-- which names the bare columns, takes it for its own. One text for SQLite and PostgreSQL; see 0001_core.

-- +goose Up
CREATE INDEX tasks_of_agent ON tasks ((agent || ''), workspace_id, id) WHERE agent <> '';
-- The priority that a task has by itself is left out.
CREATE INDEX tasks_by_priority ON tasks (workspace_id, priority, id) WHERE priority <> 2;
CREATE INDEX tasks_set_aside ON tasks ((state || ''), workspace_id, priority, id) WHERE state IN ('blocked', 'deferred');
CREATE INDEX tasks_of_workflows ON tasks ((state || ''), workspace_id, id) WHERE runner = 'workflow' AND state <> 'done';
CREATE INDEX tasks_of_workflows_by_project ON tasks ((project || ''), workspace_id, id) WHERE runner = 'workflow';
CREATE INDEX workflow_runs_by_trigger ON workflow_runs ((trigger_type || ''), workspace_id, task_id);
CREATE INDEX questions_unanswered ON questions ((status || ''), workspace_id, id) WHERE status IN ('timed_out', 'cancelled');
CREATE INDEX questions_of_type ON questions ((type || ''), workspace_id, id) WHERE type <> 'blocking';
CREATE INDEX deliveries_by_state ON deliveries ((state || ''), workspace_id, id) WHERE state <> 'sent' AND kind <> 'watch';
CREATE INDEX deliveries_of_channel ON deliveries ((channel_id || ''), workspace_id, id) WHERE kind <> 'watch';
CREATE INDEX deliveries_of_member ON deliveries ((member_id || ''), workspace_id, id) WHERE member_id <> '' AND kind <> 'watch';
-- Every task and question has events of these types, so they are found without an index. SQLite would put a list of more
-- than two values into a table for each statement.
CREATE INDEX events_of_rare_type ON events (type, workspace_id, seq) WHERE type <> 'task.created' AND type <> 'task.claimed'
    AND type <> 'task.state_changed' AND type <> 'task.ended' AND type <> 'run.finished' AND type <> 'question.asked'
    AND type <> 'question.answered';

-- +goose Down
DROP INDEX events_of_rare_type;
DROP INDEX deliveries_of_member;
DROP INDEX deliveries_of_channel;
DROP INDEX deliveries_by_state;
DROP INDEX questions_of_type;
DROP INDEX questions_unanswered;
DROP INDEX workflow_runs_by_trigger;
DROP INDEX tasks_of_workflows_by_project;
DROP INDEX tasks_of_workflows;
DROP INDEX tasks_set_aside;
DROP INDEX tasks_by_priority;
DROP INDEX tasks_of_agent;
