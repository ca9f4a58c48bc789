-- The labels of tasks and the assignees of questions, each in a row of its own, so that a list by one of them reads only its
-- rows. The next migration fills the tables. A program that does not know them would leave them incomplete. One text for
-- SQLite and PostgreSQL; see 0001_core.

-- +goose Up
UPDATE workspaces SET min_compatible_version = 42;
CREATE TABLE task_labels (
    workspace_id TEXT NOT NULL,
    task_id      TEXT NOT NULL,
    label        TEXT NOT NULL,
    PRIMARY KEY (workspace_id, task_id, label)
);
CREATE INDEX tasks_of_label ON task_labels (label, workspace_id, task_id);
-- Everybody to whom a question was ever assigned. The names are in lower case.
CREATE TABLE question_assignees (
    workspace_id TEXT NOT NULL,
    question_id  TEXT NOT NULL,
    assignee     TEXT NOT NULL,
    -- 1 when the question has closed, so that the open questions of a person are found among earlier ones.
    closed       BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace_id, question_id, assignee)
);
CREATE INDEX questions_of_assignee ON question_assignees (assignee, workspace_id, closed, question_id);

-- +goose Down
DROP TABLE question_assignees;
DROP TABLE task_labels;
UPDATE workspaces SET min_compatible_version = 32;
