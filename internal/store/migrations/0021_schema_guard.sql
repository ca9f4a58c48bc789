-- A database says which programs may use it, and a run how long its lease is.
--
-- A migration whose result an older program would damage begins with
--     UPDATE workspaces SET min_compatible_version = <its own number>;
-- The update waits for the writes under way, and every later write of an older program is refused.

-- +goose Up
ALTER TABLE workspaces ADD COLUMN min_compatible_version BIGINT NOT NULL DEFAULT 21;
ALTER TABLE runs ADD COLUMN lease_ms BIGINT NOT NULL DEFAULT 60000;

-- +goose Down
ALTER TABLE runs DROP COLUMN lease_ms;
ALTER TABLE workspaces DROP COLUMN min_compatible_version;
