-- A worker that takes the tasks of some projects or roles only reads the first tasks of their kinds. One text for SQLite and
-- PostgreSQL; see 0001_core.

-- +goose Up
CREATE INDEX tasks_claim_kind ON tasks (workspace_id, runner, isolated, project, agent, state, priority, id)
	WHERE state IN ('open', 'input_received');

-- +goose Down
DROP INDEX tasks_claim_kind;
