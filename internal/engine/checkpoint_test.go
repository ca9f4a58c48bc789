package engine_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/checkpoint"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/witness"
)

// withWitness runs an engine that signs the end of the chain at once, with a witness.
func (w *world) withWitness(path string) (*engine.Engine, *witness.File) {
	w.Helper()
	signer, err := checkpoint.NewSigner(w.Options.Keys.AuditSigner())
	w.OK(err)
	file, err := witness.NewFile(path)
	w.OK(err)
	w.isDeaf = true
	return engine.New(w.DB, engine.Options{Signer: signer, Witnesses: []engine.Witness{file}}), file
}

func TestTheEndOfTheChainIsSigned(t *testing.T) {
	each(t, func(w *world) {
		e, _ := w.withWitness(filepath.Join(w.TempDir(), "audit.witness"))
		_, q := w.createSuspended(format)
		w.OK(e.SignEnds(w.Context()))
		w.answer(q.ID, "toml")
		w.OK(e.SignEnds(w.Context()))
		report, err := e.VerifyAudit(w.Context(), w.alice)
		w.OK(err)
		if !report.OK || report.Checkpoints != 2 || report.Witnessed != 2 || report.SignedTo != w.events()-1 || report.PublicKey == "" {
			w.Fatalf("got %+v", report)
		}
		w.OK(e.CheckWitnesses(w.Context()))
		// There are no new events, so nothing more is signed.
		w.OK(e.SignEnds(w.Context()))
		w.Equal(report.Events, w.events())
	})
}

// A person who writes the database can compute every hash again, but cannot forge a signature.
func TestAChainThatWasWrittenAnewIsFoundOut(t *testing.T) {
	for name, rewrite := range map[string]func(w *world){
		"an event is another": func(w *world) {
			w.rewriteChain(func(e *fermata.Event) bool {
				if e.Type == fermata.EventTaskClaimed {
					e.Actor.Name = "mallory"
				}
				return true
			})
		},
		"the checkpoints are taken out": func(w *world) {
			w.rewriteChain(func(e *fermata.Event) bool {
				if e.Type == fermata.EventTaskClaimed {
					e.Actor.Name = "mallory"
				}
				return e.Type != fermata.EventAuditCheckpoint
			})
		},
		"the end is cut off": func(w *world) {
			seen := 0
			w.rewriteChain(func(*fermata.Event) bool { seen++; return seen <= 3 })
			w.forge("DELETE FROM questions")
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				e, _ := w.withWitness(filepath.Join(w.TempDir(), "audit.witness"))
				_, q := w.createSuspended(format)
				w.answer(q.ID, "toml")
				w.OK(e.SignEnds(w.Context()))
				rewrite(w)
				// The chain alone looks unchanged.
				plain, err := w.Engine.VerifyAudit(w.Context(), w.alice)
				w.OK(err)
				w.Equal(true, plain.OK)
				report, err := e.VerifyAudit(w.Context(), w.alice)
				w.OK(err)
				if report.OK || !strings.Contains(report.Problem, "witness") && !strings.Contains(report.Problem, "checkpoint") {
					w.Fatalf("got %+v", report)
				}
				w.CheckRefused(e.CheckWitnesses(w.Context()), fermata.CodeUnavailable)
			})
		})
	}
}

// rewriteChain rewrites the chain with the events for which edit returns true, with new numbers and matching hashes.
func (w *world) rewriteChain(edit func(*fermata.Event) bool) {
	w.Helper()
	all, err := w.DB.Reader(w.Context(), store.DefaultWorkspace).Events(store.EventFilter{Limit: 1000})
	w.OK(err)
	var chain fermata.Chain
	var statements strings.Builder
	for _, e := range all {
		was := e.Seq
		if !edit(e) {
			fmt.Fprintf(&statements, "DELETE FROM events WHERE seq = %d; ", was)
			continue
		}
		e.Link(chain.Seq+1, chain.Hash)
		w.OK(chain.VerifyNext(e))
		fmt.Fprintf(&statements, "UPDATE events SET seq = %d, prev_hash = %s, actor_name = '%s' WHERE seq = %d; ", e.Seq, w.bytesOf(e.PrevHash), e.Actor.Name, was)
	}
	fmt.Fprintf(&statements, "UPDATE workspaces SET event_seq = %d, event_hash = %s", chain.Seq, w.bytesOf(chain.Hash))
	w.forge(statements.String())
}

// bytesOf returns a hash as the database stores it.
func (w *world) bytesOf(hash string) string {
	w.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(hash)
	w.OK(err)
	if store.IsPostgres(w.Options.URL) {
		return fmt.Sprintf("'\\x%x'", raw)
	}
	return fmt.Sprintf("X'%x'", raw)
}

func TestTwoReplicasSignOneEndOnce(t *testing.T) {
	each(t, func(w *world) {
		folder := w.TempDir()
		first, one := w.withWitness(filepath.Join(folder, "one"))
		second, two := w.withWitness(filepath.Join(folder, "two"))
		w.createSuspended(format)
		end := w.events()
		var replicas sync.WaitGroup
		for _, e := range []*engine.Engine{first, second} {
			replicas.Go(func() {
				if err := e.SignEnds(w.Context()); err != nil {
					w.Error(err)
				}
			})
		}
		replicas.Wait()
		w.Equal(end+1, w.events())
		w.OK(first.SignEnds(w.Context()))
		w.OK(second.SignEnds(w.Context()))
		for _, file := range []*witness.File{one, two} {
			kept, err := file.Checkpoints(w.Context())
			w.OK(err)
			if len(kept) != 1 || kept[0].Seq != end {
				w.Errorf("%s keeps %+v", file.Name(), kept)
			}
		}
	})
}

func TestAWitnessThatFailsGetsTheCheckpointLater(t *testing.T) {
	each(t, func(w *world) {
		path := filepath.Join(w.TempDir(), "away", "audit.witness")
		e, file := w.withWitness(path)
		w.createSuspended(format)
		w.OK(e.SignEnds(w.Context()))
		n, since := e.FailingWitnesses()
		w.Equal(1, n)
		w.Equal(fermata.TruncateTime(w.Clock.Now()).UTC(), since.UTC())
		w.OK(os.Mkdir(filepath.Dir(path), 0o700))
		w.OK(e.SignEnds(w.Context()))
		n, _ = e.FailingWitnesses()
		w.Equal(0, n)
		kept, err := file.Checkpoints(w.Context())
		w.OK(err)
		w.Equal(1, len(kept))
	})
}
