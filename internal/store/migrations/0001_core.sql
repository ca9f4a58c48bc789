-- One text for SQLite and PostgreSQL. Times are Unix milliseconds, 0 is none;
-- JSON is TEXT, '' is none; hashes are bytes. Every table leads with the workspace.
--
-- Indexes beside the primary key that find rows by another row's id lead with
-- that id: before PostgreSQL has analyzed a table, any index that leads with
-- the workspace looks as good to it as the right one, and it would read the
-- whole workspace through it.

-- +goose Up
CREATE TABLE workspaces (
    id          TEXT PRIMARY KEY,
    name        TEXT NOT NULL,
    -- The number and the hash of the last event: the counter row.
    event_seq   BIGINT NOT NULL DEFAULT 0,
    event_hash  BYTEA NOT NULL DEFAULT '',
    policy      TEXT NOT NULL DEFAULT '',
    created_at  BIGINT NOT NULL
);

CREATE TABLE projects (
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    name         TEXT NOT NULL,
    created_at   BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, name)
);

CREATE TABLE members (
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    id           TEXT NOT NULL,
    handle       TEXT NOT NULL,
    role         TEXT NOT NULL CHECK (role IN ('viewer', 'responder', 'operator', 'admin')),
    member_groups TEXT NOT NULL DEFAULT '',
    created_at   BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, id),
    UNIQUE (workspace_id, handle)
);

CREATE TABLE tokens (
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    id           TEXT NOT NULL,
    hash         TEXT NOT NULL UNIQUE,
    name         TEXT NOT NULL,
    kind         TEXT NOT NULL CHECK (kind IN ('human', 'agent')),
    member_id    TEXT NOT NULL DEFAULT '',
    scopes       TEXT NOT NULL,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL DEFAULT 0,
    last_used_at BIGINT NOT NULL DEFAULT 0,
    revoked_at   BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace_id, id),
    -- An agent's token can neither answer nor administer.
    CHECK (kind = 'human' OR (scopes NOT LIKE '%answer%' AND scopes NOT LIKE '%admin%'))
);

CREATE TABLE tasks (
    workspace_id TEXT NOT NULL,
    id           TEXT NOT NULL,
    project      TEXT NOT NULL,
    parent_id    TEXT NOT NULL DEFAULT '',
    title        TEXT NOT NULL,
    body         TEXT NOT NULL DEFAULT '',
    state        TEXT NOT NULL CHECK (state IN ('open', 'blocked', 'deferred', 'in_progress', 'awaiting_input',
        'awaiting_approval', 'input_received', 'done', 'failed', 'cancelled', 'skipped')),
    reason       TEXT NOT NULL DEFAULT '',
    priority     BIGINT NOT NULL,
    size         TEXT NOT NULL DEFAULT '',
    agent        TEXT NOT NULL DEFAULT '',
    runner       TEXT NOT NULL DEFAULT '',
    labels       TEXT NOT NULL DEFAULT '',
    spec         TEXT NOT NULL DEFAULT '',
    blocked_by   TEXT NOT NULL DEFAULT '',
    defer_until  BIGINT NOT NULL DEFAULT 0,
    attempts     BIGINT NOT NULL DEFAULT 0,
    max_attempts BIGINT NOT NULL,
    runs         BIGINT NOT NULL DEFAULT 0,
    run_id       TEXT NOT NULL DEFAULT '',
    session      TEXT NOT NULL DEFAULT '',
    checkpoint   TEXT NOT NULL DEFAULT '',
    summary      TEXT NOT NULL DEFAULT '',
    pending_question_id TEXT NOT NULL DEFAULT '',
    unread       BIGINT NOT NULL DEFAULT 0,
    ends_with_answer BIGINT NOT NULL DEFAULT 0,
    session_key  TEXT NOT NULL DEFAULT '',
    created_by   TEXT NOT NULL,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    version      BIGINT NOT NULL DEFAULT 1,
    PRIMARY KEY (workspace_id, id)
);
-- Claims read the first row of these in order; suspended and ended tasks are
-- in neither, so a claim costs the same beside a million of them.
CREATE INDEX tasks_claim_open ON tasks (workspace_id, priority, id) WHERE state = 'open';
CREATE INDEX tasks_claim_received ON tasks (workspace_id, priority, id) WHERE state = 'input_received';
CREATE INDEX tasks_deferred ON tasks (defer_until) WHERE state = 'deferred' AND defer_until > 0;
CREATE INDEX tasks_children ON tasks (parent_id, workspace_id, id) WHERE parent_id <> '';
CREATE INDEX tasks_session_key ON tasks (session_key, workspace_id) WHERE session_key <> '';

CREATE TABLE task_dependencies (
    workspace_id TEXT NOT NULL,
    task_id      TEXT NOT NULL,
    blocks_on    TEXT NOT NULL,
    PRIMARY KEY (workspace_id, task_id, blocks_on)
);
CREATE INDEX task_dependents ON task_dependencies (blocks_on, workspace_id);

