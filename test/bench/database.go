package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"

	"github.com/jackc/pgx/v5"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/keys"
	"github.com/fermata-hq/fermata/internal/store"
)

// Kinds of databases.
const (
	sqlite   = "sqlite"
	postgres = "postgres"
)

// title returns the name of a kind for people.
func title(kind string) string {
	if kind == sqlite {
		return "SQLite"
	}
	return "PostgreSQL"
}

// database is the database of one measurement.
type database struct {
	kind string
	// folder holds the SQLite file.
	folder string
	// url, name and admin are for PostgreSQL. admin is the connection that creates and drops databases.
	url, name, admin string
	tokens           tokens
}

// tokens are the tokens of a database. There are many, so that no limit of a single token affects the measurement.
type tokens struct {
	agents, people []string
}

const tokensOfAKind = 16

// agent returns one of the agents' tokens.
func (k tokens) agent(i int) string { return k.agents[i%len(k.agents)] }

// person returns one of the people's tokens.
func (k tokens) person(i int) string { return k.people[i%len(k.people)] }

// newDatabase creates a migrated database with tokens.
func (b *bench) newDatabase(ctx context.Context, kind, name string) (*database, error) {
	d := &database{kind: kind, folder: filepath.Join(b.folder, name)}
	if kind == postgres {
		d.name, d.admin = "fermata_bench_"+name, b.postgres
		if err := d.runStatement(ctx, "DROP DATABASE IF EXISTS "+d.name+" WITH (FORCE)"); err != nil {
			return nil, err
		}
		if err := d.runStatement(ctx, "CREATE DATABASE "+d.name); err != nil {
			return nil, err
		}
		config, err := pgx.ParseConfig(b.postgres)
		if err != nil {
			return nil, err
		}
		d.url = fmt.Sprintf("postgres://%s:%s@%s:%d/%s?sslmode=disable", config.User, config.Password, config.Host, config.Port, d.name)
	}
	return d, d.withEngine(ctx, func(e *engine.Engine) (err error) {
		d.tokens, err = makeTokens(ctx, e, operator)
		return err
	})
}

// runStatement runs a statement on the connection that creates and drops databases.
func (d *database) runStatement(ctx context.Context, statement string) error {
	return onPostgres(ctx, d.admin, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, statement)
		return err
	})
}

func onPostgres(ctx context.Context, url string, fn func(*pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	err = fn(conn)
	return errors.Join(err, conn.Close(ctx))
}

// withEngine opens the database in this process, for work that needs no server.
func (d *database) withEngine(ctx context.Context, fn func(*engine.Engine) error) error {
	return d.withDB(ctx, func(db *store.DB) error { return fn(engine.New(db, engine.Options{})) })
}

// withDB opens the database in this process.
func (d *database) withDB(ctx context.Context, fn func(*store.DB) error) error {
	return d.withOptions(ctx, store.Options{}, func(db *store.DB, _ *keys.Ring) error { return fn(db) })
}

// withOptions opens the database in this process with further options.
func (d *database) withOptions(ctx context.Context, opts store.Options, fn func(*store.DB, *keys.Ring) error) error {
	ring, _, err := keys.Location{Path: d.keyFile()}.LoadOrCreate(slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	opts.URL, opts.Keys = d.url, ring
	if d.kind == sqlite {
		opts.URL = d.file()
	}
	db, err := store.Open(ctx, opts)
	if err != nil {
		return err
	}
	err = db.Migrate(ctx)
	if err == nil {
		err = fn(db, ring)
	}
	return errors.Join(err, db.Close())
}

// keyFile returns the key file of the servers of this database, and of this process.
func (d *database) keyFile() string { return d.folder + ".key" }

func (d *database) file() string { return filepath.Join(d.folder, "fermata.db") }

// operator is the caller that sets a measurement up.
var operator = fermata.Caller{
	WorkspaceID: store.DefaultWorkspace, Kind: fermata.ActorSystem, Scopes: []fermata.Scope{fermata.ScopeAdmin},
}

// makeTokens makes tokens in the workspace of the caller.
func makeTokens(ctx context.Context, e *engine.Engine, by fermata.Caller) (k tokens, err error) {
	for i := range tokensOfAKind {
		agent, err := e.CreateToken(ctx, by, fermata.NewToken{
			Name: fmt.Sprintf("agent-%d", i), Kind: fermata.ActorAgent, Scopes: []fermata.Scope{fermata.ScopeAsk, fermata.ScopeWork},
		})
		if err != nil {
			return k, err
		}
		name := fmt.Sprintf("person-%d", i)
		person, err := e.CreateToken(ctx, by, fermata.NewToken{
			Name: name, Kind: fermata.ActorHuman, Member: name, Role: fermata.RoleAdmin, Scopes: []fermata.Scope{fermata.ScopeAdmin},
		})
		if err != nil {
			return k, err
		}
		k.agents, k.people = append(k.agents, agent.Secret), append(k.people, person.Secret)
	}
	return k, nil
}

// flags returns the server's flags for the database.
func (d *database) flags() []string {
	flags := []string{"--master-key-file", d.keyFile()}
	if d.kind == sqlite {
		return append(flags, "--data", d.folder)
	}
	return append(flags, "--database", d.url)
}

// size returns the disk space of the database in bytes. No server may be running: only then is everything in SQLite's
// one file.
func (d *database) size(ctx context.Context) (int64, error) {
	if d.kind == sqlite {
		var total int64
		err := filepath.WalkDir(d.folder, func(_ string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			info, err := entry.Info()
			if err == nil {
				total += info.Size()
			}
			return err
		})
		return total, err
	}
	var size int64
	err := onPostgres(ctx, d.url, func(conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, "CHECKPOINT"); err != nil {
			return err
		}
		return conn.QueryRow(ctx, "SELECT pg_database_size(current_database())").Scan(&size)
	})
	return size, err
}

// sizeWithoutDeadRows returns the size after the vacuums that PostgreSQL does by itself in the background. The second one
// lets indexes use the pages again that the first one emptied.
func (d *database) sizeWithoutDeadRows(ctx context.Context) (int64, error) {
	if d.kind == postgres {
		if err := d.runAll(ctx, "VACUUM", "VACUUM"); err != nil {
			return 0, err
		}
	}
	return d.size(ctx)
}

// drop frees the disk space before the next measurement. The rest is removed with the folder and the cluster.
func (d *database) drop(ctx context.Context) error {
	if d.kind == sqlite {
		return nil
	}
	return d.runStatement(ctx, "DROP DATABASE IF EXISTS "+d.name+" WITH (FORCE)")
}

// forgetEvents deletes all events, so that the raw limit can number its own events from 1.
func (d *database) forgetEvents(ctx context.Context) error {
	return d.runAll(ctx, "DELETE FROM events", "UPDATE workspaces SET event_seq = 0, event_hash = ''")
}

// runAll runs statements on the database, without a server beside it.
func (d *database) runAll(ctx context.Context, statements ...string) error {
	if d.kind == postgres {
		return onPostgres(ctx, d.url, func(conn *pgx.Conn) error {
			for _, s := range statements {
				if _, err := conn.Exec(ctx, s); err != nil {
					return fmt.Errorf("%.60s: %w", s, err)
				}
			}
			return nil
		})
	}
	db, err := sql.Open("sqlite", d.file()+"?_pragma=synchronous(0)&_pragma=cache_size(-400000)")
	if err != nil {
		return err
	}
	for _, s := range statements {
		if _, err := db.ExecContext(ctx, s); err != nil {
			return errors.Join(fmt.Errorf("%.60s: %w", s, err), db.Close())
		}
	}
	return db.Close()
}
