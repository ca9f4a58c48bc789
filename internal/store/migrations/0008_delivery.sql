-- How questions reach people: channels, what was sent over them, and how
-- people want to be reached. One text for SQLite and PostgreSQL; see 0001_core.
-- There is no queue beside the rows: a delivery is the job.

-- +goose Up
CREATE TABLE channels (
    workspace_id TEXT NOT NULL,
    id           TEXT NOT NULL,
    name         TEXT NOT NULL,
    kind         TEXT NOT NULL,
    -- With the secrets, as JSON.
    settings     TEXT NOT NULL DEFAULT '',
    enabled      BIGINT NOT NULL,
    built_in     BIGINT NOT NULL DEFAULT 0,
    created_at   BIGINT NOT NULL,
    last_sent_at BIGINT NOT NULL DEFAULT 0,
    last_error   TEXT NOT NULL DEFAULT '',
    last_error_at BIGINT NOT NULL DEFAULT 0,
    failing_since BIGINT NOT NULL DEFAULT 0,
    alerted_at   BIGINT NOT NULL DEFAULT 0,
    -- Which process fetches what came back, and until when.
    listener     TEXT NOT NULL DEFAULT '',
    listens_until BIGINT NOT NULL DEFAULT 0,
    version      BIGINT NOT NULL DEFAULT 1,
    PRIMARY KEY (workspace_id, id),
    UNIQUE (workspace_id, name)
);

-- What a channel keeps of its own between runs.
CREATE TABLE channel_state (
    workspace_id TEXT NOT NULL,
    channel_id   TEXT NOT NULL,
    key          TEXT NOT NULL,
    value        TEXT NOT NULL,
    PRIMARY KEY (workspace_id, channel_id, key)
);

-- Up to which event deliveries are planned, and the routes; no row as long as
-- there is nothing to plan for.
CREATE TABLE delivery_plans (
    workspace_id TEXT PRIMARY KEY,
    event_seq    BIGINT NOT NULL,
    routes       TEXT NOT NULL DEFAULT ''
);

CREATE TABLE deliveries (
    workspace_id TEXT NOT NULL,
    id           TEXT NOT NULL,
    question_id  TEXT NOT NULL DEFAULT '',
    task_id      TEXT NOT NULL DEFAULT '',
    channel_id   TEXT NOT NULL,
    kind         TEXT NOT NULL,
    member_id    TEXT NOT NULL DEFAULT '',
    device_id    TEXT NOT NULL DEFAULT '',
    purpose      TEXT NOT NULL CHECK (purpose IN ('asked', 'reminder', 'escalated', 'digest', 'alert', 'event', 'test')),
    state        TEXT NOT NULL CHECK (state IN ('waiting', 'sent', 'failed', 'dead', 'skipped')),
    reason       TEXT NOT NULL DEFAULT '',
    condition    TEXT NOT NULL DEFAULT '',
    -- The same is planned once.
    unique_key   TEXT NOT NULL,
    -- When something is to be done about it; 0 is never.
    next_at      BIGINT NOT NULL,
    leased_until BIGINT NOT NULL DEFAULT 0,
    attempts     BIGINT NOT NULL DEFAULT 0,
    tries        BIGINT NOT NULL DEFAULT 0,
    deferrals    BIGINT NOT NULL DEFAULT 0,
    last_error   TEXT NOT NULL DEFAULT '',
    created_at   BIGINT NOT NULL,
    sent_at      BIGINT NOT NULL DEFAULT 0,
    updated_at   BIGINT NOT NULL DEFAULT 0,
    shows        TEXT NOT NULL DEFAULT '',
    event_seq    BIGINT NOT NULL DEFAULT 0,
    -- The event that the message must show, and the one that it does.
    wanted       BIGINT NOT NULL DEFAULT 0,
    shown        BIGINT NOT NULL DEFAULT 0,
    decides      BIGINT NOT NULL DEFAULT 0,
    ref          TEXT NOT NULL DEFAULT '',
    title        TEXT NOT NULL DEFAULT '',
    body         TEXT NOT NULL DEFAULT '',
    history      TEXT NOT NULL DEFAULT '',
    -- What was sent, as it was sent.
    content      TEXT NOT NULL DEFAULT '',
    version      BIGINT NOT NULL DEFAULT 1,
    PRIMARY KEY (workspace_id, id)
);
CREATE UNIQUE INDEX deliveries_once ON deliveries (workspace_id, unique_key);
CREATE INDEX deliveries_due ON deliveries (channel_id, next_at) WHERE next_at > 0;
CREATE INDEX deliveries_of_question ON deliveries (question_id, workspace_id, id) WHERE question_id <> '';

-- Who members are in the systems behind channels.
CREATE TABLE identities (
    workspace_id TEXT NOT NULL,
    kind         TEXT NOT NULL,
    id           TEXT NOT NULL,
    name         TEXT NOT NULL DEFAULT '',
    member_id    TEXT NOT NULL,
    created_at   BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, kind, id),
    UNIQUE (workspace_id, member_id, kind)
);

CREATE TABLE preferences (
    workspace_id TEXT NOT NULL,
    member_id    TEXT NOT NULL,
    wishes       TEXT NOT NULL,
    PRIMARY KEY (workspace_id, member_id)
);

-- Browsers that messages are pushed to. An endpoint belongs to one of them.
CREATE TABLE devices (
    workspace_id TEXT NOT NULL,
    id           TEXT NOT NULL,
    member_id    TEXT NOT NULL,
    name         TEXT NOT NULL,
    endpoint_hash TEXT NOT NULL,
    subscription TEXT NOT NULL,
    created_at   BIGINT NOT NULL,
    last_sent_at BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace_id, id),
    UNIQUE (workspace_id, endpoint_hash)
);
CREATE INDEX devices_of_member ON devices (member_id, workspace_id);

-- What came back over a channel and was dealt with: the same counts once, and
-- gets the same reply.
CREATE TABLE inbound (
    workspace_id TEXT NOT NULL,
    channel_id   TEXT NOT NULL,
    id           TEXT NOT NULL,
    verdict      TEXT NOT NULL,
    at           BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, channel_id, id)
);
CREATE INDEX inbound_age ON inbound (at);

-- Keys that the server makes for itself at their first use.
CREATE TABLE delivery_keys (
    workspace_id TEXT NOT NULL,
    name         TEXT NOT NULL,
    secret       BYTEA NOT NULL,
    created_at   BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, name)
);

-- Who has a page open at which process, so that nobody is sent what is on the
-- screen already.
CREATE TABLE open_pages (
    process      TEXT NOT NULL,
    workspace_id TEXT NOT NULL,
    members      TEXT NOT NULL,
    until_at     BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, process)
);

-- +goose Down
DROP TABLE open_pages;
DROP TABLE delivery_keys;
DROP TABLE inbound;
DROP TABLE devices;
DROP TABLE preferences;
DROP TABLE identities;
DROP TABLE deliveries;
DROP TABLE delivery_plans;
DROP TABLE channel_state;
DROP TABLE channels;
