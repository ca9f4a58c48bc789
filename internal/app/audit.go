package app

import (
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/checkpoint"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/witness"
)

// newAudit returns what signs the ends of the audit chains, and the witnesses that keep them.
func newAudit(o ServeOptions, db *store.DB) (engine.Signer, []engine.Witness, error) {
	if o.CheckpointEvery < time.Second {
		return nil, nil, fermata.Errorf(fermata.CodeInvalidRequest, "--checkpoint-every must be at least 1s, and not %s", o.CheckpointEvery)
	}
	signer, err := checkpoint.NewSigner(db.Keys().AuditSigner())
	if err != nil {
		return nil, nil, err
	}
	var witnesses []engine.Witness
	for _, path := range o.AuditWitnesses {
		if path == "" {
			return nil, nil, fermata.Errorf(fermata.CodeInvalidRequest, "--audit-witness names no file")
		}
		w, err := witness.NewFile(path)
		if err != nil {
			return nil, nil, err
		}
		witnesses = append(witnesses, w)
	}
	return signer, witnesses, nil
}