CREATE TABLE runs (
    workspace_id TEXT NOT NULL,
    id           TEXT NOT NULL,
    task_id      TEXT NOT NULL,
    attempt      BIGINT NOT NULL,
    state        TEXT NOT NULL CHECK (state IN ('running', 'finished', 'lost', 'released')),
    worker       TEXT NOT NULL,
    runner       TEXT NOT NULL DEFAULT '',
    token        BIGINT NOT NULL,
    lease_until  BIGINT NOT NULL,
    claimed_from TEXT NOT NULL,
    result       TEXT NOT NULL DEFAULT '' CHECK (result IN ('', 'completed', 'failed', 'blocked', 'needs_input')),
    summary      TEXT NOT NULL DEFAULT '',
    details      TEXT NOT NULL DEFAULT '',
    question_id  TEXT NOT NULL DEFAULT '',
    started_at   BIGINT NOT NULL,
    ended_at     BIGINT NOT NULL DEFAULT 0,
    log_size     BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX runs_of_task ON runs (task_id, workspace_id, token);
CREATE INDEX runs_leases ON runs (lease_until) WHERE state = 'running';

-- Output of runs is no event: it is kept beside them.
CREATE TABLE run_log (
    workspace_id TEXT NOT NULL,
    run_id       TEXT NOT NULL,
    byte_offset  BIGINT NOT NULL,
    text         TEXT NOT NULL,
    at           BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, run_id, byte_offset)
);

CREATE TABLE questions (
    workspace_id TEXT NOT NULL,
    id           TEXT NOT NULL,
    task_id      TEXT NOT NULL,
    run_id       TEXT NOT NULL DEFAULT '',
    project      TEXT NOT NULL,
    type         TEXT NOT NULL CHECK (type IN ('blocking', 'non_blocking', 'approval', 'error_recovery')),
    status       TEXT NOT NULL CHECK (status IN ('pending', 'answered', 'timed_out', 'cancelled')),
    title        TEXT NOT NULL,
    priority     BIGINT NOT NULL,
    -- The deadline; one beyond every other for a question without.
    deadline     BIGINT NOT NULL,
    assignees    TEXT NOT NULL DEFAULT '',
    idempotency_key TEXT NOT NULL DEFAULT '',
    dedupe_key   TEXT NOT NULL DEFAULT '',
    fingerprint  TEXT NOT NULL DEFAULT '',
    -- What was asked, frozen when it opened, as JSON.
    asked        TEXT NOT NULL,
    escalation_level BIGINT NOT NULL DEFAULT 0,
    ask_count    BIGINT NOT NULL DEFAULT 1,
    votes        TEXT NOT NULL DEFAULT '',
    resolution   TEXT NOT NULL DEFAULT '',
    handed_to    TEXT NOT NULL DEFAULT '',
    created_at   BIGINT NOT NULL,
    version      BIGINT NOT NULL DEFAULT 1,
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX questions_inbox ON questions (workspace_id, priority, deadline, id) WHERE status = 'pending';
CREATE INDEX questions_deadlines ON questions (deadline) WHERE status = 'pending';
CREATE INDEX questions_of_task ON questions (task_id, workspace_id, id);
-- The last guard of two rules: one pending suspending question per task, and
-- one question per idempotency key.
CREATE UNIQUE INDEX questions_one_pending ON questions (task_id, workspace_id)
    WHERE status = 'pending' AND type <> 'non_blocking';
CREATE UNIQUE INDEX questions_idempotency ON questions (workspace_id, idempotency_key) WHERE idempotency_key <> '';

CREATE TABLE messages (
    workspace_id TEXT NOT NULL,
    id           TEXT NOT NULL,
    task_id      TEXT NOT NULL,
    question_id  TEXT NOT NULL DEFAULT '',
    kind         TEXT NOT NULL CHECK (kind IN ('message', 'clarification')),
    author       TEXT NOT NULL,
    body         TEXT NOT NULL,
    handed_to    TEXT NOT NULL DEFAULT '',
    created_at   BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX messages_of_task ON messages (task_id, workspace_id, id);

CREATE TABLE events (
    workspace_id TEXT NOT NULL,
    seq          BIGINT NOT NULL,
    type         TEXT NOT NULL,
    task_id      TEXT NOT NULL DEFAULT '',
    question_id  TEXT NOT NULL DEFAULT '',
    run_id       TEXT NOT NULL DEFAULT '',
    actor_kind   TEXT NOT NULL,
    actor_id     TEXT NOT NULL DEFAULT '',
    actor_name   TEXT NOT NULL DEFAULT '',
    at           BIGINT NOT NULL,
    data         TEXT NOT NULL DEFAULT '',
    -- The hash of the event before; the last one's own is in workspaces.
    prev_hash    BYTEA NOT NULL,
    PRIMARY KEY (workspace_id, seq)
);
CREATE INDEX events_of_task ON events (task_id, seq) WHERE task_id <> '';

CREATE TABLE idempotency (
    workspace_id TEXT NOT NULL,
    caller       TEXT NOT NULL,
    key          TEXT NOT NULL,
    fingerprint  TEXT NOT NULL,
    result       TEXT NOT NULL,
    created_at   BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, caller, key)
);
CREATE INDEX idempotency_age ON idempotency (created_at);

INSERT INTO workspaces (id, name, created_at) VALUES ('default', 'default', 0);
INSERT INTO projects (workspace_id, name, created_at) VALUES ('default', 'default', 0);

-- +goose Down
DROP TABLE idempotency;
DROP TABLE events;
DROP TABLE messages;
DROP TABLE questions;
DROP TABLE run_log;
DROP TABLE runs;
DROP TABLE task_dependencies;
DROP TABLE tasks;
DROP TABLE tokens;
DROP TABLE members;
DROP TABLE projects;
DROP TABLE workspaces;
