-- The inbox's index knows for whom a question is, so that the few questions of
-- one person are found among many of others without reading those. A question
-- for nobody in particular takes one byte more. One text for SQLite and
-- PostgreSQL; see 0001_core.

-- +goose Up
DROP INDEX questions_inbox;
CREATE INDEX questions_inbox ON questions (workspace_id, priority, deadline, id, assignees) WHERE status = 'pending';

-- +goose Down
DROP INDEX questions_inbox;
CREATE INDEX questions_inbox ON questions (workspace_id, priority, deadline, id) WHERE status = 'pending';
