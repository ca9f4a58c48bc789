-- What people look at as a whole: the board of tasks. One text for SQLite and
-- PostgreSQL; see 0001_core.

-- +goose Up
-- The newest tasks of a state, and how many there are. The state stands in an
-- expression, so that no query of the engine, which names the bare column, can
-- take this index for its own. Tasks that wait for a person are found through
-- their questions, and those with an answer through the index of claims: they
-- take no room here.
CREATE INDEX tasks_board ON tasks (workspace_id, (state || ''), id)
    WHERE state NOT IN ('awaiting_input', 'awaiting_approval', 'input_received');

-- +goose Down
DROP INDEX tasks_board;
