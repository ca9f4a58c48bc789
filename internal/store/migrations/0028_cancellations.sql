-- Messages that say why their author cancelled the task.

-- +goose Up
ALTER TABLE messages ADD COLUMN cancels BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE messages DROP COLUMN cancels;
