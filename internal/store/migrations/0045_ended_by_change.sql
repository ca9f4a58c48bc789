-- The ended tasks by their last change. A task enters this index when it ends. See 0041_pages.

-- +goose Up
CREATE INDEX tasks_ended ON tasks ((state || ''), workspace_id, updated_at, id)
    WHERE (state = 'done' OR state = 'failed' OR state = 'cancelled' OR state = 'skipped');

-- +goose Down
DROP INDEX tasks_ended;
