-- An index that leads with the workspace is as good as the one of the ids to a
-- database that plans while the table is small, and reads the whole workspace
-- once it has grown. This one leads with the key.

-- +goose Up
DROP INDEX deliveries_once;
CREATE UNIQUE INDEX deliveries_once ON deliveries (unique_key, workspace_id);

-- +goose Down
DROP INDEX deliveries_once;
CREATE UNIQUE INDEX deliveries_once ON deliveries (workspace_id, unique_key);
