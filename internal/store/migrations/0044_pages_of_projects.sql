-- The tasks and the questions of a project, in the order of their ids. The project of a task never changes, so a write
-- touches these indexes only once. See 0041_pages.

-- +goose Up
CREATE INDEX tasks_of_project ON tasks ((project || ''), workspace_id, id);
CREATE INDEX questions_of_project ON questions ((project || ''), workspace_id, id);

-- +goose Down
DROP INDEX questions_of_project;
DROP INDEX tasks_of_project;
