-- Who may sign in, by what, and where they are signed in. One text for SQLite
-- and PostgreSQL; see 0001_core. Secrets are stored as hashes.

-- +goose Up
ALTER TABLE members ADD COLUMN name TEXT NOT NULL DEFAULT '';
ALTER TABLE members ADD COLUMN email TEXT NOT NULL DEFAULT '';
-- Roles by project, as JSON.
ALTER TABLE members ADD COLUMN projects TEXT NOT NULL DEFAULT '';
-- Issuer and subject at the identity provider.
ALTER TABLE members ADD COLUMN subject TEXT NOT NULL DEFAULT '';
ALTER TABLE members ADD COLUMN disabled_at BIGINT NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX members_email ON members (workspace_id, email) WHERE email <> '';
CREATE UNIQUE INDEX members_subject ON members (workspace_id, subject) WHERE subject <> '';

CREATE TABLE member_groups (
    workspace_id TEXT NOT NULL,
    name         TEXT NOT NULL,
    description  TEXT NOT NULL DEFAULT '',
    created_at   BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, name)
);

CREATE TABLE browser_sessions (
    workspace_id TEXT NOT NULL,
    id           TEXT NOT NULL,
    hash         TEXT NOT NULL UNIQUE,
    member_id    TEXT NOT NULL,
    method       TEXT NOT NULL CHECK (method IN ('link', 'email', 'invitation', 'oidc', 'passkey')),
    assurance    TEXT NOT NULL CHECK (assurance IN ('link', 'channel', 'session', 'passkey')),
    user_agent   TEXT NOT NULL DEFAULT '',
    created_at   BIGINT NOT NULL,
    last_seen_at BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX browser_sessions_of_member ON browser_sessions (member_id, workspace_id);
CREATE INDEX browser_sessions_age ON browser_sessions (expires_at);

-- One-time links, those in mails, and invitations.
CREATE TABLE sign_in_links (
    workspace_id TEXT NOT NULL,
    id           TEXT NOT NULL,
    hash         TEXT NOT NULL UNIQUE,
    method       TEXT NOT NULL CHECK (method IN ('link', 'email', 'invitation')),
    assurance    TEXT NOT NULL CHECK (assurance IN ('channel', 'session')),
    -- Empty for an invitation that nobody accepted.
    member_id    TEXT NOT NULL DEFAULT '',
    -- What the new member gets, as JSON, and the address that it was sent to.
    invite       TEXT NOT NULL DEFAULT '',
    created_by   TEXT NOT NULL,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    used_at      BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace_id, id)
);
CREATE INDEX sign_in_links_of_member ON sign_in_links (member_id, workspace_id) WHERE member_id <> '';
CREATE INDEX sign_in_links_age ON sign_in_links (expires_at);

-- A sign-in that goes by way of somebody else, half done: what its end must
-- match. A row is taken once.
CREATE TABLE sign_in_flows (
    hash         TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL,
    kind         TEXT NOT NULL CHECK (kind IN ('oidc', 'passkey', 'add_passkey')),
    data         TEXT NOT NULL,
    expires_at   BIGINT NOT NULL
);
CREATE INDEX sign_in_flows_age ON sign_in_flows (expires_at);

CREATE TABLE passkeys (
    workspace_id  TEXT NOT NULL,
    id            TEXT NOT NULL,
    member_id     TEXT NOT NULL,
    name          TEXT NOT NULL,
    credential_id TEXT NOT NULL,
    credential    TEXT NOT NULL,
    created_at    BIGINT NOT NULL,
    last_used_at  BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace_id, id),
    UNIQUE (workspace_id, credential_id)
);
CREATE INDEX passkeys_of_member ON passkeys (member_id, workspace_id);

-- +goose Down
DROP TABLE passkeys;
DROP TABLE sign_in_flows;
DROP TABLE sign_in_links;
DROP TABLE browser_sessions;
DROP TABLE member_groups;
DROP INDEX members_subject;
DROP INDEX members_email;
ALTER TABLE members DROP COLUMN disabled_at;
ALTER TABLE members DROP COLUMN subject;
ALTER TABLE members DROP COLUMN projects;
ALTER TABLE members DROP COLUMN email;
ALTER TABLE members DROP COLUMN name;
