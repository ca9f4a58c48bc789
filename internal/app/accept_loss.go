package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/user"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/config"
	"github.com/fermata-hq/fermata/internal/store"
)

// AcceptLoss shows which acknowledged events are missing from the database. With Yes, it records the loss in the
// database, so that the server starts again.
func AcceptLoss(ctx context.Context, o config.AcceptLoss, out io.Writer) error {
	storage := Storage{Storage: o.Storage}
	if err := requireDatabase(storage); err != nil {
		return err
	}
	opts, err := storeOptions(storage)
	if err != nil {
		return err
	}
	unlock, err := lockFile(opts)
	if err != nil {
		return err
	}
	defer unlock()
	if opts.Keys, err = storage.keys(ctx, opts); err != nil {
		return err
	}
	db, err := store.Open(ctx, opts)
	if err != nil {
		return err
	}
	return errors.Join(acceptLoss(ctx, o.Yes, db, out), db.Close())
}

func acceptLoss(ctx context.Context, isAccepted bool, db *store.DB, out io.Writer) error {
	checkErr := db.Check(ctx)
	if trouble, ok := errors.AsType[*store.Trouble](checkErr); ok {
		return trouble.Refusal()
	}
	losses, err := db.Losses(ctx)
	if err != nil || len(losses) == 0 {
		return errors.Join(checkErr, err, printLine(out, "the database has everything that was acknowledged: there is no loss to accept"))
	}
	for _, loss := range losses {
		if err := printLine(out, loss.String()); err != nil {
			return err
		}
	}
	if !isAccepted {
		return fermata.Errorf(fermata.CodeInvalidRequest, "nothing was changed").
			WithHint("look for a newer copy of the database first; run it again with --yes to go on without what is missing")
	}
	if err := db.Migrate(ctx); err != nil {
		return err
	}
	if err := db.AcceptLoss(ctx, losses, lossEvent); err != nil {
		return err
	}
	// The record cannot convince a witness: a person who can cut the database can write the record, too.
	return printLine(out, `accepted, and recorded as database.loss_accepted; start the server again
a witness of the audit (--audit-witness) that knows what is missing still refuses this database: keep it as evidence, and name a new file or repository`)
}

func printLine(out io.Writer, text string) error {
	_, err := fmt.Fprintln(out, text)
	return err
}

// lossEvent returns the event that records a loss, with the operator's name from the system.
func lossEvent(loss store.Loss) *fermata.Event {
	operator := "unknown"
	if u, err := user.Current(); err == nil {
		operator = u.Username
	}
	data, err := json.Marshal(struct {
		store.Loss
		Operator string `json:"operator"`
	}{loss, operator})
	if err != nil {
		panic(err) // plain fields
	}
	return &fermata.Event{Type: fermata.EventLossAccepted, Actor: fermata.SystemActor, Data: data}
}
