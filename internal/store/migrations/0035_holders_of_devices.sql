-- A device gets messages as long as the session or the token lasts with which it was added. Of earlier devices it is not known: they
-- end when all sessions of their person end. One text for SQLite and PostgreSQL; see 0001_core.

-- +goose Up
ALTER TABLE devices ADD COLUMN holder TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE devices DROP COLUMN holder;
