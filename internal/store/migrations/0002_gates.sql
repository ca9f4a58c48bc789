-- Rules that decide tool calls without asking, the key that signs grants, and
-- which grants were used. One text for SQLite and PostgreSQL; see 0001_core.

-- +goose Up
CREATE TABLE gate_rules (
    workspace_id TEXT NOT NULL,
    id           TEXT NOT NULL,
    decision     TEXT NOT NULL CHECK (decision IN ('allow', 'deny', 'ask')),
    -- The rest of the rule as it was made, as JSON.
    rule         TEXT NOT NULL,
    owner        TEXT NOT NULL,
    expires_at   BIGINT NOT NULL DEFAULT 0,
    used         BIGINT NOT NULL DEFAULT 0,
    created_at   BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, id)
);

CREATE TABLE grant_keys (
    workspace_id TEXT PRIMARY KEY,
    secret       BYTEA NOT NULL,
    created_at   BIGINT NOT NULL
);

-- A grant is used once: the approval that gave it is the key.
CREATE TABLE grants_used (
    workspace_id TEXT NOT NULL,
    question_id  TEXT NOT NULL,
    used_by      TEXT NOT NULL,
    call_id      TEXT NOT NULL DEFAULT '',
    used_at      BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, question_id)
);

-- +goose Down
DROP TABLE grants_used;
DROP TABLE grant_keys;
DROP TABLE gate_rules;
