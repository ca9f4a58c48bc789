package app

import (
	"context"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/checkpoint"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/witness"
)

// newAudit returns the signer of the audit checkpoints, and the witnesses that store them.
func newAudit(ctx context.Context, o ServeOptions, db *store.DB) (engine.Signer, []engine.Witness, error) {
	if o.CheckpointEvery < time.Second {
		return nil, nil, fermata.Errorf(fermata.CodeInvalidRequest, "--checkpoint-every must be at least 1s, and not %s", o.CheckpointEvery)
	}
	signer, err := checkpoint.NewSigner(db.Keys().AuditSigner())
	if err != nil {
		return nil, nil, err
	}
	var witnesses []engine.Witness
	for _, address := range o.AuditWitnesses {
		w, err := witness.Open(ctx, address, o.Log)
		if err != nil {
			return nil, nil, err
		}
		witnesses = append(witnesses, w)
	}
	return signer, witnesses, nil
}
