-- Projects can be hidden: from members by the role none, and from agents by the projects of their tokens. A program that
-- knows neither would show everything. One text for SQLite and PostgreSQL; see 0001_core.

-- +goose Up
UPDATE workspaces SET min_compatible_version = 29;
ALTER TABLE tokens ADD COLUMN projects TEXT NOT NULL DEFAULT '';
-- Neither database can widen a CHECK in one way.
CREATE TABLE members_wider (
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    id           TEXT NOT NULL,
    handle       TEXT NOT NULL,
    role         TEXT NOT NULL CHECK (role IN ('none', 'viewer', 'responder', 'operator', 'admin')),
    member_groups TEXT NOT NULL DEFAULT '',
    created_at   BIGINT NOT NULL,
    name         TEXT NOT NULL DEFAULT '',
    email        TEXT NOT NULL DEFAULT '',
    projects     TEXT NOT NULL DEFAULT '',
    subject      TEXT NOT NULL DEFAULT '',
    disabled_at  BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace_id, id),
    UNIQUE (workspace_id, handle)
);
INSERT INTO members_wider (workspace_id, id, handle, role, member_groups, created_at, name, email, projects, subject, disabled_at)
    SELECT workspace_id, id, handle, role, member_groups, created_at, name, email, projects, subject, disabled_at FROM members;
DROP TABLE members;
ALTER TABLE members_wider RENAME TO members;
CREATE UNIQUE INDEX members_email ON members (workspace_id, email) WHERE email <> '';
CREATE UNIQUE INDEX members_subject ON members (workspace_id, subject) WHERE subject <> '';

-- +goose Down
UPDATE members SET role = 'viewer' WHERE role = 'none';
CREATE TABLE members_narrower (
    workspace_id TEXT NOT NULL REFERENCES workspaces (id),
    id           TEXT NOT NULL,
    handle       TEXT NOT NULL,
    role         TEXT NOT NULL CHECK (role IN ('viewer', 'responder', 'operator', 'admin')),
    member_groups TEXT NOT NULL DEFAULT '',
    created_at   BIGINT NOT NULL,
    name         TEXT NOT NULL DEFAULT '',
    email        TEXT NOT NULL DEFAULT '',
    projects     TEXT NOT NULL DEFAULT '',
    subject      TEXT NOT NULL DEFAULT '',
    disabled_at  BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace_id, id),
    UNIQUE (workspace_id, handle)
);
INSERT INTO members_narrower (workspace_id, id, handle, role, member_groups, created_at, name, email, projects, subject, disabled_at)
    SELECT workspace_id, id, handle, role, member_groups, created_at, name, email, projects, subject, disabled_at FROM members;
DROP TABLE members;
ALTER TABLE members_narrower RENAME TO members;
CREATE UNIQUE INDEX members_email ON members (workspace_id, email) WHERE email <> '';
CREATE UNIQUE INDEX members_subject ON members (workspace_id, subject) WHERE subject <> '';
ALTER TABLE tokens DROP COLUMN projects;
UPDATE workspaces SET min_compatible_version = 22;
