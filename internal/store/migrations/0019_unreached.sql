-- Why nobody is told of a question over any channel; empty where somebody is.

-- +goose Up
ALTER TABLE questions ADD COLUMN unreached TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE questions DROP COLUMN unreached;
