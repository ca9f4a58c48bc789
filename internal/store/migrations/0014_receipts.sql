-- When a message was handed to its run, and how much a run was handed.

-- +goose Up
ALTER TABLE messages ADD COLUMN handed_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN handed BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE runs DROP COLUMN handed;
ALTER TABLE messages DROP COLUMN handed_at;
