-- Which workers there are, and for which tasks there is none. One text for SQLite and PostgreSQL; see 0001_core.

-- +goose Up
CREATE TABLE workers (
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    -- Of the name and the offer: one machine may have several workers of its name.
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
    since        BIGINT NOT NULL,
    -- When operators were told; 0 for not yet.
    told_at      BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace_id, runner, project, agent)
);

-- +goose Down
DROP TABLE worker_gaps;
DROP TABLE workers;
