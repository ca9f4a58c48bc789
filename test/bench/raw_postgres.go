package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// rawPostgres sends a whole transaction in one round trip.
type rawPostgres struct{ conn *pgx.Conn }

func openRawPostgres(ctx context.Context, url string) (sink, error) {
	conn, err := pgx.Connect(ctx, url)
	return &rawPostgres{conn}, err
}

func (p *rawPostgres) commit(ctx context.Context, writes []rawWrite) error {
	batch := &pgx.Batch{}
	batch.Queue("BEGIN")
	for _, w := range writes {
		batch.Queue(w.sql, w.args...)
	}
	batch.Queue("COMMIT")
	results := p.conn.SendBatch(ctx, batch)
	_, err := results.Exec()
	for _, w := range writes {
		tag, execErr := results.Exec()
		if execErr == nil && tag.RowsAffected() != 1 {
			execErr = fmt.Errorf("%d rows changed: %s", tag.RowsAffected(), w.sql)
		}
		err = errors.Join(err, execErr)
	}
	_, commitErr := results.Exec()
	return errors.Join(err, commitErr, results.Close())
}
