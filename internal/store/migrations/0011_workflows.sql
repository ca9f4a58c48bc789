-- Workflows: definitions, the schedules that start them, their runs and the
-- steps of these. A run itself is a task; see 0001_core. One text for SQLite
-- and PostgreSQL.

-- +goose Up
CREATE TABLE workflows (
    workspace_id TEXT NOT NULL,
    name         TEXT NOT NULL,
    -- The definition that new runs are pinned to.
    hash         TEXT NOT NULL,
    description  TEXT NOT NULL DEFAULT '',
    project      TEXT NOT NULL,
    enabled      BIGINT NOT NULL,
    triggers     TEXT NOT NULL DEFAULT '',
    inputs       TEXT NOT NULL DEFAULT '',
    webhook_secret TEXT NOT NULL DEFAULT '',
    updated_by   TEXT NOT NULL,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, name)
);

-- Every definition that a run may be pinned to.
CREATE TABLE workflow_definitions (
    workspace_id TEXT NOT NULL,
    name         TEXT NOT NULL,
    hash         TEXT NOT NULL,
    source       TEXT NOT NULL,
    created_by   TEXT NOT NULL,
    created_at   BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, name, hash)
);

CREATE TABLE workflow_runs (
    workspace_id TEXT NOT NULL,
    task_id      TEXT NOT NULL,
    workflow     TEXT NOT NULL,
    hash         TEXT NOT NULL,
    trigger_type TEXT NOT NULL,
    cause        TEXT NOT NULL DEFAULT '',
    inputs       TEXT NOT NULL DEFAULT '',
    started_by   TEXT NOT NULL DEFAULT '',
    -- What happened once starts one run.
    fire_key     TEXT NOT NULL DEFAULT '',
    concurrency_key TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (workspace_id, task_id)
);
-- Only the key of the ids leads with the workspace: see 0012.
CREATE UNIQUE INDEX workflow_runs_once ON workflow_runs (fire_key, workspace_id) WHERE fire_key <> '';
CREATE INDEX workflow_runs_of ON workflow_runs (workflow, workspace_id, task_id);
CREATE INDEX workflow_runs_apart ON workflow_runs (concurrency_key, workspace_id, task_id) WHERE concurrency_key <> '';

CREATE TABLE steps (
    workspace_id TEXT NOT NULL,
    task_id      TEXT NOT NULL,
    step         TEXT NOT NULL,
    occurrence   BIGINT NOT NULL,
    -- The place in foreach's list; -1 for the step itself.
    item         BIGINT NOT NULL DEFAULT -1,
    -- In which order the steps of a run began.
    position     BIGINT NOT NULL,
    tool         TEXT NOT NULL,
    state        TEXT NOT NULL CHECK (state IN ('running', 'waiting', 'done', 'skipped', 'failed', 'rejected', 'cancelled')),
    attempt      BIGINT NOT NULL DEFAULT 1,
    note         TEXT NOT NULL DEFAULT '',
    input        TEXT NOT NULL DEFAULT '',
    output       TEXT NOT NULL DEFAULT '',
    error        TEXT NOT NULL DEFAULT '',
    question_id  TEXT NOT NULL DEFAULT '',
    child_id     TEXT NOT NULL DEFAULT '',
    until_at     BIGINT NOT NULL DEFAULT 0,
    started_at   BIGINT NOT NULL,
    ended_at     BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace_id, task_id, step, occurrence, item)
);

CREATE TABLE schedules (
    workspace_id TEXT NOT NULL,
    workflow     TEXT NOT NULL,
    -- Which of the workflow's triggers it is.
    trigger_at   BIGINT NOT NULL,
    cron         TEXT NOT NULL,
    timezone     TEXT NOT NULL,
    catchup      TEXT NOT NULL,
    catchup_age  BIGINT NOT NULL,
    -- 0 is never: the workflow is switched off.
    next_at      BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, workflow, trigger_at)
);
CREATE INDEX schedules_due ON schedules (next_at) WHERE next_at > 0;

-- Up to which event triggers were looked for; no row as long as no workflow
-- follows events.
CREATE TABLE trigger_cursors (
    workspace_id TEXT PRIMARY KEY,
    event_seq    BIGINT NOT NULL
);

CREATE TABLE named_tools (
    workspace_id TEXT NOT NULL,
    name         TEXT NOT NULL,
    tool         TEXT NOT NULL,
    PRIMARY KEY (workspace_id, name)
);

-- +goose Down
DROP TABLE named_tools;
DROP TABLE trigger_cursors;
DROP TABLE schedules;
DROP TABLE steps;
DROP TABLE workflow_runs;
DROP TABLE workflow_definitions;
DROP TABLE workflows;
