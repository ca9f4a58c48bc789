package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/fermata-hq/fermata"
)

const (
	// removeBearersVersion is the schema version of the migration.
	removeBearersVersion = 25
	// cleanPageSize is how many deliveries are read at a time.
	cleanPageSize = 200
)

// removeBearers removes answer links and the secrets of replies from the stored
// copies of messages that earlier versions sent.
func removeBearers(ctx context.Context, tx *sql.Tx) error {
	for workspace, id := "", ""; ; {
		page, err := deliveriesAfter(ctx, tx, workspace, id)
		if err != nil || len(page) == 0 {
			return errors.Join(err, cleanChannels(ctx, tx))
		}
		for _, row := range page {
			if err := row.clean(ctx, tx); err != nil {
				return err
			}
		}
		last := page[len(page)-1]
		workspace, id = last.workspace, last.id
	}
}

// keptDelivery is the stored content and the stored errors of a delivery.
type keptDelivery struct{ workspace, id, content, lastError, history string }

// deliveriesAfter reads the next deliveries after the given one, in the order
// of their ids.
func deliveriesAfter(ctx context.Context, tx *sql.Tx, workspace, id string) (page []keptDelivery, err error) {
	rs, err := tx.QueryContext(ctx, `SELECT workspace_id, id, content, last_error, history FROM deliveries
		WHERE (workspace_id, id) > ($1, $2) ORDER BY workspace_id, id LIMIT $3`, workspace, id, cleanPageSize)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rs.Close()) }()
	err = scanEach(rs, func(rs rows) (keptDelivery, error) {
		var d keptDelivery
		return d, rs.Scan(&d.workspace, &d.id, &d.content, &d.lastError, &d.history)
	}, func(d keptDelivery) { page = append(page, d) })
	return page, errors.Join(err, rs.Err())
}

// clean rewrites the row without answer links and secrets, if it contains any.
func (d keptDelivery) clean(ctx context.Context, tx *sql.Tx) error {
	delivery := &fermata.Delivery{ID: d.id}
	cleaned := keptDelivery{d.workspace, d.id, delivery.RemoveSecrets(d.content), delivery.RemoveSecrets(d.lastError), delivery.RemoveSecrets(d.history)}
	if cleaned == d {
		return nil
	}
	_, err := tx.ExecContext(ctx, "UPDATE deliveries SET content = $1, last_error = $2, history = $3 WHERE workspace_id = $4 AND id = $5",
		cleaned.content, cleaned.lastError, cleaned.history, cleaned.workspace, cleaned.id)
	return err
}

// cleanChannels removes links from the last errors of channels.
func cleanChannels(ctx context.Context, tx *sql.Tx) error {
	all, err := failedChannels(ctx, tx)
	if err != nil {
		return err
	}
	for _, c := range all {
		clean := fermata.RemoveAnswerLinks(c.lastError)
		if clean == c.lastError {
			continue
		}
		if _, err := tx.ExecContext(ctx, "UPDATE channels SET last_error = $1 WHERE workspace_id = $2 AND id = $3", clean, c.workspace, c.id); err != nil {
			return err
		}
	}
	return nil
}

// failedChannels reads the channels that have a stored error.
func failedChannels(ctx context.Context, tx *sql.Tx) (all []keptDelivery, err error) {
	rs, err := tx.QueryContext(ctx, "SELECT workspace_id, id, last_error FROM channels WHERE last_error <> ''")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rs.Close()) }()
	err = scanEach(rs, func(rs rows) (keptDelivery, error) {
		var c keptDelivery
		return c, rs.Scan(&c.workspace, &c.id, &c.lastError)
	}, func(c keptDelivery) { all = append(all, c) })
	return all, errors.Join(err, rs.Err())
}
