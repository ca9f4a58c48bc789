package store_test

import (
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
)

// Questions of before the migration are in the lists of their risk.
func TestEarlierRisksAreFilledIn(t *testing.T) {
	t.Parallel()
	storetest.EachUnshared(t, func(t *testing.T, opts store.Options) {
		db := storetest.Open(t, opts)
		at := time.UnixMilli(1_800_000_000_000).UTC()
		must(t, db.Write(t.Context(), store.DefaultWorkspace, func(tx *store.Tx) error {
			for i := range 2200 {
				tx.InsertQuestion(&fermata.Question{
					ID: fermata.NewID(fermata.PrefixQuestion, at), TaskID: fermata.NewID(fermata.PrefixTask, at), Project: "default", Type: fermata.Blocking,
					Status: fermata.Pending, Title: "a?", CreatedAt: at,
					Asked: fermata.Asked{Risk: []fermata.Risk{fermata.RiskLow, fermata.RiskHigh}[i%2], Metadata: map[string]string{"risk": "critical"}},
				})
			}
			return nil
		}))
		must(t, store.MigrateDownTo(t.Context(), db, 46))
		must(t, db.Migrate(t.Context()))
		for risk, f := range map[fermata.Risk]store.QuestionFilter{fermata.RiskHigh: {GraveRisk: fermata.RiskHigh}, fermata.RiskLow: {NotGrave: true}} {
			f.Status, f.Limit = "pending", 5000
			found, err := db.Reader(t.Context(), store.DefaultWorkspace).Questions(f)
			must(t, err)
			if len(found) != 1100 || found[0].Risk != risk {
				t.Errorf("%d questions of %s risk, want 1100", len(found), risk)
			}
		}
	})
}
