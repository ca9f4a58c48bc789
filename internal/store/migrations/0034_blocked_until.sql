-- A run of a workflow can wait for tasks and for an instant at the same time: then it is blocked, and defer_until is set.

-- +goose Up
DROP INDEX tasks_deferred;
CREATE INDEX tasks_due ON tasks (defer_until) WHERE defer_until > 0;

-- +goose Down
DROP INDEX tasks_due;
CREATE INDEX tasks_deferred ON tasks (defer_until) WHERE state = 'deferred' AND defer_until > 0;
