package api_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/internal/testkit"
)

// A failover of PostgreSQL may lose an event that a stream has already sent. Before the stream sends the events that follow,
// it sends a reset, so that its client drops what it built from the lost event.
func TestStreamResetsAfterALostEvent(t *testing.T) {
	t.Parallel()
	opts := storetest.Postgres(t)
	w := newWorldOn(t, opts)
	testkit.Run(w, w.Engine.RunTail)
	f := w.follow("")
	start := w.Head()
	w.ask(say)
	head := w.Head()
	f.take(int(head - start))
	storetest.Exec(t, opts, `WITH last AS (DELETE FROM events e USING workspaces w
		WHERE w.id = e.workspace_id AND e.seq = w.event_seq RETURNING e.workspace_id, e.seq, e.prev_hash)
		UPDATE workspaces SET event_seq = last.seq - 1, event_hash = last.prev_hash FROM last WHERE id = last.workspace_id`)

	// A process that did not see the lost event writes others.
	other := storetest.Open(t, opts)
	for range 2 {
		w.OK(other.Write(t.Context(), store.DefaultWorkspace, func(tx *store.Tx) error {
			tx.Append(&fermata.Event{Type: fermata.EventPolicyChanged, Actor: fermata.SystemActor})
			return nil
		}))
	}
	fr, ok := f.next()
	if want := `{"seq":` + strconv.FormatInt(head, 10) + `}`; !ok || fr.event != "reset" || fr.data != want {
		t.Fatalf("got %+v, want reset with %s", fr, want)
	}
	if got := seqs(f.take(1)); !slices.Equal(got, []int64{head + 1}) {
		t.Errorf("went on at %v, want %d", got, head+1)
	}
}
