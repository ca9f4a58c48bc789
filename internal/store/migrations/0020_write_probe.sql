-- The server writes this one row now and then, to know whether the database takes writes.

-- +goose Up
CREATE TABLE write_probe (
	id BIGINT PRIMARY KEY CHECK (id = 1),
	written_at BIGINT NOT NULL
);

-- +goose Down
DROP TABLE write_probe;
