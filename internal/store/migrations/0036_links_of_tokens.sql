-- A sign-in link or an invitation that was made with a token ends with it. Earlier ones have no token in this column.

-- +goose Up
ALTER TABLE sign_in_links ADD COLUMN made_with TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE sign_in_links DROP COLUMN made_with;
