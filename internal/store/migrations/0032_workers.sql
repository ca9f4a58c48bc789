-- The workers that ask for tasks, and the kinds of tasks that no running worker takes. Tasks can ask for isolation; an
-- older program would give such a task to any worker. One text for SQLite and PostgreSQL; see 0001_core.

-- +goose Up
UPDATE workspaces SET min_compatible_version = 32;
ALTER TABLE tasks ADD COLUMN isolated BIGINT NOT NULL DEFAULT 0;
DROP INDEX tasks_claim_open;
DROP INDEX tasks_claim_received;
CREATE INDEX tasks_claim_open ON tasks (runner, isolated, workspace_id, priority, id) WHERE state = 'open';
CREATE INDEX tasks_claim_received ON tasks (runner, isolated, workspace_id, priority, id) WHERE state = 'input_received';
CREATE TABLE workers (
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    -- A hash of name and offer: several workers on one machine may have its name.
    id           TEXT NOT NULL,
    name         TEXT NOT NULL,
    -- What it takes, as JSON.
    offer        TEXT NOT NULL,
    seen_at      BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, id)
);
-- Kinds of tasks that no running worker takes.
CREATE TABLE worker_gaps (
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    runner       TEXT NOT NULL,
    project      TEXT NOT NULL,
    agent        TEXT NOT NULL,
    isolated     BIGINT NOT NULL,
    since        BIGINT NOT NULL,
    -- When operators were told; 0 for not yet.
    told_at      BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace_id, runner, project, agent, isolated)
);

-- +goose Down
DROP TABLE worker_gaps;
DROP TABLE workers;
DROP INDEX tasks_claim_open;
DROP INDEX tasks_claim_received;
ALTER TABLE tasks DROP COLUMN isolated;
CREATE INDEX tasks_claim_open ON tasks (runner, workspace_id, priority, id) WHERE state = 'open';
CREATE INDEX tasks_claim_received ON tasks (runner, workspace_id, priority, id) WHERE state = 'input_received';
UPDATE workspaces SET min_compatible_version = 31;
