-- How often the links by which a member answers without signing in were
-- revoked. The links themselves are signed, and not kept.

-- +goose Up
CREATE TABLE answer_link_generations (
    workspace_id TEXT NOT NULL,
    member_id    TEXT NOT NULL,
    generation   BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, member_id)
);

-- +goose Down
DROP TABLE answer_link_generations;
