-- Which worker claimed a task last, and which token it gives its agents.

-- +goose Up
ALTER TABLE tasks ADD COLUMN worker_token_id TEXT NOT NULL DEFAULT '';
ALTER TABLE tasks ADD COLUMN agent_token_id TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE tasks DROP COLUMN agent_token_id;
ALTER TABLE tasks DROP COLUMN worker_token_id;
