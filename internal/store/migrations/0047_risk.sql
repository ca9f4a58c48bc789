-- The risk of a question, for the sections of the inbox. The next migration fills the column. A question that a program of an
-- earlier version asks during an upgrade counts as one of low risk there. One text for SQLite and PostgreSQL; see 0001_core.

-- +goose Up
ALTER TABLE questions ADD COLUMN risk TEXT NOT NULL DEFAULT 'low';
CREATE INDEX questions_high_risk ON questions (workspace_id, priority, deadline, id) WHERE status = 'pending' AND risk IN ('high', 'critical');
CREATE INDEX questions_pending ON questions (workspace_id, id) WHERE status = 'pending';

-- +goose Down
DROP INDEX questions_pending;
DROP INDEX questions_high_risk;
ALTER TABLE questions DROP COLUMN risk;
