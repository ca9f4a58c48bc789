-- The end of a run records that the workers of its name were heard. Many workers may be in the list, so they are found by
-- their name. One text for SQLite and PostgreSQL; see 0001_core.

-- +goose Up
CREATE INDEX workers_name ON workers (name, workspace_id);

-- +goose Down
DROP INDEX workers_name;
