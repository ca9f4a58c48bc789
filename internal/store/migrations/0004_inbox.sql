-- What the inbox keeps beside the questions. One text for SQLite and
-- PostgreSQL; see 0001_core. A question that nobody holds, puts off or comments
-- costs nothing here.

-- +goose Up

-- When held answers are released. The answer itself is in the resolution of
-- the pending question; a row that is left behind is removed when it is due.
CREATE TABLE held_answers (
    workspace_id TEXT NOT NULL,
    question_id  TEXT NOT NULL,
    release_at   BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, question_id)
);
CREATE INDEX held_answers_due ON held_answers (release_at);

-- Until when a member does not want to see a question.
CREATE TABLE snoozes (
    workspace_id TEXT NOT NULL,
    member_id    TEXT NOT NULL,
    question_id  TEXT NOT NULL,
    until_at     BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, member_id, question_id)
);
CREATE INDEX snoozes_over ON snoozes (until_at);

CREATE TABLE saved_views (
    workspace_id TEXT NOT NULL,
    member_id    TEXT NOT NULL,
    name         TEXT NOT NULL,
    query        TEXT NOT NULL,
    shared       BIGINT NOT NULL DEFAULT 0,
    updated_at   BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, member_id, name)
);

-- Up to which event a member has seen the notifications.
CREATE TABLE read_marks (
    workspace_id TEXT NOT NULL,
    member_id    TEXT NOT NULL,
    seq          BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, member_id)
);

-- A third kind of message: neither database can widen a CHECK in one way.
CREATE TABLE messages_wider (
    workspace_id TEXT NOT NULL,
    id           TEXT NOT NULL,
    task_id      TEXT NOT NULL,
    question_id  TEXT NOT NULL DEFAULT '',
    kind         TEXT NOT NULL CHECK (kind IN ('message', 'clarification', 'comment')),
    author       TEXT NOT NULL,
    body         TEXT NOT NULL,
    handed_to    TEXT NOT NULL DEFAULT '',
    created_at   BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, id)
);
INSERT INTO messages_wider (workspace_id, id, task_id, question_id, kind, author, body, handed_to, created_at)
    SELECT workspace_id, id, task_id, question_id, kind, author, body, handed_to, created_at FROM messages;
DROP TABLE messages;
ALTER TABLE messages_wider RENAME TO messages;
CREATE INDEX messages_of_task ON messages (task_id, workspace_id, id);

-- +goose Down
UPDATE messages SET kind = 'message' WHERE kind = 'comment';
DROP TABLE read_marks;
DROP TABLE saved_views;
DROP TABLE snoozes;
DROP TABLE held_answers;
