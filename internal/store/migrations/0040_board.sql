-- The condition of the board's index has comparisons in place of a list. SQLite puts a list of more than two values into a
-- table, and did so for each write of a task. One text for SQLite and PostgreSQL; see 0001_core.

-- +goose Up
DROP INDEX tasks_board;
CREATE INDEX tasks_board ON tasks (workspace_id, (state || ''), id)
	WHERE state <> 'awaiting_input' AND state <> 'awaiting_approval' AND state <> 'input_received';

-- +goose Down
DROP INDEX tasks_board;
CREATE INDEX tasks_board ON tasks (workspace_id, (state || ''), id)
	WHERE state NOT IN ('awaiting_input', 'awaiting_approval', 'input_received');
