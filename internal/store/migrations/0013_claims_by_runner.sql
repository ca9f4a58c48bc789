-- Whoever claims asks for tasks of its runners: those of others are not looked at.

-- +goose Up
DROP INDEX tasks_claim_open;
DROP INDEX tasks_claim_received;
CREATE INDEX tasks_claim_open ON tasks (runner, workspace_id, priority, id) WHERE state = 'open';
CREATE INDEX tasks_claim_received ON tasks (runner, workspace_id, priority, id) WHERE state = 'input_received';

-- +goose Down
DROP INDEX tasks_claim_open;
DROP INDEX tasks_claim_received;
CREATE INDEX tasks_claim_open ON tasks (workspace_id, priority, id) WHERE state = 'open';
CREATE INDEX tasks_claim_received ON tasks (workspace_id, priority, id) WHERE state = 'input_received';
