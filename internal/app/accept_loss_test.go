package app

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/config"
	"github.com/fermata-hq/fermata/test/patience"
)

// A witness outlives an accepted loss. Otherwise a person who can cut the database could also accept the loss. So the
// command tells the operator to name a new witness.
func TestAnAcceptedLossTellsWhatToDoWithTheWitness(t *testing.T) {
	t.Parallel()
	folder, witness := t.TempDir(), filepath.Join(t.TempDir(), "audit.witness")
	o := ServeOptions{
		Server: config.Server{
			Listen: "127.0.0.1:0", Storage: config.Storage{Data: filepath.Join(folder, "data")}, SingleUser: true, CheckpointEvery: time.Second,
		},
		Log: slog.New(slog.DiscardHandler), Out: io.Discard,
	}
	nothing := func(context.Context, RunningServer) error { return nil }
	if err := withServer(t.Context(), o, nothing); err != nil {
		t.Fatal(err)
	}
	database := filepath.Join(o.Data, databaseFile)
	backup, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	o.AuditWitnesses = []string{witness}
	err = withServer(t.Context(), o, func(ctx context.Context, s RunningServer) error {
		_, err := s.Engine.CreateToken(ctx, systemCaller, fermata.NewToken{Name: "later", Kind: fermata.ActorAgent, Scopes: []fermata.Scope{fermata.ScopeAsk}})
		patience.Await(t, "the witness keeps a checkpoint", func() bool {
			info, err := os.Stat(witness)
			return err == nil && info.Size() > 0
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		_ = os.Remove(database + suffix)
	}
	if err := os.WriteFile(database, backup, 0o600); err != nil {
		t.Fatal(err)
	}
	var e *fermata.Error
	if err := withServer(t.Context(), o, nothing); !errors.As(err, &e) || !strings.Contains(e.Hint, "fermata accept-loss") {
		t.Fatalf("the restored database: %v", err)
	}
	var out strings.Builder
	if err := AcceptLoss(t.Context(), config.AcceptLoss{Storage: o.Storage, Yes: true}, &out); err != nil {
		t.Fatal(err)
	}
	const advice = "a witness of the audit (--audit-witness) that knows what is missing still refuses this database: keep it as evidence, and name a new file or repository\n"
	if !strings.HasSuffix(out.String(), advice) {
		t.Errorf("it says %q", out.String())
	}
	if err := withServer(t.Context(), o, nothing); !errors.As(err, &e) || e.Code != fermata.CodeUnavailable || !strings.Contains(e.Hint, "keep the witness as evidence and name a new one") {
		t.Errorf("the old witness: %v", err)
	}
	o.AuditWitnesses = []string{witness + ".new"}
	if err := withServer(t.Context(), o, nothing); err != nil {
		t.Errorf("a new witness: %v", err)
	}
}
