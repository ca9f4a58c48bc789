package app

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/config"
	"github.com/fermata-hq/fermata/internal/store"
)

// headFile is the name of the file in the data folder that stores which events PostgreSQL acknowledged.
const headFile = "postgres.head"

// databaseFile is the name of the SQLite file in the data folder.
const databaseFile = "fermata.db"

// DataFolder returns the absolute path of the requested folder. If none is requested, it returns the user's data
// folder (XDG Base Directory Specification).
func DataFolder(requestedPath string) (string, error) {
	if requestedPath != "" {
		return filepath.Abs(requestedPath)
	}
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "fermata"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the user's data folder (name one with --data): %w", err)
	}
	return filepath.Join(home, ".local", "share", "fermata"), nil
}

// Storage names the database to use, and the log for what happens to it.
type Storage struct {
	config.Storage
	// DatabaseRead is the address of a standby that serves long reads, or empty.
	DatabaseRead string
	Log          *slog.Logger
}

// storeOptions returns the options for the store. If a data folder is named for PostgreSQL, this folder holds the
// file with the acknowledged events.
func storeOptions(d Storage) (store.Options, error) {
	if err := checkAddresses(d); err != nil {
		return store.Options{}, err
	}
	if d.Database != "" {
		opts := store.Options{URL: d.Database, DirectURL: d.DatabaseDirect, ReadURL: d.DatabaseRead}
		if d.Data == "" {
			return opts, nil
		}
		folder, err := DataFolder(d.Data)
		opts.HeadFile = filepath.Join(folder, headFile)
		return opts, err
	}
	folder, err := DataFolder(d.Data)
	if err != nil {
		return store.Options{}, err
	}
	return store.Options{URL: filepath.Join(folder, databaseFile)}, nil
}

// checkAddresses refuses addresses that do not name PostgreSQL, and further addresses of PostgreSQL for SQLite.
func checkAddresses(d Storage) error {
	if d.Database != "" && !store.IsPostgres(d.Database) {
		return fermata.Errorf(fermata.CodeInvalidRequest, "--database must begin with postgres://").WithHint("name a SQLite database by its folder, with --data")
	}
	for _, further := range []struct{ flag, address string }{{"--database-direct", d.DatabaseDirect}, {"--database-read", d.DatabaseRead}} {
		switch {
		case further.address == "":
		case d.Database == "":
			return fermata.Errorf(fermata.CodeInvalidRequest, "%s is for PostgreSQL, and this server uses SQLite", further.flag).
				WithHint("name the PostgreSQL with --database, or leave %s out", further.flag)
		case !store.IsPostgres(further.address):
			return fermata.Errorf(fermata.CodeInvalidRequest, "%s must begin with postgres://", further.flag).
				WithHint("write it like postgres://fermata@db/fermata")
		}
	}
	return nil
}

// checkFolder refuses a path that exists and is not a folder. The folder need not exist yet.
func checkFolder(flag, path string) error {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return fermata.Errorf(fermata.CodeInvalidRequest, "%s: %s is no folder", flag, path).WithHint("name a folder; it is made where there is none")
	}
	return nil
}

// hasDatabase reports whether a SQLite file is there. A PostgreSQL database is taken to be there.
func hasDatabase(opts store.Options) bool {
	if store.IsPostgres(opts.URL) {
		return true
	}
	_, err := os.Stat(opts.URL)
	return !errors.Is(err, fs.ErrNotExist)
}

// requireDatabase refuses a folder without a database. A command that works on a database must not make a new one, and
// say of it that all is well.
func requireDatabase(d Storage) error {
	opts, err := storeOptions(d)
	if err != nil || hasDatabase(opts) {
		return err
	}
	return fermata.Errorf(fermata.CodeNotFound, "there is no database in %s", filepath.Dir(opts.URL)).
		WithHint("name the data folder of the server with --data")
}

// lockFile makes sure that only one process uses a SQLite file, because a second one would not notice the first one's
// commits. It returns the function that unlocks the file. PostgreSQL needs no lock.
func lockFile(opts store.Options) (func(), error) {
	if store.IsPostgres(opts.URL) {
		return func() {}, nil
	}
	folder := filepath.Dir(opts.URL)
	if err := checkFolder("--data", folder); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	lock := flock.New(filepath.Join(folder, "fermata.lock"))
	locked, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock the data folder %s: %w", folder, err)
	}
	if !locked {
		return nil, fmt.Errorf("another fermata uses the data folder %s: stop it, name another folder with --data, or use PostgreSQL for several", folder)
	}
	return func() { _ = lock.Unlock() }, nil
}
