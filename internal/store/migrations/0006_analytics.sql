-- What analytics read: one narrow row for each question that has closed, in the
-- order in which they were asked. The questions themselves are wide, and a month
-- of them would be read from all over the table.

-- +goose Up
CREATE TABLE closings (
    workspace_id TEXT NOT NULL,
    asked_at     BIGINT NOT NULL,
    question_id  TEXT NOT NULL,
    closed_at    BIGINT NOT NULL,
    project      TEXT NOT NULL,
    type         TEXT NOT NULL,
    status       TEXT NOT NULL,
    decided_by   TEXT NOT NULL,
    -- The id of who answered, and where; '' when nobody did.
    responder    TEXT NOT NULL,
    channel      TEXT NOT NULL,
    -- The title without what differs from one time to the next.
    alike        TEXT NOT NULL,
    PRIMARY KEY (workspace_id, asked_at, question_id)
);

-- +goose Down
DROP TABLE closings;
