-- What channels subscribed to until their last change, while events of before are not planned yet.

-- +goose Up
ALTER TABLE delivery_plans ADD COLUMN earlier TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE delivery_plans DROP COLUMN earlier;
