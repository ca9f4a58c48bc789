package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fermata-hq/fermata/internal/engine"
)

// manyWorkspaces is the number of workspaces side by side.
const manyWorkspaces = 8

// workspaces measures whether workspaces in one PostgreSQL wait for each other.
func (b *bench) workspaces(ctx context.Context) (err error) {
	if !slices.Contains(b.kinds, postgres) {
		return nil
	}
	d, err := b.newDatabase(ctx, postgres, "workspaces")
	if err != nil {
		return err
	}
	var all []tokens
	for i := range manyWorkspaces {
		k, err := d.addWorkspace(ctx, fmt.Sprintf("team-%d", i))
		if err != nil {
			return err
		}
		all = append(all, k)
	}
	server, err := b.serve(ctx, d)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.stop(), d.drop(ctx)) }()
	if err := b.compareShared(ctx, server, all); err != nil {
		return err
	}
	return b.judgeBlocked(ctx, d, server, all)
}

// addWorkspace adds a workspace with tokens. A server of today creates only one, but serves all that the database has.
func (d *database) addWorkspace(ctx context.Context, name string) (k tokens, err error) {
	err = d.runAll(ctx, fmt.Sprintf(`INSERT INTO workspaces (id, name, created_at, min_compatible_version)
		SELECT '%[1]s', '%[1]s', 0, min_compatible_version FROM workspaces WHERE id = 'default'`, name))
	if err != nil {
		return k, err
	}
	by := operator
	by.WorkspaceID = name
	err = d.withEngine(ctx, func(e *engine.Engine) (err error) {
		k, err = makeTokens(ctx, e, by)
		return err
	})
	return k, err
}

// compareShared compares clients that share one workspace with as many that work in several.
func (b *bench) compareShared(ctx context.Context, server *process, all []tokens) error {
	const clients = 64
	shared := pool()
	sides := []side{
		{"one workspace", func(i int) cycler { return newClient(shared, server.url, all[0], i) }},
		{"several workspaces", func(i int) cycler { return newClient(shared, server.url, all[i%len(all)], i) }},
	}
	rounds, length := b.rounds()
	rates, err := measureInTurns(ctx, sides, clients, rounds, length)
	if err != nil {
		return err
	}
	b.reportFact(fmt.Sprintf("%d clients in %d workspaces, beside all in one", clients, len(all)), title(postgres),
		fmt.Sprintf("%.0f cycles/s beside %.0f", rates[1], rates[0]))
	return nil
}

// judgeBlocked compares writes to a workspace alone with the same writes while another workspace cannot write: a transaction
// holds its counter row, and many clients wait for it.
func (b *bench) judgeBlocked(ctx context.Context, d *database, server *process, all []tokens) error {
	const bar, waiting, samples = 1.5, 16, 100
	shared := pool()
	free := newClient(shared, server.url, all[1], 0)
	alone, err := sampleCreates(ctx, free, samples)
	if err != nil {
		return err
	}
	var beside []time.Duration
	var blocked sync.WaitGroup
	err = onPostgres(ctx, d.url, func(conn *pgx.Conn) error {
		tx, err := conn.Begin(ctx)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "SELECT 1 FROM workspaces WHERE id = 'team-0' FOR UPDATE"); err != nil {
			return errors.Join(err, tx.Rollback(ctx))
		}
		for i := range waiting {
			// These writes may be refused, because they wait for too long.
			blocked.Go(func() { _ = newClient(shared, server.url, all[0], i).create(ctx) })
		}
		beside, err = sampleCreates(ctx, free, samples)
		return errors.Join(err, tx.Rollback(ctx))
	})
	blocked.Wait()
	if err != nil {
		return err
	}
	ratio := float64(median(beside)) / float64(median(alone))
	b.judge("a write, while another workspace cannot write", title(postgres),
		fmt.Sprintf("%s beside %s alone; ratio %.2f", ms(median(beside)), ms(median(alone)), ratio), "ratio ≤ 1.5", ratio <= bar)
	return nil
}

// sampleCreates returns how long each of some creates takes, one after the other.
func sampleCreates(ctx context.Context, c *client, n int) ([]time.Duration, error) {
	var took []time.Duration
	for range n {
		began := time.Now()
		if err := c.create(ctx); err != nil {
			return nil, err
		}
		took = append(took, time.Since(began))
	}
	return took, nil
}
