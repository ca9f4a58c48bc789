-- The ranges of the event chain from which retention removed events. Each range is signed, as JSON; they follow one another
-- from event 1 on.

-- +goose Up
CREATE TABLE trimmed_ranges (
    workspace_id TEXT NOT NULL,
    first_seq    BIGINT NOT NULL,
    last_seq     BIGINT NOT NULL,
    removed      BIGINT NOT NULL,
    signed_range TEXT NOT NULL,
    PRIMARY KEY (workspace_id, first_seq)
);

-- +goose Down
DROP TABLE trimmed_ranges;
