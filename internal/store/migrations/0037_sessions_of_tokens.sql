-- A session ends with the token with which its sign-in link was made, if both are of one member. Earlier sessions have no token in
-- this column. One text for SQLite and PostgreSQL; see 0001_core.

-- +goose Up
ALTER TABLE browser_sessions ADD COLUMN made_with TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE browser_sessions DROP COLUMN made_with;
