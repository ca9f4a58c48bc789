package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/keys"
	"github.com/fermata-hq/fermata/internal/store"
)

// keys returns the master keys of the database. If the database has none yet, it creates the key file.
func (d Storage) keys(ctx context.Context, opts store.Options) (*keys.Ring, error) {
	folder, err := DataFolder(d.Data)
	if err != nil {
		return nil, err
	}
	location, err := keys.Locate(d.MasterKeyFile, folder)
	if err != nil {
		return nil, err
	}
	log := cmp.Or(d.Log, slog.New(slog.DiscardHandler))
	ring, err := location.Load(log)
	if !errors.Is(err, fs.ErrNotExist) {
		return ring, err
	}
	if err := refuseLostKey(ctx, opts, location.Path); err != nil {
		return nil, err
	}
	ring, made, err := location.LoadOrCreate(log)
	if made {
		log.Info("made a master key, which seals the secrets in the database; back it up apart from the database", "file", location.Path)
	}
	return ring, err
}

// refuseLostKey returns an error if the database is sealed and its key file is missing: a new key could not open the
// secrets.
func refuseLostKey(ctx context.Context, opts store.Options, file string) error {
	if !hasDatabase(opts) {
		return nil
	}
	db, err := store.Open(ctx, opts)
	if err != nil {
		return err
	}
	id := db.SealedWith(ctx)
	if err := db.Close(); err != nil || id == "" {
		return err
	}
	return fermata.Errorf(fermata.CodeUnavailable, "the database is sealed with the master key %s, and there is no file %s", id, file).
		WithHint("restore the key file from its own backup, or name it with --master-key-file or FERMATA_MASTER_KEY_FILE; all replicas need the same file")
}

// RotateKeys adds a new master key, makes it the current one, and seals every secret with it. The old keys stay in
// the file, because they open earlier backups.
func RotateKeys(ctx context.Context, d Storage, out io.Writer) error {
	if err := requireDatabase(d); err != nil {
		return err
	}
	return withDatabase(ctx, d, func(db *store.DB) error {
		id, err := db.Keys().Add()
		if err == nil {
			err = db.Keys().Promote(id)
		}
		if err != nil {
			return err
		}
		n, err := db.Reseal(ctx)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "%s seals the secrets of the database now, %d of them; the keys are in %s\n", id, n, db.Keys().Path())
		return err
	})
}
