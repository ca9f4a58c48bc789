-- The idempotency key of a question belongs to its asker. Before, whoever guessed a key could take it first. Earlier questions
-- have no asker in this column, but in their frozen part. One text for SQLite and PostgreSQL; see 0001_core.

-- +goose Up
ALTER TABLE questions ADD COLUMN asker TEXT NOT NULL DEFAULT '';
DROP INDEX questions_idempotency;
CREATE UNIQUE INDEX questions_idempotency ON questions (workspace_id, idempotency_key, asker) WHERE idempotency_key <> '';

-- +goose Down
DROP INDEX questions_idempotency;
-- Only the first asker keeps a key.
UPDATE questions SET idempotency_key = '' WHERE idempotency_key <> '' AND EXISTS (SELECT 1 FROM questions q
    WHERE q.workspace_id = questions.workspace_id AND q.idempotency_key = questions.idempotency_key AND q.id < questions.id);
CREATE UNIQUE INDEX questions_idempotency ON questions (workspace_id, idempotency_key) WHERE idempotency_key <> '';
ALTER TABLE questions DROP COLUMN asker;
